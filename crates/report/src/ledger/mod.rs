//! A ledger of published and reproduced values as text, CSV, JSON, and one page for a browser with each figure drawn.

mod charts;
mod page;
mod table;

use crate::csv;
use olifant_ledger::{Ledger, RowState, Use};

pub use page::html;
pub use table::table;

/// As one JSON object: `rows`, `shapes`, `summary`.
pub fn json(ledger: &Ledger) -> String {
    crate::json(ledger)
}

/// As a header and a line for each row. Values that are not there are empty.
pub fn csv(ledger: &Ledger) -> String {
    let mut text = csv::line([
        "experiment",
        "application",
        "configuration",
        "policy",
        "metric",
        "unit",
        "published",
        "reproduced",
        "error",
        "use",
        "scaled",
        "by_steps",
        "state",
        "chosen",
        "threads",
    ]);
    for row in &ledger.rows {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        text += &csv::line([
            row.experiment.clone(),
            row.application.clone(),
            row.configuration.clone(),
            row.policy.clone(),
            row.metric.clone(),
            row.unit.clone(),
            number(row.published),
            number(row.reproduced),
            number(row.error),
            use_word(row.usage).to_owned(),
            row.scaled.to_string(),
            row.by_steps.to_string(),
            state_word(row.state).to_owned(),
            row.chosen.clone().unwrap_or_default(),
            row.threads.to_string(),
        ]);
    }
    text
}

fn use_word(usage: Use) -> &'static str {
    match usage {
        Use::Calibration => "calibration",
        Use::Prediction => "prediction",
    }
}

fn state_word(state: RowState) -> &'static str {
    match state {
        RowState::Run => "run",
        RowState::PartlyRun => "partly run",
        RowState::NotRun => "not run",
    }
}

/// An error with its sign, in percent.
fn signed_percent(error: f64) -> String {
    format!("{:+.1} %", error * 100.0)
}
