//! The page: one profile, or a tuning's two, as a single HTML file that needs nothing but a browser.
//!
//! Everything is inside: style, script, the facts as JSON, the heat map's numbers packed (`heat.rs`). It opens from
//! `file://`, asks no network (its policy forbids it), and stays under [`MOST_PAGE_BYTES`] whatever the profile: what is
//! too much is summed up while the page is written, and the page says so.
//!
//! `page.html` is the frame; `style/` and `script/` hold what is set into it, one small file for each matter, in the
//! order of the lists below. Numbers are computed here; the script only adds, sorts and draws.

mod areas;
mod census;
mod contested;
mod facts;
mod findings;
mod heat;
mod machine;
mod pack;
mod sources;

use crate::run::command;
use crate::{RunRow, SourceLine, TuneReport, Verdict};
use census::Census;
use facts::{Facts, RunFacts, VerdictFacts};
use heat::Heat;
use olifant_opium::map::GranuleMap;
use olifant_opium::profile::{Frame, Profile};
use olifant_placement::Plan;
use std::collections::HashMap;

/// No page is larger, in bytes.
pub const MOST_PAGE_BYTES: usize = 20_000_000;
/// Room for the facts; the rest is the heat map's.
const MOST_FACT_BYTES: usize = 4_000_000;

const FRAME: &str = include_str!("page.html");
pub(crate) const STYLE: [&str; 7] = [
    include_str!("style/colour.css"),
    include_str!("style/layout.css"),
    include_str!("style/table.css"),
    include_str!("style/machine.css"),
    include_str!("style/map.css"),
    include_str!("style/phases.css"),
    include_str!("style/print.css"),
];
const SCRIPT: [&str; 25] = [
    include_str!("script/number.js"),
    include_str!("script/element.js"),
    include_str!("script/colour.js"),
    include_str!("script/facts.js"),
    include_str!("script/heat.js"),
    include_str!("script/table.js"),
    include_str!("script/source.js"),
    include_str!("script/figures.js"),
    include_str!("script/layout.js"),
    include_str!("script/machine_draw.js"),
    include_str!("script/machine.js"),
    include_str!("script/areas.js"),
    include_str!("script/axis.js"),
    include_str!("script/map_axis.js"),
    include_str!("script/map_marks.js"),
    include_str!("script/map_draw.js"),
    include_str!("script/map_cursor.js"),
    include_str!("script/map_hands.js"),
    include_str!("script/map_controls.js"),
    include_str!("script/map.js"),
    include_str!("script/contested.js"),
    include_str!("script/threads.js"),
    include_str!("script/findings.js"),
    include_str!("script/phases.js"),
    include_str!("script/main.js"),
];

/// A run, and how its code addresses become lines of source.
#[derive(Clone, Copy)]
pub struct PageRun<'a> {
    /// What the run showed.
    pub profile: &'a Profile,
    /// Its map.
    pub map: &'a GranuleMap,
    /// Finds the source of a code address.
    pub locate: &'a dyn Fn(u64) -> Option<Frame>,
}

/// What a page is made of.
pub struct Page<'a> {
    /// The run; of a tuning, the one without the plan.
    pub run: PageRun<'a>,
    /// What a tuning adds.
    pub tuning: Option<PageTuning<'a>>,
    /// Fetches the text of a source line.
    pub source_line: &'a SourceLine<'a>,
}

/// What a tuning adds to a page.
pub struct PageTuning<'a> {
    /// The comparison.
    pub report: &'a TuneReport,
    /// The plan.
    pub plan: &'a Plan,
    /// The run with the plan, if there was one.
    pub tuned: Option<PageRun<'a>>,
}

/// How much is told in full.
#[derive(Clone, Copy)]
struct Limits {
    areas: usize,
    contested: usize,
    snippets: usize,
}

