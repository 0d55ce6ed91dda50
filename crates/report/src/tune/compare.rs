//! From two profiles and a plan to the comparison.

use super::{AreaRow, TuneReport, Verdict};
use crate::identity::{frames, matching};
use crate::number::percent;
use crate::traffic::{self, Traffic};
use crate::{RunRow, SourceLine, decision};
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{Area, Frame, Profile};
use olifant_placement::{Plan, ThreadPolicy};
use std::collections::HashMap;

/// What is compared.
pub struct Comparison<'a> {
    /// The run without the plan, and where its profile is kept.
    pub untuned: (&'a Profile, Option<&'a str>),
    /// The run with the plan; none if the plan was not worth a second run.
    pub tuned: Option<(&'a Profile, Option<&'a str>)>,
    /// A run on one processor, for the speed-up.
    pub single: Option<&'a Profile>,
    /// The plan, and where it is kept.
    pub plan: (&'a Plan, Option<&'a str>),
    /// Why there was no second run, in the advisor's words, if it said.
    pub because: Option<&'a str>,
    /// Fetches the text of a source line.
    pub source_line: &'a SourceLine<'a>,
}

/// Areas that one statement allocated and one decision covers are one row.
#[derive(PartialEq, Eq, Hash)]
enum Group<'p> {
    /// By the innermost frame.
    Statement(&'p str, &'p str, u32, Option<usize>),
    /// By the name.
    Name(&'p str, Option<usize>),
}

/// A row while it is summed.
struct Member<'p> {
    area: &'p Area,
    frame: Option<&'p Frame>,
    entry: Option<usize>,
    count: usize,
    bytes: u64,
    before: u64,
    after: u64,
}

impl Comparison<'_> {
    /// The report of this comparison.
    pub fn report(&self) -> TuneReport {
        let (untuned, untuned_path) = self.untuned;
        let run = &untuned.run;
        let tuned = self.tuned.map(|(profile, path)| RunRow::from_profile(profile, path));
        let untuned_row = RunRow::from_profile(untuned, untuned_path);
        let (verdict, because) = self.verdict(&untuned_row, tuned.as_ref());
        TuneReport {
            program: run.program.clone(),
            args: run.args.clone(),
            machine: run.machine.clone(),
            configuration: run.configuration.clone(),
            threads: untuned.threads.len(),
            seed: run.seed,
            verdict,
            because,
            untuned: untuned_row,
            tuned,
            single: self.single.map(|profile| RunRow::from_profile(profile, None)),
            plan: self.plan.1.map(str::to_owned),
            thread_plan: self.thread_plan(),
            areas: self.areas(),
        }
    }

    fn thread_plan(&self) -> Option<String> {
        let threads = &self.plan.0.threads;
        (!threads.is_empty()).then(|| ThreadPolicy::List(threads.clone()).to_string())
    }

    fn verdict(&self, untuned: &RunRow, tuned: Option<&RunRow>) -> (Verdict, String) {
        let plan = self.plan.0;
        let because = match tuned {
            Some(tuned) if tuned.seconds < untuned.seconds => return (Verdict::Tuned, String::new()),
            Some(_) => "the run with the plan was not faster".to_owned(),
            None => match (self.because, plan.predicted) {
                (Some(because), _) => because.to_owned(),
                (None, Some(predicted)) => format!(
                    "the plan would take {} of the time, too small a gain for a second run",
                    percent(predicted.time_ratio)
                ),
                (None, None) => "no plan was applied".to_owned(),
            },
        };
        (Verdict::LeaveItAlone, because)
    }

    /// The rows: areas of the untuned run with what became of them in the tuned one, then areas that only the tuned
    /// run has.
    fn areas(&self) -> Vec<AreaRow> {
        let before = self.untuned.0;
        let traffic_before = remote_by_area(before);
        let mut rows = Rows { plan: self.plan.0, index: HashMap::new(), members: Vec::new() };
        match self.tuned {
            Some((after, _)) => {
                let traffic_after = remote_by_area(after);
                let mut is_new = vec![true; after.areas.len()];
                for ((area, remote), matched) in
                    before.areas.iter().zip(traffic_before).zip(matching(before, after))
                {
                    if let Some(matched) = matched {
                        is_new[matched] = false;
                    }
                    rows.add(before, area, remote, matched.map_or(0, |matched| traffic_after[matched]));
                }
                for ((area, remote), _) in
                    after.areas.iter().zip(traffic_after).zip(is_new).filter(|(_, is_new)| *is_new)
                {
                    rows.add(after, area, 0, remote);
                }
            }
            None => {
                for (area, remote) in before.areas.iter().zip(traffic_before) {
                    rows.add(before, area, remote, 0);
                }
            }
        }
        let mut members = rows.members;
        members.retain(|member| member.before > 0 || member.after > 0 || member.entry.is_some());
        // Stable: among equals the order of birth.
        members.sort_by_key(|member| std::cmp::Reverse(member.before.max(member.after)));
        members.iter().map(|member| self.row(member)).collect()
    }

    fn row(&self, member: &Member<'_>) -> AreaRow {
        let entry = member.entry.and_then(|entry| self.plan.0.areas.get(entry));
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let file = member.frame.and_then(|frame| known(&frame.file));
        let line = member.frame.map(|frame| frame.line).filter(|line| *line > 0);
        let source_line = match (&file, line) {
            (Some(file), Some(line)) => (self.source_line)(file, line),
            _ => None,
        };
        AreaRow {
            name: member.area.name.clone(),
            function: member.frame.and_then(|frame| known(&frame.function)),
            file,
            line,
            bytes: member.bytes,
            count: member.count,
            remote_before: member.before,
            remote_after: self.tuned.map(|_| member.after),
            decision: entry.map_or("left alone".to_owned(), |entry| decision::words(&entry.decision)),
            reason: entry.map_or(String::new(), |entry| entry.reason.clone()),
            source_line: source_line.map(|text| text.trim().to_owned()),
        }
    }
}

/// Rows being collected.
struct Rows<'p> {
    plan: &'p Plan,
    index: HashMap<Group<'p>, usize>,
    members: Vec<Member<'p>>,
}

impl<'p> Rows<'p> {
    fn add(&mut self, profile: &'p Profile, area: &'p Area, before: u64, after: u64) {
        let frame = frames(profile, area).first();
        let entry = decision::entry_for(self.plan, profile, area);
        let group = match frame {
            Some(frame) => Group::Statement(&frame.function, &frame.file, frame.line, entry),
            None => Group::Name(&area.name, entry),
        };
        let members = &mut self.members;
        let row = *self.index.entry(group).or_insert_with(|| {
            members.push(Member { area, frame, entry, count: 0, bytes: 0, before: 0, after: 0 });
            members.len() - 1
        });
        let member = &mut members[row];
        member.count += 1;
        member.bytes = member.bytes.saturating_add(area.bytes);
        member.before += before;
        member.after += after;
    }
}

fn remote_by_area(profile: &Profile) -> Vec<u64> {
    let map = GranuleMap::of(profile);
    let nodes = traffic::node_ids(profile, &map);
    traffic::by_area(profile, &map, &nodes).iter().map(|traffic: &Traffic| traffic.remote).collect()
}
