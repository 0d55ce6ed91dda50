//! The ledger for a terminal: a table for each experiment, then what holds and what fails, then the errors in short.

use super::{signed_percent, state_word};
use crate::Style;
use crate::grid::{Column, Grid};
use crate::number::{grouped, measure, percent};
use crate::text::wrap;
use olifant_ledger::{Ledger, Quantiles, Row, RowState, Use, Verdict};

/// Labels of rows are told apart by their ends; on a narrower terminal lines break rather than labels.
const LEAST_WIDTH: usize = 120;

/// The ledger as text. `title_of` gives the title of an experiment.
pub fn table(ledger: &Ledger, title_of: &dyn Fn(&str) -> String, style: Style) -> String {
    let mut lines = Vec::new();
    let mut rest = ledger.rows.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|row| row.experiment == first.experiment).count();
        let (rows, after) = rest.split_at(count);
        lines.push(format!(" {}: {}", first.experiment, title_of(&first.experiment)));
        lines.extend(rows_of(rows, style));
        lines.push(String::new());
        rest = after;
    }
    if !ledger.shapes.is_empty() {
        lines.push(" statements".to_owned());
        for shape in &ledger.shapes {
            let word = match shape.verdict {
                Verdict::Holds => "holds    ",
                Verdict::Fails => "FAILS    ",
                Verdict::Undecided => "undecided",
            };
            let text = format!("{}: {}", shape.experiment, shape.statement);
            for (index, line) in wrap(&text, style.width.saturating_sub(12)).iter().enumerate() {
                lines.push(format!(" {} {line}", if index == 0 { word } else { "         " }));
            }
        }
        lines.push(String::new());
    }
    lines.extend(summary(ledger));
    lines.join("\n") + "\n"
}

fn rows_of(rows: &[Row], style: Style) -> Vec<String> {
    let mut grid = Grid::new([
        ("application", Column::Text),
        ("configuration", Column::Flexible),
        ("policy", Column::Flexible),
        ("metric", Column::Flexible),
        ("published", Column::Number),
        ("reproduced", Column::Number),
        ("error", Column::Number),
        ("", Column::Text),
    ]);
    for row in rows {
        let value = |value: Option<f64>| value.map_or_else(String::new, measure);
        grid.row([
            row.application.clone(),
            row.configuration.clone(),
            row.policy.clone(),
            row.metric.clone(),
            value(row.published),
            match (row.reproduced, row.state) {
                (None, RowState::Run) => "no value".to_owned(),
                (None, state) => state_word(state).to_owned(),
                (Some(value), _) => measure(value),
            },
            row.error.map_or_else(String::new, signed_percent),
            mark(row),
        ]);
    }
    grid.lines(style.width.max(LEAST_WIDTH))
}

/// What is to be known of a row, in a word or two.
fn mark(row: &Row) -> String {
    let marks = [
        (row.scaled, "scaled"),
        (row.by_steps, "by steps"),
        (row.usage == Use::Calibration && !row.scaled, "calibration"),
    ];
    let marks: Vec<&str> = marks.iter().filter(|(applies, _)| *applies).map(|(_, mark)| *mark).collect();
    marks.join(", ")
}

fn summary(ledger: &Ledger) -> Vec<String> {
    let summary = &ledger.summary;
    let mut grid = Grid::new([
        ("absolute errors", Column::Text),
        ("rows", Column::Number),
        ("median", Column::Number),
        ("90th percentile", Column::Number),
    ]);
    let mut add = |name: &str, quantiles: &Quantiles| {
        let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent);
        grid.row([
            name.to_owned(),
            quantiles.rows.to_string(),
            share(quantiles.median),
            share(quantiles.p90),
        ]);
    };
    for (name, quantiles) in &summary.experiments {
        add(name, quantiles);
    }
    add("all rows", &summary.all);
    add("calibration", &summary.calibration);
    add("predictions", &summary.prediction);
    add("predicted times and counts", &summary.predicted_times_and_counts);
    add("predicted factors", &summary.predicted_factors);
    let mut lines = grid.lines(usize::MAX);
    lines.push(String::new());
    lines.push(format!(
        " {} of {} runs made, {} accesses; {} of {} rows have a value, {} of those a published one",
        summary.runs_made,
        summary.runs_needed,
        grouped(summary.accesses),
        summary.rows_run,
        summary.rows,
        summary.rows_published,
    ));
    lines.push(format!(
        " {} statements hold, {} fail, {} are undecided",
        summary.shapes_hold, summary.shapes_fail, summary.shapes_undecided
    ));
    for name in &summary.published_without_row {
        lines.push(format!(" published, and no row is for it: {name}"));
    }
    lines
}
