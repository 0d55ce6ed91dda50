//! The steps of a refinement, each as it ends: what was looked at, which granules hold most, and what was learnt.

use crate::grid::{Column, Grid};
use crate::number::{grouped, percent, share, short, size};
use crate::text::bars;
use crate::{Style, csv};
use olifant_opium::filter::By;
use olifant_opium::profile::{Area, Profile};
use olifant_opium::refine::{Learnt, Step, Stop, is_contested};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// One step of a refinement.
pub struct RefineStep<'p> {
    /// Its number, from 1.
    pub number: usize,
    /// What was looked at.
    pub step: &'p Step,
    /// What was found.
    pub learnt: &'p Learnt,
    /// The run.
    pub profile: &'p Profile,
    /// What accessors are.
    pub by: By,
}

impl RefineStep<'_> {
    /// As text for a person: the `top` granules with most accesses, in the order of addresses.
    pub fn table(&self, style: Style, top: usize) -> String {
        let regions = match self.step.regions.len() {
            0 => "the whole address space".to_owned(),
            1 => format!("1 region of {}", size(self.bytes())),
            count => format!("{count} regions, {} in all", size(self.bytes())),
        };
        let mut lines = vec![format!(
            " step {}: {regions}, granules of {}: {} accesses in {} granules",
            self.number,
            size(self.step.granule_bytes),
            grouped(self.learnt.accesses),
            grouped(self.learnt.granules.len() as u64)
        )];
        let accessors = self.accessors();
        let mut grid = Grid::new([
            ("granule", Column::Flexible),
            ("accesses", Column::Number),
            ("share", Column::Number),
            (&format!("by {} 0-{}", self.by.word(), accessors.saturating_sub(1)), Column::Text),
            ("", Column::Text),
        ]);
        for (start, by) in self.fullest(top) {
            let sum = by.values().sum();
            let counts: Vec<u64> =
                (0..accessors).map(|accessor| by.get(&accessor).copied().unwrap_or(0)).collect();
            grid.row([
                self.place(start),
                short(sum),
                percent(share(sum, self.learnt.accesses)),
                format!("[{}]", bars(&counts)),
                if is_contested(by) { "shared".to_owned() } else { owner(by, self.by) },
            ]);
        }
        lines.extend(grid.lines(style.width));
        let hidden = self.learnt.granules.len().saturating_sub(top);
        if hidden > 0 {
            lines.push(format!(" and {} more granules with fewer accesses", grouped(hidden as u64)));
        }
        lines.push(format!(
            " shared granules hold {} of the accesses; the granule tells {:.2} bits about the accessor that the region did not",
            percent(share(self.learnt.contested, self.learnt.accesses)),
            self.learnt.bits
        ));
        lines.join("\n") + "\n"
    }

    /// As rows of CSV without a header: step, granule bytes, address, area, offset, accessor, count.
    pub fn csv(&self) -> String {
        let mut text = String::new();
        for (start, by) in &self.learnt.granules {
            for (accessor, count) in by {
                let area = self.area(*start);
                text += &csv::line([
                    self.number.to_string(),
                    self.step.granule_bytes.to_string(),
                    format!("{start:#x}"),
                    area.map_or(String::new(), |area| area.name.clone()),
                    area.map_or(String::new(), |area| start.saturating_sub(area.start).to_string()),
                    accessor.to_string(),
                    count.to_string(),
                ]);
            }
        }
        text
    }

    /// For a program.
    pub fn row(&self) -> RefineRow {
        let granules = self.learnt.granules.iter().map(|(start, by)| {
            let area = self.area(*start);
            RefineGranule {
                address: *start,
                area: area.map(|area| area.name.clone()),
                offset: area.map(|area| start.saturating_sub(area.start)),
                is_shared: is_contested(by),
                counts: by.clone(),
            }
        });
        RefineRow {
            step: self.number,
            granule_bytes: self.step.granule_bytes,
            regions: self.step.regions.clone(),
            accesses: self.learnt.accesses,
            shared_accesses: self.learnt.contested,
            bits: self.learnt.bits,
            granules: granules.collect(),
        }
    }

    /// The header of the CSV.
    pub fn csv_header() -> String {
        csv::line(["step", "granule_bytes", "address", "area", "offset", "accessor", "count"])
    }

    fn bytes(&self) -> u64 {
        self.step.regions.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Accessors are numbered from 0 to one less than this.
    fn accessors(&self) -> u16 {
        let highest = self.learnt.granules.values().filter_map(|by| by.keys().next_back()).max();
        highest.map_or(0, |highest| highest.saturating_add(1))
    }

    fn fullest(&self, top: usize) -> Vec<(u64, &BTreeMap<u16, u64>)> {
        let mut granules: Vec<(u64, &BTreeMap<u16, u64>)> =
            self.learnt.granules.iter().map(|(start, by)| (*start, by)).collect();
        granules.sort_by_key(|(start, by)| (Reverse(by.values().sum::<u64>()), *start));
        granules.truncate(top);
        granules.sort_by_key(|(start, _)| *start);
        granules
    }

    /// The area that a granule begins in, or the first that begins in it.
    fn area(&self, start: u64) -> Option<&Area> {
        let end = start + self.step.granule_bytes;
        let areas = || self.profile.areas.iter().filter(|area| area.name != "elsewhere");
        let begins = |area: &&Area| area.start <= start && start < area.start + area.bytes;
        areas().find(begins).or_else(|| {
            areas().filter(|area| (start..end).contains(&area.start)).min_by_key(|area| area.start)
        })
    }

    fn place(&self, start: u64) -> String {
        match self.area(start) {
            Some(area) if start >= area.start => format!("{} +{:#x}", area.name, start - area.start),
            Some(area) => format!("{start:#x} ({}, ...)", area.name),
            None => format!("{start:#x}"),
        }
    }
}

/// The accessor with most accesses.
fn owner(by: &BTreeMap<u16, u64>, kind: By) -> String {
    let most = by.iter().max_by_key(|(accessor, count)| (**count, Reverse(**accessor)));
    most.map_or(String::new(), |(accessor, _)| format!("{} {accessor}", kind.word()))
}

/// One step for a program.
#[derive(Debug, Serialize)]
pub struct RefineRow {
    step: usize,
    granule_bytes: u64,
    regions: Vec<(u64, u64)>,
    accesses: u64,
    shared_accesses: u64,
    bits: f64,
    granules: Vec<RefineGranule>,
}

/// One granule for a program.
#[derive(Debug, Serialize)]
struct RefineGranule {
    address: u64,
    area: Option<String>,
    offset: Option<u64>,
    is_shared: bool,
    /// Accesses by accessor.
    counts: BTreeMap<u16, u64>,
}

/// All steps as one JSON object.
pub fn refine_json(program: &str, steps: &[RefineRow], stop: Stop) -> String {
    #[derive(Serialize)]
    struct Whole<'s> {
        program: &'s str,
        steps: &'s [RefineRow],
        ended: &'static str,
    }
    crate::json(&Whole { program, steps, ended: stop.reason() })
}

/// Why a refinement ended, and what was learnt on the way.
pub fn refine_ending(stop: Stop, steps: usize) -> String {
    format!(" after {steps} steps: {}\n", stop.reason())
}
