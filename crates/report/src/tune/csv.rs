//! The comparison for a spreadsheet: one header, then a row for each run and each area; the first column says which,
//! and columns of the other kind are empty.

use super::{AreaRow, TuneReport};
use crate::{RunRow, csv};

/// Columns that areas have.
const AREA_COLUMNS: [&str; 10] = [
    "area",
    "function",
    "file",
    "line",
    "bytes",
    "areas",
    "remote_before",
    "remote_after",
    "decision",
    "reason",
];

impl TuneReport {
    /// As a header and rows: `untuned`, `tuned`, `single` (a run on one processor), then each `area`.
    pub fn csv(&self) -> String {
        let fields = self.untuned.fields();
        let names = fields.iter().map(|(name, _)| *name);
        let mut text = csv::line(["row"].into_iter().chain(names).chain(AREA_COLUMNS));
        let runs = [
            ("untuned", Some(&self.untuned)),
            ("tuned", self.tuned.as_ref()),
            ("single", self.single.as_ref()),
        ];
        for (row, run) in runs {
            if let Some(run) = run {
                text += &run_line(row, run);
            }
        }
        for area in &self.areas {
            text += &area_line(area, fields.len());
        }
        text
    }
}

fn run_line(row: &str, run: &RunRow) -> String {
    let mut cells = vec![row.to_owned()];
    cells.extend(run.fields().into_iter().map(|(_, value)| value));
    cells.extend(AREA_COLUMNS.map(|_| String::new()));
    csv::line(cells)
}

fn area_line(area: &AreaRow, run_columns: usize) -> String {
    let mut cells = vec!["area".to_owned()];
    cells.resize(1 + run_columns, String::new());
    cells.extend([
        area.name.clone(),
        area.function.clone().unwrap_or_default(),
        area.file.clone().unwrap_or_default(),
        area.line.map_or(String::new(), |line| line.to_string()),
        area.bytes.to_string(),
        area.count.to_string(),
        area.remote_before.to_string(),
        area.remote_after.map_or(String::new(), |remote| remote.to_string()),
        area.decision.clone(),
        area.reason.clone(),
    ]);
    csv::line(cells)
}
