//! A profile out of a file.
//!
//! The header is checked first (`header.rs`), then every row is fetched with its type, order and references checked:
//! a file that was damaged gives an error, or at worst other numbers, but never a profile that breaks a law.

use crate::rows::{Failure, count, distribute, list, numbered, real, single, word};
use crate::{StoreError, facts_read, header, laws, map};
use olifant_opium::facts::Facts;
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{
    Accesses, Area, ContestedLine, CpuTotals, Frame, Granule, LineAccesses, LinkTotals, Module, NodeTotals,
    Profile, RunInfo, Site, Thread, Totals,
};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// Loads the profile in `path`.
///
/// # Errors
/// `Unreadable` if the system refuses the file; `NotAProfile`, `Newer`, `Truncated` or `Damaged` if its content is not
/// a whole profile that this release knows.
pub fn read(path: &Path) -> Result<Profile, StoreError> {
    Ok(open(path, Extent::Counters)?.0)
}

/// Loads the profile in `path` with its map. Where the file holds the map beside the counters, they are left unread, and the
/// profile's `granules` are empty: a file of a hundred million counters opens like one of a million.
///
/// # Errors
/// As for [`read`].
pub fn read_map(path: &Path) -> Result<(Profile, GranuleMap), StoreError> {
    let (profile, map) = open(path, Extent::Map)?;
    let map = map.unwrap_or_else(|| GranuleMap::of(&profile));
    Ok((profile, map))
}

/// How much of the counts by granule is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Each.
    Counters,
    /// The map, if the file has one.
    Map,
}

fn open(path: &Path, extent: Extent) -> Result<(Profile, Option<GranuleMap>), StoreError> {
    let version = header::check(path)?;
    load(path, version, extent).map_err(|failure| match failure {
        Failure::Database(error) => StoreError::reading(path, &error),
        Failure::Contradiction(reason) => StoreError::Damaged { path: path.to_owned(), reason },
    })
}

fn load(path: &Path, version: u32, extent: Extent) -> Result<(Profile, Option<GranuleMap>), Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // The file may be anybody's: its schema must not run functions, and its pages are checked as they are used.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    let (run, granule_bytes) = run(&connection)?;
    let areas = areas(&connection)?;
    let is_mapped = version > 1 && extent == Extent::Map;
    let map = if is_mapped { granule_map(&connection, areas.len())? } else { None };
    let granules = if map.is_some() { Vec::new() } else { granules(&connection)? };
    let mut profile = Profile {
        run,
        totals: totals(&connection)?,
        cpus: cpus(&connection)?,
        nodes: nodes(&connection)?,
        links: links(&connection)?,
        threads: threads(&connection)?,
        modules: modules(&connection)?,
        sites: sites(&connection)?,
        areas,
        granule_bytes,
        granules,
        contested: contested(&connection)?,
        facts: Facts::default(),
    };
    if version > 1 {
        profile.facts = facts_read::facts(&connection)?;
        facts_read::fields(&connection, &mut profile.contested)?;
    }
    laws::check(&profile).map_err(Failure::Contradiction)?;
    Ok((profile, map))
}

fn run(connection: &Connection) -> Result<(RunInfo, u64), Failure> {
    let args = numbered(connection, "arguments", |row| row.get(1))?;
    let (run, granule_bytes) = single(connection, "run", |row| {
        let run = RunInfo {
            program: row.get(0)?,
            args: Vec::new(),
            machine: row.get(1)?,
            machine_toml: row.get(2)?,
            configuration: row.get(3)?,
            thread_policy: row.get(4)?,
            memory_policy: row.get(5)?,
            plan: row.get(6)?,
            seed: count(row, 7)?,
            evidence: word(row, 8)?,
            is_complete: row.get(9)?,
            exit_code: row.get(10)?,
            version: row.get(11)?,
        };
        Ok((run, count(row, 12)?))
    })?;
    Ok((RunInfo { args, ..run }, granule_bytes))
}

fn totals(connection: &Connection) -> Result<Totals, Failure> {
    single(connection, "totals", |row| {
        Ok(Totals {
            seconds: real(row, 0)?,
            instructions: count(row, 1)?,
            reads: count(row, 2)?,
            writes: count(row, 3)?,
            tlb_misses: count(row, 4)?,
            l1_misses: count(row, 5)?,
            l2_misses: count(row, 6)?,
            upgrades: count(row, 7)?,
            write_backs: count(row, 8)?,
            remote_transactions: count(row, 9)?,
            request_packets: count(row, 10)?,
            response_packets: count(row, 11)?,
            network_bytes: count(row, 12)?,
            host_seconds: real(row, 13)?,
            digest: row.get(14)?,
        })
    })
}

fn cpus(connection: &Connection) -> Result<Vec<CpuTotals>, Failure> {
    list(connection, "SELECT * FROM cpus ORDER BY cpu", |row| {
        Ok(CpuTotals {
            cpu: row.get(0)?,
            node: row.get(1)?,
            cycles: count(row, 2)?,
            idle_cycles: count(row, 3)?,
            instructions: count(row, 4)?,
            reads: count(row, 5)?,
            writes: count(row, 6)?,
            tlb_misses: count(row, 7)?,
            l1_misses: count(row, 8)?,
            l2_misses: count(row, 9)?,
            upgrades: count(row, 10)?,
            write_backs: count(row, 11)?,
        })
    })
}

