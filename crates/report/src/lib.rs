//! Profiles and comparisons as text: tables for a person, JSON for a program, CSV for a spreadsheet, a page for a browser.
//!
//! Pure functions from data to `String`: nothing here prints, opens a file or asks the terminal; the caller gives the
//! width and, where a line of source is to be shown, a function that fetches it. The names in JSON and CSV are stable:
//! fields may be added, none is renamed.
//!
//! - [`RunRow`]: one run in figures (`run`, `record`);
//! - [`PlacedRun`]: a run on the host's own memory, read back (`run --on host`);
//! - [`TuneReport`]: untuned and tuned side by side, and what was done with each area (`tune`);
//! - [`ProfileReport`]: one profile at length (`report`);
//! - [`AdviceReport`]: what a plan would do, and why (`advise`);
//! - [`page`]: a profile or a tuning as one HTML file (`report`, `tune`);
//! - [`RefineStep`]: one step of a refinement (`refine`);
//! - [`ledger`]: published values beside reproduced ones (`reproduce`);
//! - [`topology`]: a machine as a picture, tables, JSON (`topology`).

mod advice;
mod csv;
mod decision;
mod grid;
mod identity;
pub mod ledger;
mod number;
pub mod page;
mod placed;
mod profile;
mod refine;
mod run;
mod text;
pub mod topology;
mod traffic;
mod tune;

pub use advice::{AdviceReport, AdviceRow};
pub use placed::{PlacedArea, PlacedRun};
pub use profile::{CsvRows, ProfileReport, ReportOptions, Sort};
pub use refine::{RefineRow, RefineStep, refine_ending, refine_json};
pub use run::RunRow;
pub use tune::{AreaRow, Comparison, TuneReport, Verdict};

/// How tables are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Characters per line; names are shortened to fit, numbers never.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: 80 }
    }
}

/// Fetches a line of a source file, counted from 1, if the file can be read.
pub type SourceLine<'f> = dyn Fn(&str, u32) -> Option<String> + 'f;

/// A value as JSON, indented, with a newline at the end.
fn json(value: &impl serde::Serialize) -> String {
    // The only failures of this serialiser are maps with keys that are no texts, and there are no maps here.
    let text = serde_json::to_string_pretty(value);
    text.unwrap_or_else(|error| unreachable!("a report always has a JSON form: {error}")) + "\n"
}
