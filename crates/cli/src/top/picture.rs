//! A process as lines of text: a head, its nodes, its threads, its areas; cut to the terminal's size.

use super::Seen;
use olifant_exec::Snapshot;
use olifant_opium::profile::Profile;
use std::collections::BTreeMap;

/// Rows of threads and of areas where there is room for all; a terminal has less.
const MOST_ROWS: usize = 24;

/// The picture for a width and a height.
pub fn lines(snapshot: &Snapshot, seen: &Seen, width: usize, height: usize) -> Vec<String> {
    let profile = match seen {
        Seen::Profile(profile) => Some(profile.as_ref()),
        _ => None,
    };
    let nodes = nodes(snapshot, profile);
    // Head, two titles, three blank lines, and the end; threads and areas share the rest.
    let room = height.saturating_sub(nodes.len() + 7) / 2;
    let rows = room.clamp(1, MOST_ROWS);
    let mut lines = vec![head(snapshot, profile), String::new()];
    lines.extend(nodes);
    lines.push(String::new());
    lines.extend(threads(snapshot, rows));
    lines.push(String::new());
    lines.extend(areas(seen, rows));
    lines.truncate(height);
    lines.iter().map(|line| line.chars().take(width).collect()).collect()
}

fn head(snapshot: &Snapshot, profile: Option<&Profile>) -> String {
    let samples = profile.map_or_else(String::new, |profile| {
        let totals = &profile.totals;
        format!("; {} sampled accesses in {:.0} s", totals.reads + totals.writes, totals.seconds)
    });
    format!(
        " {} ({}): {} threads{samples}; q quits",
        printable(&snapshot.name),
        snapshot.process,
        snapshot.threads.len()
    )
}

fn nodes(snapshot: &Snapshot, profile: Option<&Profile>) -> Vec<String> {
    let mut lines = vec![format!(
        " {:>4} {:>8} {:>12} {:>10} {:>10}",
        "node", "threads", "memory MiB", "accesses", "remote"
    )];
    let bytes = snapshot.bytes();
    let mut threads: BTreeMap<u16, usize> = BTreeMap::new();
    for node in snapshot.threads.iter().filter_map(|thread| thread.node) {
        *threads.entry(node.0).or_default() += 1;
    }
    let mut all: Vec<u16> = bytes.keys().map(|node| node.0).chain(threads.keys().copied()).collect();
    all.extend(profile.iter().flat_map(|profile| profile.nodes.iter().map(|node| node.node)));
    all.sort_unstable();
    all.dedup();
    for node in all {
        let here = bytes.iter().find(|(id, _)| id.0 == node).map_or(0, |(_, bytes)| *bytes);
        let sampled = profile.and_then(|profile| profile.nodes.iter().find(|of| of.node == node));
        let [accesses, remote] = match sampled {
            Some(node) => [node.transactions.to_string(), share(node.remote_transactions, node.transactions)],
            None => ["-".to_owned(), "-".to_owned()],
        };
        lines.push(format!(
            " {node:>4} {:>8} {:>12.1} {accesses:>10} {remote:>10}",
            threads.get(&node).copied().unwrap_or(0),
            here as f64 / f64::from(1 << 20),
        ));
    }
    lines
}

fn threads(snapshot: &Snapshot, rows: usize) -> Vec<String> {
    let mut lines = vec![format!(
        " {:>8} {:<16} {:<5} {:>4} {:>4} {:<12}",
        "thread", "name", "state", "cpu", "node", "may run on"
    )];
    // Running ones first: those are what one looks for.
    let mut order: Vec<_> = snapshot.threads.iter().collect();
    order.sort_by_key(|thread| thread.state != 'R');
    for thread in order.iter().take(rows) {
        let node = thread.node.map_or_else(|| "-".to_owned(), |node| node.to_string());
        lines.push(format!(
            " {:>8} {:<16} {:<5} {:>4} {node:>4} {:<12}",
            thread.thread,
            printable(&thread.name),
            thread.state,
            thread.cpu.0,
            thread.allowed.to_string()
        ));
    }
    if order.len() > rows {
        lines.push(format!(" and {} more threads", order.len() - rows));
    }
    lines
}

