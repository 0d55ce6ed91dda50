//! The laws that a profile keeps, checked before it is written and after it is read, so that who holds a `Profile`
//! may follow its indices without fear. What the laws leave free: thread, node and cpu numbers are labels, and a
//! counter may name a thread that the list of threads doesn't (one that was being made when the run was cut short).

use olifant_opium::profile::Profile;

/// Names the first law that `profile` breaks, and where.
pub(crate) fn check(profile: &Profile) -> Result<(), String> {
    ascending("cpus", profile.cpus.iter().map(|cpu| cpu.cpu))?;
    ascending("nodes", profile.nodes.iter().map(|node| node.node))?;
    ascending("granules", profile.granules.iter().map(|granule| (granule.area, granule.index)))?;
    for (id, area) in profile.areas.iter().enumerate() {
        if let Some(site) = area.site {
            refers(|| format!("area {id}"), "site", site, profile.sites.len())?;
        }
    }
    for granule in &profile.granules {
        refers(|| format!("granule {}", granule.index), "area", granule.area, profile.areas.len())?;
        if !granule.by.is_sorted_by(|a, b| (a.thread, a.node) < (b.thread, b.node)) {
            let what = format!("accessors of granule {} of area {}", granule.index, granule.area);
            return Err(format!("{what} are not in ascending order"));
        }
    }
    for (rank, line) in profile.contested.iter().enumerate() {
        refers(|| format!("contested line {rank}"), "area", line.area, profile.areas.len())?;
        ascending(&format!("accessors of contested line {rank}"), line.by.iter().map(|by| by.thread))?;
    }
    Ok(())
}

/// The keys of a list are strictly ascending.
fn ascending<Key: PartialOrd>(list: &str, keys: impl Iterator<Item = Key>) -> Result<(), String> {
    if keys.is_sorted_by(|a, b| a < b) { Ok(()) } else { Err(format!("{list} are not in ascending order")) }
}

/// An index points into its list. The holder's name is made only when it doesn't: there are a million granules.
fn refers(from: impl Fn() -> String, to: &str, index: u32, count: usize) -> Result<(), String> {
    if (index as usize) < count {
        Ok(())
    } else {
        Err(format!("{} refers to {to} {index}, but there are {count}", from()))
    }
}
