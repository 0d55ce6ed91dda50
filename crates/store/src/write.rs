//! A profile into a file.
//!
//! The file is filled without a journal and without waiting for the disk: it has no name yet, so nobody can see it
//! half done. `atomic.rs` gives it durability and its name in one step at the end.

use crate::atomic::UnpublishedFile;
use crate::schema::{APPLICATION_ID, SCHEMA_VERSION, STATEMENTS, STATEMENTS_2};
use crate::words::Word;
use crate::{StoreError, facts_write, laws, map};
use olifant_opium::map::{GranuleMap, MOST_COUNTERS};
use olifant_opium::profile::{Profile, RunInfo, Totals};
use rusqlite::{Connection, Result, ToSql, Transaction, params};
use std::path::Path;

/// Stores `profile` as `path`, replacing a file of that name in one step: whoever looks finds the old content or the
/// new, never a part. Cost: under a second per million counters (benches/million_counters.rs).
///
/// # Errors
/// `Unlawful` if the profile's lists are out of order or refer to what is not there; `NotAFile` if `path` is a folder,
/// a device or a pipe; `DiskFull`, `Unwritable` or `Database` as the system says. What `path` held stays.
pub fn write(profile: &Profile, path: &Path) -> std::result::Result<(), StoreError> {
    laws::check(profile).map_err(|law| StoreError::Unlawful { path: path.to_owned(), law })?;
    let file = UnpublishedFile::beside(path)?;
    fill(profile, file.path()).map_err(|source| StoreError::filling(path, source))?;
    file.publish()
}

/// Fills the empty file `path` with a database of the whole profile.
fn fill(profile: &Profile, path: &Path) -> Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "OFF")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    // The laws were checked already; following a million references again would only cost time.
    connection.pragma_update(None, "foreign_keys", false)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(STATEMENTS)?;
    transaction.execute_batch(STATEMENTS_2)?;
    run(&transaction, &profile.run, profile.granule_bytes)?;
    totals(&transaction, &profile.totals)?;
    machine(&transaction, profile)?;
    program(&transaction, profile)?;
    areas(&transaction, profile)?;
    counters(&transaction, profile)?;
    contested(&transaction, profile)?;
    facts_write::facts(&transaction, profile)?;
    granule_map(&transaction, profile)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// SQLite's integers are signed: the same 64 bits.
pub(crate) const fn bits(value: u64) -> i64 {
    value.cast_signed()
}

/// A position in a list as a key.
#[allow(clippy::cast_possible_wrap, reason = "a list of more than 2^63 members does not exist")]
pub(crate) const fn key(position: usize) -> i64 {
    position as i64
}