fn areas(seen: &Seen, rows: usize) -> Vec<String> {
    let profile = match seen {
        Seen::Profile(profile) => profile,
        Seen::Nothing => return vec![" no samples yet".to_owned()],
        Seen::Unasked => return Vec::new(),
        Seen::Refused(reason) => return vec![format!(" no samples: {reason}")],
    };
    let mut by_area: BTreeMap<u32, Area> = BTreeMap::new();
    for granule in &profile.granules {
        let area = by_area.entry(granule.area).or_default();
        area.pages += 1;
        for by in &granule.by {
            let accesses = by.reads + by.writes;
            area.accesses += accesses;
            area.writes += by.writes;
            if by.node != granule.home {
                area.remote += accesses;
            }
            *area.threads.entry(by.thread).or_default() += accesses;
        }
    }
    let all: u64 = by_area.values().map(|area| area.accesses).sum();
    let mut order: Vec<_> = by_area.iter().collect();
    order.sort_by_key(|(id, area)| (std::cmp::Reverse(area.accesses), **id));
    let mut lines = vec![format!(
        " {:>8} {:>16} {:>7} {:>7} {:>7} {:<14} {}",
        "accesses", "95 % interval", "writes", "remote", "pages", "by thread", "area"
    )];
    for (id, area) in order.iter().take(rows) {
        let (low, high) = olifant_opium::share_interval(area.accesses, all);
        let name = profile.areas.get(**id as usize).map_or("", |area| area.name.as_str());
        lines.push(format!(
            " {:>8} {:>16} {:>7} {:>7} {:>7} {:<14} {}",
            area.accesses,
            format!("{:.1} to {:.1} %", 100.0 * low, 100.0 * high),
            share(area.writes, area.accesses),
            share(area.remote, area.accesses),
            area.pages,
            area.busiest(),
            printable(name),
        ));
    }
    if order.len() > rows {
        lines.push(format!(" and {} more areas", order.len() - rows));
    }
    lines
}

/// What was sampled of an area.
#[derive(Default)]
struct Area {
    accesses: u64,
    writes: u64,
    remote: u64,
    pages: u64,
    threads: BTreeMap<u16, u64>,
}

impl Area {
    /// The threads that use it most, the busiest first.
    fn busiest(&self) -> String {
        const SHOWN: usize = 4;
        let mut order: Vec<_> = self.threads.iter().collect();
        order.sort_by_key(|(thread, accesses)| (std::cmp::Reverse(**accesses), **thread));
        let mut names: Vec<String> = order.iter().take(SHOWN).map(|(thread, _)| thread.to_string()).collect();
        if order.len() > SHOWN {
            names.push("...".to_owned());
        }
        names.join(",")
    }
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.0} %", 100.0 * part as f64 / whole as f64) }
}

/// A name without what would move the cursor.
fn printable(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_exec::ThreadPlace;
    use olifant_machine::{CpuId, CpuSet, NodeId};

    fn snapshot(threads: i32) -> Snapshot {
        let threads = (0..threads).map(|thread| ThreadPlace {
            thread: 100 + thread,
            name: format!("worker\x1b[2J{thread}"),
            state: if thread % 2 == 0 { 'S' } else { 'R' },
            cpu: CpuId(0),
            node: Some(NodeId(0)),
            allowed: CpuSet::default(),
        });
        Snapshot { process: 100, name: "server".to_owned(), threads: threads.collect(), mappings: Vec::new() }
    }

    #[test]
    fn a_picture_fits_every_terminal_and_has_no_control_characters() {
        for (width, height) in [(1, 1), (20, 5), (80, 24), (200, 60), (80, usize::MAX)] {
            let picture = lines(&snapshot(50), &Seen::Refused("a reason".to_owned()), width, height);
            assert!(picture.len() <= height, "{width} x {height}");
            for line in &picture {
                assert!(line.chars().count() <= width && !line.contains('\x1b'), "{line:?}");
            }
        }
    }

    #[test]
    fn running_threads_come_first_and_the_rest_is_counted() {
        let picture = lines(&snapshot(50), &Seen::Unasked, 100, 30).join("\n");
        assert!(picture.contains(" R "));
        assert!(!picture.contains(" S "), "{picture}");
        assert!(picture.contains("more threads"));
    }
}