impl Page<'_> {
    /// The page as HTML. Cost: three walks over the counters; under a second for ten million of them.
    pub fn html(&self) -> String {
        let runs: Vec<PageRun<'_>> = [Some(self.run), self.tuning.as_ref().and_then(|tuning| tuning.tuned)]
            .into_iter()
            .flatten()
            .collect();
        let profiles: Vec<&Profile> = runs.iter().map(|run| run.profile).collect();
        let censuses: Vec<Census> = runs.iter().map(|run| Census::of(run.profile, run.map)).collect();
        let mut limits = Limits { areas: 4000, contested: 1000, snippets: 400 };
        let (facts, heats) = loop {
            let (facts, heats) = self.told(&runs, &profiles, &censuses, limits);
            if facts.len() <= MOST_FACT_BYTES || limits.areas <= 1 {
                break (facts, heats);
            }
            let half = |limit: usize| limit.div_ceil(2);
            limits = Limits {
                areas: half(limits.areas),
                contested: half(limits.contested),
                snippets: half(limits.snippets),
            };
        };
        assemble(&command(&self.run.profile.run), &facts, &heats)
    }

    /// The facts as JSON, and the packed heat of each run.
    fn told(
        &self,
        runs: &[PageRun<'_>],
        profiles: &[&Profile],
        censuses: &[Census],
        limits: Limits,
    ) -> (String, Vec<String>) {
        let plan = self.tuning.as_ref().map(|tuning| tuning.plan);
        let (chosen, rest) = areas::choose(profiles, censuses, plan, limits.areas);
        let mut heats = Vec::new();
        let mut run_facts = Vec::new();
        for (index, run) in runs.iter().enumerate() {
            let ids: Vec<Option<usize>> = chosen.iter().map(|ids| ids[index]).collect();
            let heat = Heat::of(run.profile, run.map, &censuses[index], &ids);
            heats.push(pack::base64(&heat.bytes));
            let shown = ids.iter().enumerate().filter_map(|(shown, id)| Some(((*id)?, shown))).collect();
            let label = match (index, &self.tuning) {
                (0, None) => "profile",
                (0, Some(_)) => "before",
                _ => "after",
            };
            run_facts.push(self.run_facts(label, *run, &censuses[index], heat.maps, &shown, limits));
        }
        let statements = chosen.iter().filter_map(|ids| areas::statement(profiles, ids));
        let contested = run_facts.iter().flat_map(|run| &run.contested.places);
        let sources = sources::snippets(statements.chain(contested), self.source_line, limits.snippets);
        let run = &self.run.profile.run;
        let facts = Facts {
            command: command(run),
            machine: &run.machine,
            configuration: &run.configuration,
            seed: run.seed,
            version: &run.version,
            granule_bytes: self.run.profile.granule_bytes,
            verdict: self.tuning.as_ref().map(PageTuning::verdict),
            areas: chosen.iter().filter_map(|ids| areas::facts(profiles, censuses, plan, ids)).collect(),
            runs: run_facts,
            rest,
            sources,
        };
        // The only failures of this serialiser are maps with keys that are no texts, and there are no maps here.
        let json = serde_json::to_string(&facts)
            .unwrap_or_else(|error| unreachable!("facts always have a JSON form: {error}"));
        (json, heats)
    }

    fn run_facts<'p>(
        &self,
        label: &'static str,
        run: PageRun<'p>,
        census: &Census,
        maps: Vec<heat::MapFacts>,
        shown: &HashMap<usize, usize>,
        limits: Limits,
    ) -> RunFacts<'p> {
        let profile = run.profile;
        RunFacts {
            label,
            row: RunRow::from_profile(profile, None),
            totals: &profile.totals,
            cpus: &profile.cpus,
            nodes: &profile.nodes,
            links: &profile.links,
            threads: machine::threads(profile, census, run.locate),
            matrix: machine::matrix(census),
            contested: contested::facts(profile, shown, run.locate, limits.contested),
            findings: findings::facts(profile, run.map, shown),
            lanes: census.lanes.list().iter().map(|lane| (lane.thread, lane.node)).collect(),
            maps,
        }
    }
}

impl<'a> PageTuning<'a> {
    fn verdict(&self) -> VerdictFacts<'a> {
        let report: &'a TuneReport = self.report;
        VerdictFacts {
            word: report.verdict.word(),
            is_tuned: report.verdict == Verdict::Tuned,
            because: &report.because,
            thread_plan: report.thread_plan.as_deref(),
            plan: self.tuned.is_some().then(|| self.plan.to_toml()),
            single_seconds: report.single.as_ref().map(|single| single.seconds),
        }
    }
}

/// Sets everything into the frame, in one walk: what is set in is not searched for places again.
fn assemble(title: &str, facts: &str, heats: &[String]) -> String {
    let heat: String = heats
        .iter()
        .map(|heat| format!("<script type=\"application/octet-stream\" class=\"heat\">{heat}</script>\n"))
        .collect();
    // In JSON `<` occurs in texts only; escaped, no text can end the element that holds it.
    let facts = facts.replace('<', "\\u003c");
    let (style, script) = (STYLE.concat(), SCRIPT.concat());
    let title = escape(title);
    let parts = [
        ("{{title}}", title.as_str()),
        ("{{style}}", &style),
        ("{{facts}}", &facts),
        ("{{heat}}", &heat),
        ("{{script}}", &script),
    ];
    let mut html =
        String::with_capacity(FRAME.len() + parts.iter().map(|(_, text)| text.len()).sum::<usize>());
    let mut rest = FRAME;
    for (place, text) in parts {
        let (before, after) = rest.split_once(place).unwrap_or_else(|| unreachable!("page.html has {place}"));
        html.push_str(before);
        html.push_str(text);
        rest = after;
    }
    html.push_str(rest);
    html
}

/// Text for HTML's text and attributes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
