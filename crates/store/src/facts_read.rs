//! The facts beside the counts by granule, out of a file's tables. A file of schema 1 has none.

use crate::rows::{Failure, count, distribute, list, numbered, single, word};
use olifant_opium::facts::{
    CardEvent, Facts, FilterCount, FilterRecord, FirstTouches, Lock, Phase, PhaseCell, Place, SecondaryRecord,
};
use olifant_opium::profile::{ContestedLine, Frame, LineField};
use rusqlite::Connection;

/// The facts of a file of schema 2 or later.
pub(crate) fn facts(connection: &Connection) -> Result<Facts, Failure> {
    Ok(Facts {
        card: single(connection, "card", |row| word(row, 0))?,
        filters: filters(connection)?,
        secondaries: numbered(connection, "secondary_counters", |row| {
            Ok(SecondaryRecord { name: row.get(1)?, text: row.get(2)?, count: count(row, 3)? })
        })?,
        events: numbered(connection, "card_events", |row| {
            Ok(CardEvent {
                filter: row.get(1)?,
                address: count(row, 2)?,
                accessor: row.get(3)?,
                count: count(row, 4)?,
                time: count(row, 5)?,
            })
        })?,
        phases: numbered(connection, "phases", |row| {
            Ok(Phase {
                name: row.get(1)?,
                begin: count(row, 2)?,
                end: count(row, 3)?,
                stretches: row.get(4)?,
            })
        })?,
        phase_cells: phase_cells(connection)?,
        locks: locks(connection)?,
        first_touches: numbered(connection, "first_touches", |row| {
            Ok(FirstTouches {
                area: row.get(1)?,
                thread: row.get(2)?,
                code: count(row, 3)?,
                pages: count(row, 4)?,
            })
        })?,
        places: numbered(connection, "places", |row| {
            let frame = Frame { function: row.get(2)?, file: row.get(3)?, line: row.get(4)? };
            Ok(Place { code: count(row, 1)?, frame })
        })?,
    })
}

/// Gives contested lines their fields.
pub(crate) fn fields(connection: &Connection, lines: &mut [ContestedLine]) -> Result<(), Failure> {
    let fields = list(connection, "SELECT * FROM contested_fields ORDER BY line, position", |row| {
        let field = LineField { name: row.get(2)?, offset: row.get(3)?, bytes: row.get(4)? };
        Ok((count(row, 0)?, count(row, 1)?, field))
    })?;
    distribute(lines, "contested_fields", fields, |line| &mut line.fields)
}

fn filters(connection: &Connection) -> Result<Vec<FilterRecord>, Failure> {
    let mut filters = numbered(connection, "filters", |row| {
        Ok(FilterRecord {
            name: row.get(1)?,
            text: row.get(2)?,
            granule_bytes: count(row, 3)?,
            kinds: row.get(4)?,
            by: word(row, 5)?,
            ranges: Vec::new(),
            total: count(row, 6)?,
            lost: count(row, 7)?,
            refused: row.get(8)?,
            counts: Vec::new(),
        })
    })?;
    let ranges = list(connection, "SELECT * FROM filter_ranges ORDER BY filter, position", |row| {
        Ok((count(row, 0)?, count(row, 1)?, (count(row, 2)?, count(row, 3)?)))
    })?;
    distribute(&mut filters, "filter_ranges", ranges, |filter| &mut filter.ranges)?;
    let counters = list(connection, "SELECT * FROM filter_counters ORDER BY filter", |row| {
        let count = FilterCount { address: count(row, 1)?, accessor: row.get(2)?, count: count(row, 3)? };
        Ok((row.get::<_, u32>(0)?, count))
    })?;
    for (filter, count) in counters {
        let Some(filter) = filters.get_mut(filter as usize) else {
            return Err(Failure::Contradiction(format!("counters of filter {filter}, which is not there")));
        };
        filter.counts.push(count);
    }
    for filter in &mut filters {
        // SQLite orders addresses as signed numbers.
        filter.counts.sort_unstable_by_key(|count| (count.address, count.accessor));
    }
    Ok(filters)
}

fn phase_cells(connection: &Connection) -> Result<Vec<PhaseCell>, Failure> {
    list(connection, "SELECT * FROM phase_cells ORDER BY phase, area, granule, node", |row| {
        Ok(PhaseCell {
            phase: row.get(0)?,
            area: row.get(1)?,
            granule: count(row, 2)?,
            granules: count(row, 3)?,
            node: row.get(4)?,
            local: count(row, 5)?,
            remote: count(row, 6)?,
        })
    })
}

fn locks(connection: &Connection) -> Result<Vec<Lock>, Failure> {
    let mut locks = numbered(connection, "locks", |row| {
        Ok(Lock {
            kind: word(row, 1)?,
            address: count(row, 2)?,
            area: row.get(3)?,
            offset: count(row, 4)?,
            home: row.get(5)?,
            acquisitions: count(row, 6)?,
            contended: count(row, 7)?,
            wait_cycles: count(row, 8)?,
            transfers: count(row, 9)?,
            by_node: Vec::new(),
        })
    })?;
    let nodes = list(connection, "SELECT * FROM lock_nodes ORDER BY lock, position", |row| {
        Ok((count(row, 0)?, count(row, 1)?, (row.get(2)?, count(row, 3)?)))
    })?;
    distribute(&mut locks, "lock_nodes", nodes, |lock| &mut lock.by_node)?;
    Ok(locks)
}
