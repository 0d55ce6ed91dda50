//! The laws that a profile keeps, checked before it is written and after it is read, so that who holds a `Profile`
//! may follow its indices without fear. What the laws leave free: thread, node and cpu numbers are labels, and a
//! counter may name a thread that the list of threads doesn't (one that was being made when the run was cut short).

use olifant_opium::facts::Facts;
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
    facts(&profile.facts, profile.areas.len())
}

/// The laws of the facts beside the counts.
fn facts(facts: &Facts, areas: usize) -> Result<(), String> {
    for (id, filter) in facts.filters.iter().enumerate() {
        let counts = filter.counts.iter().map(|count| (count.address, count.accessor));
        ascending(&format!("counters of filter {id}"), counts)?;
    }
    for event in &facts.events {
        refers(|| "an event of the card".to_owned(), "filter", event.filter, facts.filters.len())?;
    }
    let cells = facts.phase_cells.iter();
    ascending("cells of phases", cells.clone().map(|cell| (cell.phase, cell.area, cell.granule, cell.node)))?;
    for cell in cells {
        refers(|| "a cell of a phase".to_owned(), "phase", cell.phase, facts.phases.len())?;
        refers(|| "a cell of a phase".to_owned(), "area", cell.area, areas)?;
    }
    for (id, lock) in facts.locks.iter().enumerate() {
        if let Some(area) = lock.area {
            refers(|| format!("lock {id}"), "area", area, areas)?;
        }
    }
    for touch in &facts.first_touches {
        refers(|| "a first touch".to_owned(), "area", touch.area, areas)?;
    }
    ascending("places", facts.places.iter().map(|place| place.code))
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
