//! The node that a device is attached to.
//!
//! Sources: Documentation/ABI/testing/sysfs-bus-pci (numa_node, Linux 2.6.33; -1 where firmware tells none),
//! proc_net(5) (route), Documentation/networking/ipv6.rst. A class device is a link to where it hangs; the node stands
//! at the nearest parent that tells one. A device made of several (an LVM volume, a RAID, a bond) has the nodes of its
//! parts.

use crate::root::{HostError, SmallFiles};
use olifant_machine::{NodeId, NodeSet};
use olifant_placement::DeviceKind;
use olifant_sys::Root;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why a device has no node.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// There is no such device.
    #[error("there is no {what} {name:?}{}", there_are(.known))]
    Absent {
        /// What kind of device.
        what: &'static str,
        /// The name given.
        name: String,
        /// Those that there are, where that helps.
        known: Vec<String>,
    },
    /// The device is there, and the system does not say where.
    #[error("{what} {name:?} is at no node that the system tells")]
    NoNode {
        /// What kind of device.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Something else cannot be read.
    #[error(transparent)]
    Host(#[from] HostError),
}

fn there_are(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; there are: {}", names.join(", ")) }
}

/// The nodes that a device is attached to.
/// # Errors  [`DeviceError`]
pub fn device_nodes(root: &Root, kind: DeviceKind, name: &str) -> Result<NodeSet, DeviceError> {
    match kind {
        DeviceKind::Network => of_class(root, "network interface", "sys/class/net", name),
        DeviceKind::Block => of_class(root, "disk", "sys/class/block", name),
        DeviceKind::Pci => {
            // The domain is mostly 0000 and mostly left out.
            let long = if name.matches(':').count() == 1 { format!("0000:{name}") } else { name.to_owned() };
            of_class(root, "PCI device", "sys/bus/pci/devices", &long)
        }
        DeviceKind::File => of_file(root, name),
        DeviceKind::Address => {
            let interface = interface_to(root, name)?;
            of_class(root, "network interface", "sys/class/net", &interface)
        }
    }
}

fn of_class(root: &Root, what: &'static str, class: &str, name: &str) -> Result<NodeSet, DeviceError> {
    let folder = root.path(class);
    let device = folder.join(name);
    // A name with a slash would leave the class.
    if name.is_empty() || name.contains('/') || !device.exists() {
        let names = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        let mut known: Vec<String> =
            names.filter_map(|entry| entry.file_name().into_string().ok()).take(20).collect();
        known.sort();
        return Err(DeviceError::Absent { what, name: name.to_owned(), known });
    }
    let nodes = of_device(root, &device);
    if nodes.is_empty() { Err(DeviceError::NoNode { what, name: name.to_owned() }) } else { Ok(nodes) }
}

/// The node of a device or of its nearest parent that has one; else the nodes of its parts.
fn of_device(root: &Root, device: &Path) -> NodeSet {
    let Ok(place) = device.canonicalize() else { return NodeSet::new() };
    let top = root.path("sys").canonicalize().unwrap_or_else(|_| PathBuf::from("/sys"));
    for folder in place.ancestors().take_while(|folder| folder.starts_with(&top)) {
        for file in [folder.join("numa_node"), folder.join("device/numa_node")] {
            let number = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse::<i32>().ok());
            if let Some(node) = number.and_then(|number| u16::try_from(number).ok()) {
                return [NodeId(node)].into_iter().collect();
            }
        }
    }
    let parts = std::fs::read_dir(place.join("slaves")).into_iter().flatten().filter_map(Result::ok);
    parts.fold(NodeSet::new(), |nodes, part| nodes.union(&of_device(root, &part.path())))
}

/// The nodes of the disk that holds a file.
fn of_file(root: &Root, name: &str) -> Result<NodeSet, DeviceError> {
    let path = Path::new(name);
    let unreadable = |source| HostError::Unreadable { path: path.to_owned(), source };
    let device = std::fs::metadata(path).map_err(unreadable)?.dev();
    // The numbering of makedev(3).
    let major = device >> 8 & 0xfff | device >> 32 & 0xffff_f000;
    let minor = device & 0xff | device >> 12 & 0xffff_ff00;
    let nodes = of_device(root, &root.path(format!("sys/dev/block/{major}:{minor}")));
    if nodes.is_empty() {
        Err(DeviceError::NoNode { what: "the disk of", name: name.to_owned() })
    } else {
        Ok(nodes)
    }
}

