//! A profile for a program: one object with everything that a report shows, unshortened. Masks are texts of hexadecimal
//! digits, as numbers of 64 bits lose digits in many readers of JSON.

use super::ProfileReport;
use crate::RunRow;
use crate::identity::frames;
use crate::traffic;
use olifant_advisor::Pattern;
use olifant_opium::facts::Facts;
use olifant_opium::profile::{
    AreaKind, ContestedLine, CpuTotals, Frame, Granule, LineField, LinkTotals, NodeTotals, RunInfo, Sharing,
    Totals,
};
use serde::Serialize;

#[derive(Serialize)]
struct Whole<'p> {
    program: &'p str,
    args: &'p [String],
    machine: &'p str,
    configuration: &'p str,
    thread_policy: &'p str,
    memory_policy: &'p str,
    plan: Option<&'p str>,
    seed: u64,
    version: &'p str,
    granule_bytes: u64,
    run: RunRow,
    totals: &'p Totals,
    cpus: &'p [CpuTotals],
    nodes: &'p [NodeTotals],
    links: &'p [LinkTotals],
    threads: Vec<ThreadRow<'p>>,
    areas: Vec<AreaRow<'p>>,
    contested: Vec<ContestedRow<'p>>,
    facts: &'p Facts,
    patterns: Vec<PatternRow>,
}

#[derive(Serialize)]
struct PatternRow {
    pattern: &'static str,
    area: u32,
    what: String,
    share: f64,
    advice: String,
}

#[derive(Serialize)]
struct ThreadRow<'p> {
    thread: usize,
    name: &'p str,
    cpu: u16,
    node: u16,
    started: u64,
    ended: u64,
    routine: String,
    local: u64,
    remote: u64,
}

#[derive(Serialize)]
struct AreaRow<'p> {
    area: usize,
    name: &'p str,
    kind: AreaKind,
    function: Option<&'p str>,
    file: Option<&'p str>,
    line: Option<u32>,
    frames: &'p [Frame],
    bytes: u64,
    ordinal: u32,
    thread: u16,
    born: u64,
    freed: Option<u64>,
    local: u64,
    remote: u64,
    nodes: Vec<NodeShare>,
    /// Of the area's share of all accesses, where these are samples: low and high end, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    share_interval_95: Option<(f64, f64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    granules: Option<Vec<&'p Granule>>,
}

/// A node's part in an area.
#[derive(Serialize)]
struct NodeShare {
    node: u16,
    /// Transactions that it made.
    transactions: u64,
    /// Granules that live there.
    granules: u64,
}

#[derive(Serialize)]
struct ContestedRow<'p> {
    area: u32,
    name: &'p str,
    offset: i64,
    bytes: u32,
    transfers: u64,
    sharing: Sharing,
    fields: &'p [LineField],
    by: Vec<LineShare>,
}

#[derive(Serialize)]
struct LineShare {
    thread: u16,
    reads: u64,
    writes: u64,
    read_mask: String,
    write_mask: String,
    code: String,
}

impl ProfileReport<'_> {
    /// As one JSON object; areas in the order asked for, their granules if asked for.
    pub fn json(&self) -> String {
        let profile = self.profile;
        let RunInfo { program, args, machine, configuration, thread_policy, memory_policy, .. } =
            &profile.run;
        crate::json(&Whole {
            program,
            args,
            machine,
            configuration,
            thread_policy,
            memory_policy,
            plan: profile.run.plan.as_deref(),
            seed: profile.run.seed,
            version: &profile.run.version,
            granule_bytes: profile.granule_bytes,
            run: RunRow::from_profile(profile, None),
            totals: &profile.totals,
            cpus: &profile.cpus,
            nodes: &profile.nodes,
            links: &profile.links,
            threads: self.threads(),
            areas: self.order.iter().map(|area| self.area(*area)).collect(),
            contested: profile.contested.iter().map(|line| self.contested(line)).collect(),
            facts: &profile.facts,
            patterns: self.pattern_rows(),
        })
    }

    fn pattern_rows(&self) -> Vec<PatternRow> {
        let patterns = olifant_advisor::patterns(self.profile, &self.map).into_iter();
        patterns
            .map(|Pattern { kind, area, what, share, advice }| PatternRow {
                pattern: kind.word(),
                area,
                what,
                share,
                advice,
            })
            .collect()
    }

    fn threads(&self) -> Vec<ThreadRow<'_>> {
        let mut rows = Vec::new();
        let traffic = traffic::by_thread(self.profile, &self.map);
        for (id, (thread, (local, remote))) in self.profile.threads.iter().zip(traffic).enumerate() {
            rows.push(ThreadRow {
                thread: id,
                name: &thread.name,
                cpu: thread.cpu,
                node: thread.node,
                started: thread.started,
                ended: thread.ended,
                routine: self.place(thread.routine),
                local,
                remote,
            });
        }
        rows
    }

    fn area(&self, id: usize) -> AreaRow<'_> {
        let (area, traffic) = (&self.profile.areas[id], &self.traffic[id]);
        let frames = frames(self.profile, area);
        let first = frames.first();
        let share = |((&node, &transactions), &granules): ((&u16, &u64), &u64)| NodeShare {
            node,
            transactions,
            granules,
        };
        let nodes = self.nodes.iter().zip(&traffic.by_node).zip(&traffic.homes).map(share);
        let of_area = |granule: &&Granule| granule.area as usize == id;
        AreaRow {
            area: id,
            name: &area.name,
            kind: area.kind,
            function: first.map(|frame| frame.function.as_str()),
            file: first.map(|frame| frame.file.as_str()).filter(|file| !file.is_empty()),
            line: first.map(|frame| frame.line).filter(|line| *line > 0),
            frames,
            bytes: area.bytes,
            ordinal: area.ordinal,
            thread: area.thread,
            born: area.born,
            freed: area.freed,
            local: traffic.local,
            remote: traffic.remote,
            nodes: nodes.collect(),
            share_interval_95: self.area_interval(id),
            granules: self.options.granules.then(|| self.profile.granules.iter().filter(of_area).collect()),
        }
    }

    fn contested<'s>(&'s self, line: &'s ContestedLine) -> ContestedRow<'s> {
        let area = self.profile.areas.get(line.area as usize);
        let share = |by: &olifant_opium::profile::LineAccesses| LineShare {
            thread: by.thread,
            reads: by.reads,
            writes: by.writes,
            read_mask: format!("{:016x}", by.read_mask),
            write_mask: format!("{:016x}", by.write_mask),
            code: self.place(by.code),
        };
        ContestedRow {
            area: line.area,
            name: area.map_or("", |area| &area.name),
            offset: line.offset,
            bytes: line.bytes,
            transfers: line.transfers,
            sharing: line.sharing,
            fields: &line.fields,
            by: line.by.iter().map(share).collect(),
        }
    }
}
