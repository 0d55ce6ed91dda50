//! Figures as drawings (SVG): reproduced values filled, published ones as rings, so that both show where they meet.
//!
//! A metric whose rows differ in the number of threads is drawn against it, a line for each policy; any other as a list of
//! rows against a logarithmic axis.

use crate::number::measure;
use crate::page::escape;
use olifant_ledger::Row;
use std::fmt::Write as _;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const BOTTOM: f64 = 30.0;
const TOP: f64 = 26.0;
const RIGHT: f64 = 12.0;
/// Colours of the page's style, by policy.
const COLOURS: [&str; 6] =
    ["var(--node-0)", "var(--node-1)", "var(--node-2)", "var(--node-3)", "var(--node-4)", "var(--node-5)"];

/// All drawings of an experiment's rows: one for each metric, and for each application where threads differ.
pub(super) fn charts(rows: &[&Row]) -> String {
    let mut metrics: Vec<&str> = Vec::new();
    for row in rows {
        if !metrics.contains(&row.metric.as_str()) {
            metrics.push(&row.metric);
        }
    }
    let mut html = String::new();
    for metric in metrics {
        let of_metric: Vec<&Row> = rows.iter().copied().filter(|row| row.metric == metric).collect();
        if of_metric.iter().all(|row| row.reproduced.is_none() && row.published.is_none()) {
            continue;
        }
        let mut applications: Vec<&str> = Vec::new();
        for row in &of_metric {
            if !applications.contains(&row.application.as_str()) {
                applications.push(&row.application);
            }
        }
        for application in &applications {
            let own: Vec<&Row> =
                of_metric.iter().copied().filter(|row| row.application == *application).collect();
            if threads_differ(&own) {
                html += &lines(application, metric, &own);
            }
        }
        let flat: Vec<&Row> = of_metric
            .iter()
            .copied()
            .filter(|row| {
                let own: Vec<&Row> =
                    of_metric.iter().copied().filter(|other| other.application == row.application).collect();
                !threads_differ(&own)
            })
            .collect();
        if !flat.is_empty() {
            html += &dots(metric, &flat);
        }
    }
    html
}

fn threads_differ(rows: &[&Row]) -> bool {
    rows.iter().any(|row| row.threads != rows[0].threads)
}

/// A policy as a series: what is chosen of several is one.
fn series(row: &Row) -> &str {
    if row.chosen.is_some() || row.policy.starts_with("BEST=") { "best" } else { &row.policy }
}

fn lines(application: &str, metric: &str, rows: &[&Row]) -> String {
    let most_threads = rows.iter().map(|row| row.threads).max().unwrap_or(1);
    let largest = rows.iter().flat_map(|row| [row.reproduced, row.published]).flatten().fold(0.0, f64::max);
    if largest <= 0.0 {
        return String::new();
    }
    let x = |threads: u32| LEFT + (WIDTH - LEFT - RIGHT) * f64::from(threads) / f64::from(most_threads);
    let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / (largest * 1.05);
    let mut svg = open(&format!("{application}: {metric}"), HEIGHT);
    for step in 0..=4 {
        let value = largest * f64::from(step) / 4.0;
        let _ = write!(
            svg,
            "<line class=\"rule\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 5.0,
            y(value) + 4.0,
            short(value),
            y = y(value),
        );
    }
    let mut threads: Vec<u32> = rows.iter().map(|row| row.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    for threads in threads {
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{threads}</text>",
            x(threads),
            HEIGHT - 12.0
        );
    }
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&series(row)) {
            names.push(series(row));
        }
    }
    for (index, name) in names.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        let mut own: Vec<&Row> = rows.iter().copied().filter(|row| series(row) == *name).collect();
        own.sort_by_key(|row| row.threads);
        let points: Vec<String> = own
            .iter()
            .filter_map(|row| Some(format!("{:.1},{:.1}", x(row.threads), y(row.reproduced?))))
            .collect();
        let _ = write!(svg, "<polyline points=\"{}\" style=\"stroke:{colour}\"/>", points.join(" "));
        for row in own {
            svg += &marks(row, colour, x(row.threads), x(row.threads), &y);
        }
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" style=\"fill:{colour}\">{}</text>",
            LEFT + 8.0,
            TOP + 14.0 * (index as f64 + 1.0),
            escape(name)
        );
    }
    svg + "</svg></figure>"
}

/// A filled point for the reproduced value and a ring for the published one.
fn marks(row: &Row, colour: &str, x: f64, published_x: f64, y: &dyn Fn(f64) -> f64) -> String {
    let title = escape(&format!(
        "{} {} {}: published {}, reproduced {}",
        row.application,
        row.configuration,
        row.policy,
        row.published.map_or("-".to_owned(), measure),
        row.reproduced.map_or("-".to_owned(), measure)
    ));
    let mut svg = String::new();
    if let Some(value) = row.reproduced {
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\" style=\"fill:{colour}\"><title>{title}</title></circle>",
            y(value)
        );
    }
    if let Some(value) = row.published {
        let _ = write!(
            svg,
            "<circle class=\"ring\" cx=\"{published_x:.1}\" cy=\"{:.1}\" r=\"5.5\" style=\"stroke:{colour}\"><title>{title}</title></circle>",
            y(value)
        );
    }
    svg
}

fn dots(metric: &str, rows: &[&Row]) -> String {
    const LABELS: f64 = 190.0;
    const STEP: f64 = 17.0;
    let rows: Vec<&Row> =
        rows.iter().copied().filter(|row| row.reproduced.is_some() || row.published.is_some()).collect();
    let values =
        || rows.iter().flat_map(|row| [row.reproduced, row.published]).flatten().filter(|value| *value > 0.0);
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    if !(least > 0.0 && most > 0.0 && least.is_finite()) {
        return String::new();
    }
    let (low, high) = (least.log10() - 0.05, most.log10() + 0.05);
    let x = |value: f64| LABELS + (WIDTH - LABELS - RIGHT) * (value.max(least).log10() - low) / (high - low);
    let height = TOP + BOTTOM + STEP * rows.len() as f64;
    let mut svg = open(metric, height);
    for value in [least, (least * most).sqrt(), most] {
        let _ = write!(
            svg,
            "<line class=\"rule\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{:.1}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            height - BOTTOM,
            height - 12.0,
            short(value),
            x = x(value),
        );
    }
    for (index, row) in rows.iter().enumerate() {
        let middle = TOP + STEP * (index as f64 + 0.5);
        let configuration = row.configuration.split(';').next().unwrap_or_default();
        let label = format!("{} {} {}", row.application, configuration, row.policy);
        let at = |_: f64| middle;
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LABELS - 6.0,
            middle + 4.0,
            escape(&crate::text::cut(&label, 32))
        );
        let (own, published) = (row.reproduced.unwrap_or(least), row.published.unwrap_or(least));
        svg += &marks(row, COLOURS[0], x(own), x(published), &at);
    }
    svg + "</svg></figure>"
}

fn open(title: &str, height: f64) -> String {
    format!(
        "<figure class=\"card\"><svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\
         <text class=\"title\" x=\"4\" y=\"14\">{title}</text>",
        title = escape(title)
    )
}

fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value >= 1e5 { format!("{value:.1e}") } else { measure(value) }
}
