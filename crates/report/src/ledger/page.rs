//! The ledger as one HTML file: needs nothing but a browser, asks no network, runs no script. The style is the profile
//! page's.

use super::charts::charts;
use super::{signed_percent, state_word, use_word};
use crate::number::{grouped, measure, percent};
use crate::page::{STYLE, escape};
use olifant_ledger::{Ledger, Quantiles, Row, RowState, Verdict};
use std::fmt::Write as _;

const OWN_STYLE: &str = include_str!("style.css");

/// The ledger as a page. `title_of` gives title and source of an experiment.
pub fn html(ledger: &Ledger, title_of: &dyn Fn(&str) -> (String, String)) -> String {
    let mut experiments: Vec<&str> = Vec::new();
    for row in &ledger.rows {
        if !experiments.contains(&row.experiment.as_str()) {
            experiments.push(&row.experiment);
        }
    }
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"Olifant\">\n\
         <title>Published and reproduced – Olifant</title>\n<style>\n{}{OWN_STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the content</a>\n\
         <header><h1>Published and reproduced</h1><p class=\"where\">Filled points are reproduced, rings are \
         published. A row without a reproduced value was not run.</p></header>\n<nav aria-label=\"Sections\">",
        STYLE.concat()
    );
    for name in ["summary", "statements"].iter().chain(&experiments) {
        let _ = write!(html, "<a href=\"#{name}\">{name}</a>");
    }
    html += "</nav>\n<main id=\"main\" tabindex=\"-1\">\n";
    html += &summary(ledger);
    html += &statements(ledger);
    for name in experiments {
        let rows: Vec<&Row> = ledger.rows.iter().filter(|row| row.experiment == name).collect();
        let (title, source) = title_of(name);
        let _ = writeln!(
            html,
            "<section id=\"{name}\"><h2>{}</h2><p>{}: {}</p>\n<div class=\"pair\">{}</div>\n{}</section>",
            escape(&title),
            escape(name),
            escape(&source),
            charts(&rows),
            table(&rows)
        );
    }
    html + "</main>\n</body>\n</html>\n"
}

fn summary(ledger: &Ledger) -> String {
    let summary = &ledger.summary;
    let mut html = String::from(
        "<section id=\"summary\"><h2>Summary</h2><div class=\"scroll\"><table class=\"narrow\"><thead><tr><th>absolute \
         relative errors</th><th class=\"number\">rows</th><th class=\"number\">median</th><th class=\"number\">90th \
         percentile</th></tr></thead><tbody>",
    );
    let mut add = |name: &str, quantiles: &Quantiles| {
        let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent);
        let _ = write!(
            html,
            "<tr><th>{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escape(name),
            quantiles.rows,
            share(quantiles.median),
            share(quantiles.p90)
        );
    };
    add("all rows", &summary.all);
    add("calibration", &summary.calibration);
    add("predictions", &summary.prediction);
    add("predicted times and counts", &summary.predicted_times_and_counts);
    add("predicted factors", &summary.predicted_factors);
    for (name, quantiles) in &summary.experiments {
        add(name, quantiles);
    }
    let _ = writeln!(
        html,
        "</tbody></table></div><p>{} of {} runs made, {} accesses. {} of {} rows have a value.</p></section>",
        summary.runs_made,
        summary.runs_needed,
        grouped(summary.accesses),
        summary.rows_run,
        summary.rows
    );
    html
}

fn statements(ledger: &Ledger) -> String {
    let summary = &ledger.summary;
    let mut html = format!(
        "<section id=\"statements\"><h2>Statements</h2><p>{} hold, {} fail, {} are undecided.</p><ul>",
        summary.shapes_hold, summary.shapes_fail, summary.shapes_undecided
    );
    for shape in &ledger.shapes {
        let (class, word) = match shape.verdict {
            Verdict::Holds => ("less", "holds"),
            Verdict::Fails => ("more", "fails"),
            Verdict::Undecided => ("soft", "undecided"),
        };
        let _ = write!(
            html,
            "<li><span class=\"{class}\">{word}</span> {}: {}</li>",
            escape(&shape.experiment),
            escape(&shape.statement)
        );
    }
    html + "</ul></section>\n"
}

fn table(rows: &[&Row]) -> String {
    let mut html = String::from(
        "<div class=\"scroll\"><table><thead><tr><th>application</th><th>configuration</th><th>policy</th>\
         <th>metric</th><th class=\"number\">published</th><th class=\"number\">reproduced</th>\
         <th class=\"number\">error</th><th>use</th></tr></thead><tbody>",
    );
    for row in rows {
        let reproduced = match (row.reproduced, row.state) {
            (Some(value), _) => measure(value),
            (None, RowState::Run) => "no value".to_owned(),
            (None, state) => state_word(state).to_owned(),
        };
        let scaled = match (row.scaled, row.by_steps) {
            (true, _) => ", scaled",
            (false, true) => ", by steps",
            (false, false) => "",
        };
        let _ = write!(
            html,
            "<tr><th>{}</th><td>{}</td><td>{}</td><td>{} <span class=\"soft\">{}</span></td>\
             <td class=\"number\">{}</td><td class=\"number\">{reproduced}</td><td class=\"number\">{}</td>\
             <td>{}{scaled}</td></tr>",
            escape(&row.application),
            escape(&row.configuration),
            escape(&row.policy),
            escape(&row.metric),
            escape(&row.unit),
            row.published.map_or_else(String::new, measure),
            row.error.map_or_else(String::new, signed_percent),
            use_word(row.usage)
        );
    }
    html + "</tbody></table></div>"
}