/// Runs `INSERT` into `table`, with its columns in the order of the schema, for each row.
pub(crate) fn insert<Row>(
    transaction: &Transaction<'_>,
    table: &str,
    columns: usize,
    rows: impl Iterator<Item = Row>,
    store: impl Fn(&mut rusqlite::Statement<'_>, Row) -> Result<usize>,
) -> Result<()> {
    let places = vec!["?"; columns].join(",");
    let mut statement = transaction.prepare(&format!("INSERT INTO {table} VALUES ({places})"))?;
    for row in rows {
        store(&mut statement, row)?;
    }
    Ok(())
}

fn run(transaction: &Transaction<'_>, run: &RunInfo, granule_bytes: u64) -> Result<()> {
    insert(transaction, "run", 13, [run].into_iter(), |statement, run| {
        statement.execute(params![
            run.program,
            run.machine,
            run.machine_toml,
            run.configuration,
            run.thread_policy,
            run.memory_policy,
            run.plan,
            bits(run.seed),
            run.evidence.word(),
            run.is_complete,
            run.exit_code,
            run.version,
            bits(granule_bytes),
        ])
    })?;
    insert(transaction, "arguments", 2, run.args.iter().enumerate(), |statement, (position, value)| {
        statement.execute(params![key(position), value])
    })
}

fn totals(transaction: &Transaction<'_>, totals: &Totals) -> Result<()> {
    insert(transaction, "totals", 15, [totals].into_iter(), |statement, totals| {
        statement.execute(params![
            totals.seconds,
            bits(totals.instructions),
            bits(totals.reads),
            bits(totals.writes),
            bits(totals.tlb_misses),
            bits(totals.l1_misses),
            bits(totals.l2_misses),
            bits(totals.upgrades),
            bits(totals.write_backs),
            bits(totals.remote_transactions),
            bits(totals.request_packets),
            bits(totals.response_packets),
            bits(totals.network_bytes),
            totals.host_seconds,
            totals.digest,
        ])
    })
}

fn machine(transaction: &Transaction<'_>, profile: &Profile) -> Result<()> {
    insert(transaction, "cpus", 12, profile.cpus.iter(), |statement, cpu| {
        statement.execute(params![
            cpu.cpu,
            cpu.node,
            bits(cpu.cycles),
            bits(cpu.idle_cycles),
            bits(cpu.instructions),
            bits(cpu.reads),
            bits(cpu.writes),
            bits(cpu.tlb_misses),
            bits(cpu.l1_misses),
            bits(cpu.l2_misses),
            bits(cpu.upgrades),
            bits(cpu.write_backs),
        ])
    })?;
    insert(transaction, "nodes", 10, profile.nodes.iter(), |statement, node| {
        statement.execute(params![
            node.node,
            bits(node.transactions),
            bits(node.remote_transactions),
            bits(node.requests_out),
            bits(node.requests_in),
            bits(node.responses_out),
            bits(node.responses_in),
            node.bus_utilisation,
            node.unit_utilisation,
            bits(node.pages),
        ])
    })?;
    insert(transaction, "links", 6, profile.links.iter().enumerate(), |statement, (id, link)| {
        statement.execute(params![
            key(id),
            link.from,
            link.to,
            bits(link.packets),
            bits(link.bytes),
            link.utilisation
        ])
    })
}

fn program(transaction: &Transaction<'_>, profile: &Profile) -> Result<()> {
    insert(transaction, "threads", 7, profile.threads.iter().enumerate(), |statement, (id, thread)| {
        statement.execute(params![
            key(id),
            thread.name,
            thread.cpu,
            thread.node,
            bits(thread.started),
            bits(thread.ended),
            bits(thread.routine),
        ])
    })?;
    insert(transaction, "modules", 5, profile.modules.iter().enumerate(), |statement, (id, module)| {
        statement.execute(params![
            key(id),
            module.path,
            bits(module.bias),
            bits(module.start),
            bits(module.end)
        ])
    })?;
    let sites = || profile.sites.iter().enumerate();
    insert(transaction, "sites", 1, sites(), |statement, (id, _)| statement.execute(params![key(id)]))?;
    let addresses = sites().flat_map(|(id, site)| site.path.iter().enumerate().map(move |at| (id, at)));
    insert(transaction, "site_path", 3, addresses, |statement, (site, (depth, address))| {
        statement.execute(params![key(site), key(depth), bits(*address)])
    })?;
    let frames = sites().flat_map(|(id, site)| site.frames.iter().enumerate().map(move |at| (id, at)));
    insert(transaction, "frames", 5, frames, |statement, (site, (depth, frame))| {
        statement.execute(params![key(site), key(depth), frame.function, frame.file, frame.line])
    })
}

fn areas(transaction: &Transaction<'_>, profile: &Profile) -> Result<()> {
    insert(transaction, "areas", 10, profile.areas.iter().enumerate(), |statement, (id, area)| {
        statement.execute(params![
            key(id),
            area.kind.word(),
            area.name,
            bits(area.start),
            bits(area.bytes),
            area.site,
            area.ordinal,
            area.thread,
            bits(area.born),
            area.freed.map(bits),
        ])
    })
}

fn counters(transaction: &Transaction<'_>, profile: &Profile) -> Result<()> {
    // Two passes, not one: each table's rows then fill its pages in order, which halves the time and the file.
    insert(transaction, "granules", 3, profile.granules.iter(), |statement, granule| {
        statement.execute([&granule.area as &dyn ToSql, &bits(granule.index), &granule.home])
    })?;
    let counters = profile.granules.iter().flat_map(|granule| granule.by.iter().map(move |by| (granule, by)));
    insert(transaction, "counters", 8, counters, |statement, (granule, by)| {
        statement.execute(params![
            granule.area,
            bits(granule.index),
            by.thread,
            by.node,
            bits(by.reads),
            bits(by.writes),
            bits(by.upgrades),
            bits(by.write_backs),
        ])
    })
}

/// What a report needs of the counters, where these are too many to be read each time.
fn granule_map(transaction: &Transaction<'_>, profile: &Profile) -> Result<()> {
    let counters: usize = profile.granules.iter().map(|granule| granule.by.len()).sum();
    if counters > MOST_COUNTERS {
        let bytes = map::encode(&GranuleMap::of(profile));
        transaction.execute("INSERT INTO granule_map VALUES (?, ?)", params![map::FORM, bytes])?;
    }
    Ok(())
}

fn contested(transaction: &Transaction<'_>, profile: &Profile) -> Result<()> {
    let lines = || profile.contested.iter().enumerate();
    insert(transaction, "contested_lines", 6, lines(), |statement, (id, line)| {
        statement.execute(params![
            key(id),
            line.area,
            line.offset,
            line.bytes,
            bits(line.transfers),
            line.sharing.word(),
        ])
    })?;
    let accessors = lines().flat_map(|(id, line)| line.by.iter().map(move |by| (id, by)));
    insert(transaction, "contested_accessors", 7, accessors, |statement, (line, by)| {
        statement.execute(params![
            key(line),
            by.thread,
            bits(by.reads),
            bits(by.writes),
            bits(by.read_mask),
            bits(by.write_mask),
            bits(by.code),
        ])
    })
}