fn nodes(connection: &Connection) -> Result<Vec<NodeTotals>, Failure> {
    list(connection, "SELECT * FROM nodes ORDER BY node", |row| {
        Ok(NodeTotals {
            node: row.get(0)?,
            transactions: count(row, 1)?,
            remote_transactions: count(row, 2)?,
            requests_out: count(row, 3)?,
            requests_in: count(row, 4)?,
            responses_out: count(row, 5)?,
            responses_in: count(row, 6)?,
            bus_utilisation: real(row, 7)?,
            unit_utilisation: real(row, 8)?,
            pages: count(row, 9)?,
        })
    })
}

fn links(connection: &Connection) -> Result<Vec<LinkTotals>, Failure> {
    numbered(connection, "links", |row| {
        Ok(LinkTotals {
            from: row.get(1)?,
            to: row.get(2)?,
            packets: count(row, 3)?,
            bytes: count(row, 4)?,
            utilisation: real(row, 5)?,
        })
    })
}

fn threads(connection: &Connection) -> Result<Vec<Thread>, Failure> {
    numbered(connection, "threads", |row| {
        Ok(Thread {
            name: row.get(1)?,
            cpu: row.get(2)?,
            node: row.get(3)?,
            started: count(row, 4)?,
            ended: count(row, 5)?,
            routine: count(row, 6)?,
        })
    })
}

fn modules(connection: &Connection) -> Result<Vec<Module>, Failure> {
    numbered(connection, "modules", |row| {
        Ok(Module { path: row.get(1)?, bias: count(row, 2)?, start: count(row, 3)?, end: count(row, 4)? })
    })
}

fn sites(connection: &Connection) -> Result<Vec<Site>, Failure> {
    let mut sites = numbered(connection, "sites", |_| Ok(Site::default()))?;
    let addresses = list(connection, "SELECT * FROM site_path ORDER BY site, depth", |row| {
        Ok((count(row, 0)?, count(row, 1)?, count(row, 2)?))
    })?;
    distribute(&mut sites, "site_path", addresses, |site| &mut site.path)?;
    let frames = list(connection, "SELECT * FROM frames ORDER BY site, depth", |row| {
        let frame = Frame { function: row.get(2)?, file: row.get(3)?, line: row.get(4)? };
        Ok((count(row, 0)?, count(row, 1)?, frame))
    })?;
    distribute(&mut sites, "frames", frames, |site| &mut site.frames)?;
    Ok(sites)
}

fn areas(connection: &Connection) -> Result<Vec<Area>, Failure> {
    numbered(connection, "areas", |row| {
        Ok(Area {
            kind: word(row, 1)?,
            name: row.get(2)?,
            start: count(row, 3)?,
            bytes: count(row, 4)?,
            site: row.get(5)?,
            ordinal: row.get(6)?,
            thread: row.get(7)?,
            born: count(row, 8)?,
            freed: row.get::<_, Option<i64>>(9)?.map(i64::cast_unsigned),
        })
    })
}

fn granules(connection: &Connection) -> Result<Vec<Granule>, Failure> {
    let mut granules = list(connection, "SELECT * FROM granules ORDER BY area, granule", |row| {
        Ok(Granule { area: row.get(0)?, index: count(row, 1)?, home: row.get(2)?, by: Vec::new() })
    })?;
    // Both lists are in the order of their shared key, so one walk joins them.
    let query = "SELECT * FROM counters ORDER BY area, granule, thread, node";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    let mut owner = 0;
    while let Some(row) = rows.next()? {
        let key = (row.get::<_, u32>(0)?, count(row, 1)?);
        while granules.get(owner).is_some_and(|granule| (granule.area, granule.index) != key) {
            owner += 1;
        }
        let Some(granule) = granules.get_mut(owner) else {
            let reason = format!("counters of granule {} of area {}, which is not there", key.1, key.0);
            return Err(Failure::Contradiction(reason));
        };
        granule.by.push(Accesses {
            thread: row.get(2)?,
            node: row.get(3)?,
            reads: count(row, 4)?,
            writes: count(row, 5)?,
            upgrades: count(row, 6)?,
            write_backs: count(row, 7)?,
        });
    }
    Ok(granules)
}

/// The map beside the counters, if there is one in a form that is known; one in another form is left alone.
fn granule_map(connection: &Connection, areas: usize) -> Result<Option<GranuleMap>, Failure> {
    let query = format!("SELECT bytes FROM granule_map WHERE form = {}", map::FORM);
    let mut found = list(connection, &query, |row| row.get::<_, Vec<u8>>(0))?;
    found.pop().map(|bytes| map::decode(&bytes, areas)).transpose()
}

fn contested(connection: &Connection) -> Result<Vec<ContestedLine>, Failure> {
    let mut lines = numbered(connection, "contested_lines", |row| {
        Ok(ContestedLine {
            area: row.get(1)?,
            offset: row.get(2)?,
            bytes: row.get(3)?,
            transfers: count(row, 4)?,
            sharing: word(row, 5)?,
            fields: Vec::new(),
            by: Vec::new(),
        })
    })?;
    let accessors = list(connection, "SELECT * FROM contested_accessors ORDER BY line, thread", |row| {
        let accessor = LineAccesses {
            thread: row.get(1)?,
            reads: count(row, 2)?,
            writes: count(row, 3)?,
            read_mask: count(row, 4)?,
            write_mask: count(row, 5)?,
            code: count(row, 6)?,
        };
        Ok((count(row, 0)?, accessor))
    })?;
    for (line, accessor) in accessors {
        match usize::try_from(line).ok().and_then(|line| lines.get_mut(line)) {
            Some(line) => line.by.push(accessor),
            None => {
                let reason = format!("accessors of contested line {line}, which is not there");
                return Err(Failure::Contradiction(reason));
            }
        }
    }
    Ok(lines)
}