/// The interface through which packets to an address leave, by the longest matching route.
fn interface_to(root: &Root, name: &str) -> Result<String, DeviceError> {
    let absent =
        || DeviceError::Absent { what: "route to address", name: name.to_owned(), known: Vec::new() };
    let address: IpAddr = name.parse().map_err(|_| absent())?;
    let routes: Vec<(u32, String)> = match address {
        IpAddr::V4(address) => {
            // Columns: interface, destination, gateway, flags, ..., mask; numbers in memory order.
            let text = root.trimmed("proc/net/route")?;
            let number = u32::from_ne_bytes(address.octets());
            let route = |line: &str| {
                let columns: Vec<&str> = line.split_whitespace().collect();
                let destination = u32::from_str_radix(columns.get(1)?, 16).ok()?;
                let mask = u32::from_str_radix(columns.get(7)?, 16).ok()?;
                (number & mask == destination).then(|| (mask.count_ones(), columns[0].to_owned()))
            };
            text.lines().skip(1).filter_map(route).collect()
        }
        IpAddr::V6(address) => {
            // Columns: destination, its prefix length, ..., interface.
            let text = root.trimmed("proc/net/ipv6_route")?;
            let number = u128::from(address);
            let route = |line: &str| {
                let columns: Vec<&str> = line.split_whitespace().collect();
                let destination = u128::from_str_radix(columns.first()?, 16).ok()?;
                let length = u32::from_str_radix(columns.get(1)?, 16).ok()?;
                let differing = (number ^ destination).leading_zeros();
                (differing >= length)
                    .then(|| (length, columns.last().copied().unwrap_or_default().to_owned()))
            };
            text.lines().filter_map(route).collect()
        }
    };
    routes.into_iter().max_by_key(|(length, _)| *length).map(|(_, interface)| interface).ok_or_else(absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with a network card and a disk on node 1 and a disk without a node.
    fn tree() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        make("sys/devices/pci0000:00/0000:00:05.0/numa_node", "1\n");
        make("sys/devices/pci0000:00/0000:00:05.0/net/eth0/mtu", "1500\n");
        make("sys/devices/pci0000:00/0000:00:06.0/numa_node", "-1\n");
        make("sys/devices/pci0000:00/0000:00:06.0/virtio/block/vda/size", "1\n");
        make("sys/devices/virtual/block/dm-0/slaves/nothing", "");
        make(
            "proc/net/route",
            "Iface Destination Gateway Flags RefCnt Use Metric Mask\n\
             lo 00000000 0 1 0 0 0 00000000 0 0 0\neth0 0000000A 0 1 0 0 0 0000FFFF 0 0 0\n",
        );
        let link = |name: &str, to: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(folder.path().join(to), path).unwrap();
        };
        link("sys/class/net/eth0", "sys/devices/pci0000:00/0000:00:05.0/net/eth0");
        link("sys/bus/pci/devices/0000:00:05.0", "sys/devices/pci0000:00/0000:00:05.0");
        link("sys/class/block/vda", "sys/devices/pci0000:00/0000:00:06.0/virtio/block/vda");
        link("sys/class/block/dm-0", "sys/devices/virtual/block/dm-0");
        link("sys/devices/virtual/block/dm-0/slaves/card", "sys/devices/pci0000:00/0000:00:05.0");
        let root = Root::new(folder.path());
        (folder, root)
    }

    #[test]
    fn a_device_has_the_node_of_its_nearest_parent_that_tells_one() {
        let (_folder, root) = tree();
        let one: NodeSet = [NodeId(1)].into_iter().collect();
        for (kind, name) in [
            (DeviceKind::Network, "eth0"),
            (DeviceKind::Pci, "0000:00:05.0"),
            (DeviceKind::Pci, "00:05.0"),
            (DeviceKind::Block, "dm-0"),
        ] {
            assert_eq!(device_nodes(&root, kind, name).unwrap(), one, "{name}");
        }
        #[cfg(target_endian = "little")]
        assert_eq!(device_nodes(&root, DeviceKind::Address, "10.0.9.9").unwrap(), one);
    }

    #[test]
    fn a_device_without_a_node_and_an_absent_one_are_told_apart() {
        let (_folder, root) = tree();
        let error = device_nodes(&root, DeviceKind::Block, "vda").unwrap_err();
        assert_eq!(error.to_string(), "disk \"vda\" is at no node that the system tells");
        let error = device_nodes(&root, DeviceKind::Block, "vdb").unwrap_err();
        assert_eq!(error.to_string(), "there is no disk \"vdb\"; there are: dm-0, vda");
        assert!(device_nodes(&root, DeviceKind::Network, "../../etc").is_err());
    }
}
