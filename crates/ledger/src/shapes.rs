//! Statements about rows: orderings, bounds, flatness; and whether they came out.

use crate::definition::{Experiment, Shape};
use crate::{LedgerError, Row, RowPattern};
use serde::Serialize;

/// Whether a statement came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It did.
    Holds,
    /// It did not.
    Fails,
    /// Rows that it speaks of have no value.
    Undecided,
}

/// A statement and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShapeOutcome {
    /// Name of the experiment.
    pub experiment: String,
    /// In words.
    pub statement: String,
    /// Whether it came out; also false while undecided.
    pub holds: bool,
    /// The same with the third case told apart.
    pub verdict: Verdict,
    /// The values that decided, in the order of the definition.
    pub values: Vec<Option<f64>>,
}

impl ShapeOutcome {
    pub(crate) fn new(
        experiment: &str,
        statement: &str,
        values: Vec<Option<f64>>,
        holds: Option<bool>,
    ) -> Self {
        ShapeOutcome {
            experiment: experiment.to_owned(),
            statement: statement.to_owned(),
            holds: holds == Some(true),
            verdict: match holds {
                Some(true) => Verdict::Holds,
                Some(false) => Verdict::Fails,
                None => Verdict::Undecided,
            },
            values,
        }
    }
}

/// Decides a statement on an experiment's rows.
/// # Errors  A pattern that is none, or means no row.
pub(crate) fn evaluate(
    experiment: &Experiment,
    shape: &Shape,
    rows: &[Row],
) -> Result<ShapeOutcome, LedgerError> {
    let patterns: Vec<&String> = [&shape.ascending, &shape.flat, &shape.between]
        .into_iter()
        .flatten()
        .flatten()
        .chain(shape.ratio.iter().flatten())
        .collect();
    let mut values = Vec::new();
    for text in patterns {
        let pattern: RowPattern = text.parse()?;
        let is_meant = |row: &&Row| {
            row.metric == shape.metric && pattern.means(&row.application, &row.own.0, row.threads, &row.own.1)
        };
        let meant = rows.iter().filter(is_meant).map(|row| row.reproduced);
        let before = values.len();
        values.extend(meant.take(if pattern.is_for_many() { usize::MAX } else { 1 }));
        if values.len() == before {
            return Err(LedgerError::Unknown {
                place: format!("{}: {:?}", experiment.name, shape.statement),
                kind: "row",
                name: text.clone(),
                known: format!("rows of {}", shape.metric),
            });
        }
    }
    let known: Option<Vec<f64>> = values.iter().copied().collect();
    let holds = known.map(|known| holds(shape, &known));
    Ok(ShapeOutcome::new(&experiment.name, &shape.statement, values, holds))
}

fn holds(shape: &Shape, values: &[f64]) -> bool {
    let (least, most) = (shape.least.unwrap_or(f64::NEG_INFINITY), shape.most.unwrap_or(f64::INFINITY));
    let is_within = |value: f64| (least..=most).contains(&value);
    if shape.ascending.is_some() {
        values.is_sorted_by(|lower, upper| *upper > lower * (1.0 + shape.margin))
    } else if shape.flat.is_some() {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().all(|value| (value - mean).abs() <= shape.margin * mean.abs())
    } else if shape.ratio.is_some() {
        is_within(values[0] / values[1])
    } else {
        values.iter().all(|&value| is_within(value))
    }
}
