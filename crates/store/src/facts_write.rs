//! The facts beside the counts by granule, into a file's tables.

use crate::words::Word;
use crate::write::{bits, insert, key};
use olifant_opium::facts::{Facts, FilterRecord, Lock};
use olifant_opium::profile::Profile;
use rusqlite::{Result, Transaction, params};

/// Stores the facts of `profile`.
pub(crate) fn facts(transaction: &Transaction<'_>, profile: &Profile) -> Result<()> {
    let facts = &profile.facts;
    insert(transaction, "card", 1, [facts.card].into_iter(), |statement, model| {
        statement.execute(params![model.word()])
    })?;
    filters(transaction, facts)?;
    phases(transaction, facts)?;
    locks(transaction, &facts.locks)?;
    insert(
        transaction,
        "first_touches",
        5,
        facts.first_touches.iter().enumerate(),
        |statement, (id, touch)| {
            statement.execute(params![key(id), touch.area, touch.thread, bits(touch.code), bits(touch.pages)])
        },
    )?;
    insert(transaction, "places", 5, facts.places.iter().enumerate(), |statement, (id, place)| {
        let frame = &place.frame;
        statement.execute(params![key(id), bits(place.code), frame.function, frame.file, frame.line])
    })?;
    let lines = profile.contested.iter().enumerate();
    let fields = lines.flat_map(|(id, line)| line.fields.iter().enumerate().map(move |field| (id, field)));
    insert(transaction, "contested_fields", 5, fields, |statement, (line, (position, field))| {
        statement.execute(params![key(line), key(position), field.name, field.offset, field.bytes])
    })
}

fn filters(transaction: &Transaction<'_>, facts: &Facts) -> Result<()> {
    let filters = || facts.filters.iter().enumerate();
    insert(transaction, "filters", 9, filters(), |statement, (id, filter)| {
        let FilterRecord { name, text, granule_bytes, kinds, by, total, lost, refused, .. } = filter;
        statement.execute(params![
            key(id),
            name,
            text,
            bits(*granule_bytes),
            kinds,
            by.word(),
            bits(*total),
            bits(*lost),
            refused
        ])
    })?;
    let ranges = filters().flat_map(|(id, filter)| filter.ranges.iter().enumerate().map(move |at| (id, at)));
    insert(transaction, "filter_ranges", 4, ranges, |statement, (filter, (position, (start, bytes)))| {
        statement.execute(params![key(filter), key(position), bits(*start), bits(*bytes)])
    })?;
    let counts = filters().flat_map(|(id, filter)| filter.counts.iter().map(move |count| (id, count)));
    insert(transaction, "filter_counters", 4, counts, |statement, (filter, count)| {
        statement.execute(params![key(filter), bits(count.address), count.accessor, bits(count.count)])
    })?;
    let secondaries = facts.secondaries.iter().enumerate();
    insert(transaction, "secondary_counters", 4, secondaries, |statement, (id, secondary)| {
        statement.execute(params![key(id), secondary.name, secondary.text, bits(secondary.count)])
    })?;
    insert(transaction, "card_events", 6, facts.events.iter().enumerate(), |statement, (id, event)| {
        statement.execute(params![
            key(id),
            event.filter,
            bits(event.address),
            event.accessor,
            bits(event.count),
            bits(event.time)
        ])
    })
}

fn phases(transaction: &Transaction<'_>, facts: &Facts) -> Result<()> {
    insert(transaction, "phases", 5, facts.phases.iter().enumerate(), |statement, (id, phase)| {
        statement.execute(params![key(id), phase.name, bits(phase.begin), bits(phase.end), phase.stretches])
    })?;
    insert(transaction, "phase_cells", 7, facts.phase_cells.iter(), |statement, cell| {
        statement.execute(params![
            cell.phase,
            cell.area,
            bits(cell.granule),
            bits(cell.granules),
            cell.node,
            bits(cell.local),
            bits(cell.remote)
        ])
    })
}

fn locks(transaction: &Transaction<'_>, locks: &[Lock]) -> Result<()> {
    insert(transaction, "locks", 10, locks.iter().enumerate(), |statement, (id, lock)| {
        statement.execute(params![
            key(id),
            lock.kind.word(),
            bits(lock.address),
            lock.area,
            bits(lock.offset),
            lock.home,
            bits(lock.acquisitions),
            bits(lock.contended),
            bits(lock.wait_cycles),
            bits(lock.transfers)
        ])
    })?;
    let by_node = locks
        .iter()
        .enumerate()
        .flat_map(|(id, lock)| lock.by_node.iter().enumerate().map(move |at| (id, at)));
    insert(transaction, "lock_nodes", 4, by_node, |statement, (lock, (position, (node, count)))| {
        statement.execute(params![key(lock), key(position), node, bits(*count)])
    })
}
