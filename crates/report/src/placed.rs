//! A run on the host's own memory: what of a plan is where the plan wants it, as read back from the kernel.

use crate::grid::{Column, Grid};
use crate::number::{grouped, percent, share};
use crate::{Style, csv};
use serde::Serialize;

/// A run with what was read back. The names in JSON are stable; fields may be added.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacedRun {
    /// The program's file name.
    pub program: String,
    /// The computer's nodes and processors, as `4N4`.
    pub configuration: String,
    /// The program's exit code; 128 + n for a signal n.
    pub exit_code: i32,
    /// Whether the program left what is told here; it cannot where a signal ended it.
    pub complete: bool,
    /// Threads bound where the plan or policy wants them.
    pub threads_bound: u64,
    /// Threads that the kernel refused to bind.
    pub threads_refused: u64,
    /// Pages in memory that the plan places, where it wants them, as a share.
    pub placed_share: f64,
    /// The plan's entries, in its order.
    pub areas: Vec<PlacedArea>,
}

/// One entry of the plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacedArea {
    /// What it is for.
    pub name: String,
    /// Areas that matched it.
    pub areas: u64,
    /// Areas that could not be placed.
    pub unplaced: u64,
    /// Areas given up without a look, for there were too many.
    pub unread: u64,
    /// Pages in memory where they belong.
    pub at_home: u64,
    /// Pages in memory elsewhere.
    pub elsewhere: u64,
    /// Pages that the program never touched.
    pub untouched: u64,
    /// What went wrong.
    pub causes: Vec<String>,
}

/// What counts as placed: the kernel may have had no free page for a few.
pub const LEAST_SHARE: f64 = 0.99;

impl PlacedRun {
    /// The share of pages that are where the plan wants them; all of them if there is none.
    pub fn share(areas: &[PlacedArea]) -> f64 {
        let sum = |count: fn(&PlacedArea) -> u64| areas.iter().map(count).sum::<u64>();
        let (at_home, elsewhere) = (sum(|area| area.at_home), sum(|area| area.elsewhere));
        if at_home + elsewhere == 0 { 1.0 } else { share(at_home, at_home + elsewhere) }
    }

    /// Whether all is as the plan wants it.
    pub fn is_as_planned(&self) -> bool {
        // An entry may be for areas that this input does not make; a plan none of whose entries met one is not applied.
        let is_met = self.areas.is_empty() || self.areas.iter().any(|area| area.areas > 0);
        let all_placed = is_met && self.areas.iter().all(|area| area.unplaced == 0);
        self.complete && self.threads_refused == 0 && all_placed && self.placed_share >= LEAST_SHARE
    }

    /// As one JSON object.
    pub fn json(&self) -> String {
        crate::json(self)
    }

    /// As a header and a row for each entry of the plan.
    pub fn csv(&self) -> String {
        let header = ["area", "areas", "unplaced", "unread", "at_home", "elsewhere", "untouched", "causes"];
        let rows = self.areas.iter().map(|area| {
            let numbers =
                [area.areas, area.unplaced, area.unread, area.at_home, area.elsewhere, area.untouched];
            let numbers = numbers.map(|number| number.to_string());
            csv::line([&[area.name.clone()][..], &numbers, &[area.causes.join("; ")]].concat())
        });
        csv::line(header) + &rows.collect::<String>()
    }

    /// As a table for a person.
    pub fn table(&self, style: Style) -> String {
        let mut text = format!(" {} on this computer ({})", self.program, self.configuration);
        if !self.complete {
            text += "\n it left no word of where its memory was: a signal ended it, or the preload library was not in it\n";
            return text;
        }
        text += &format!(": {} threads bound", grouped(self.threads_bound));
        if self.threads_refused > 0 {
            text += &format!(", {} refused", grouped(self.threads_refused));
        }
        if self.areas.is_empty() {
            return text + "\n";
        }
        text += &format!(", {} of the plan's pages in place\n\n", percent(self.placed_share));
        let mut grid = Grid::new([
            ("area", Column::Flexible),
            ("areas", Column::Number),
            ("pages", Column::Number),
            ("in place", Column::Number),
            ("elsewhere", Column::Number),
            ("untouched", Column::Number),
        ]);
        for area in &self.areas {
            let pages = area.at_home + area.elsewhere;
            let placed = if pages == 0 { "-".to_owned() } else { percent(share(area.at_home, pages)) };
            let counts = [pages, area.elsewhere, area.untouched].map(grouped);
            let [pages, elsewhere, untouched] = counts;
            grid.row([area.name.clone(), grouped(area.areas), pages, placed, elsewhere, untouched]);
        }
        text += &(grid.lines(style.width).join("\n") + "\n");
        for area in &self.areas {
            text += &area.remarks();
        }
        text
    }
}

impl PlacedArea {
    fn remarks(&self) -> String {
        let mut remarks = Vec::new();
        if self.areas == 0 {
            remarks.push("the program has made no such area".to_owned());
        }
        if self.unplaced > 0 {
            remarks.push(format!("{} could not be placed", grouped(self.unplaced)));
        }
        if self.unread > 0 {
            remarks.push(format!("{} were given up without a look", grouped(self.unread)));
        }
        remarks.extend(self.causes.iter().cloned());
        remarks.iter().map(|remark| format!(" {}: {remark}\n", self.name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at_home: u64, elsewhere: u64) -> PlacedRun {
        let area = PlacedArea {
            name: "main at a.c:1".into(),
            areas: 2,
            unplaced: 0,
            unread: 0,
            at_home,
            elsewhere,
            untouched: 3,
            causes: vec![],
        };
        let areas = vec![area];
        PlacedRun {
            program: "a".into(),
            configuration: "4N4".into(),
            exit_code: 0,
            complete: true,
            threads_bound: 16,
            threads_refused: 0,
            placed_share: PlacedRun::share(&areas),
            areas,
        }
    }

    #[test]
    fn a_run_is_as_planned_from_99_in_a_hundred_pages_on() {
        assert!(run(99, 1).is_as_planned() && run(0, 0).is_as_planned());
        assert!(!run(98, 2).is_as_planned());
        assert!(!PlacedRun { complete: false, ..run(1, 0) }.is_as_planned());
        assert!(!PlacedRun { threads_refused: 1, ..run(1, 0) }.is_as_planned());
        let mut without = run(0, 0);
        without.areas[0].areas = 0;
        assert!(!without.is_as_planned() && without.table(Style::default()).contains("made no such area"));
    }

    #[test]
    fn the_table_has_each_area_with_its_share() {
        let table = run(99, 1).table(Style::default());
        assert!(
            table.starts_with(
                " a on this computer (4N4): 16 threads bound, 99 % of the plan's pages in place"
            ),
            "{table}"
        );
        assert!(table.contains(" main at a.c:1      2    100      99 %          1          3"), "{table}");
        assert_eq!(run(99, 1).csv().lines().nth(1), Some("main at a.c:1,2,0,0,99,1,3,"));
    }
}
