//! Errors over rows: counts, medians and 90th percentiles of their absolute values.

use crate::{Row, RowState, ShapeOutcome, Use, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// Absolute relative errors of some rows.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Quantiles {
    /// Rows with an error.
    pub rows: usize,
    /// Median; none without rows.
    pub median: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
}

impl Quantiles {
    /// Of the rows that have an error. Between two ranks the value is interpolated.
    pub fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Self {
        let mut errors: Vec<f64> = rows.filter_map(|row| row.error).map(f64::abs).collect();
        errors.sort_by(f64::total_cmp);
        Quantiles { rows: errors.len(), median: quantile(&errors, 0.5), p90: quantile(&errors, 0.9) }
    }
}

/// The value below which a share of `ascending` lies, interpolated between ranks.
fn quantile(ascending: &[f64], share: f64) -> Option<f64> {
    let rank = share * ascending.len().checked_sub(1)? as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank is an index")]
    let below = rank.floor() as usize;
    let above = (below + 1).min(ascending.len() - 1);
    Some(ascending[below] + (ascending[above] - ascending[below]) * (rank - below as f64))
}

/// Errors of the whole ledger.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Distinct runs with a record.
    pub runs_made: usize,
    /// Distinct runs that the rows need.
    pub runs_needed: usize,
    /// Simulated accesses of the runs made.
    pub accesses: u64,
    /// Rows.
    pub rows: usize,
    /// Of those, the ones with a reproduced value.
    pub rows_run: usize,
    /// Of those, the ones with a published value.
    pub rows_published: usize,
    /// All rows.
    pub all: Quantiles,
    /// Rows that the model may be fitted to.
    pub calibration: Quantiles,
    /// The others.
    pub prediction: Quantiles,
    /// Predictions of times and counts (seconds, 1e6).
    pub predicted_times_and_counts: Quantiles,
    /// Predictions of speed-ups and other factors (x).
    pub predicted_factors: Quantiles,
    /// All rows of each experiment.
    pub experiments: BTreeMap<String, Quantiles>,
    /// Predictions of each experiment.
    pub experiment_predictions: BTreeMap<String, Quantiles>,
    /// Statements that came out.
    pub shapes_hold: usize,
    /// Statements that did not.
    pub shapes_fail: usize,
    /// Statements about rows without a value.
    pub shapes_undecided: usize,
    /// Published numbers of the experiments that no row is for.
    pub published_without_row: Vec<String>,
}

impl Summary {
    /// The summary of some rows and statements.
    pub(crate) fn new(
        rows: &[Row],
        shapes: &[ShapeOutcome],
        (runs_made, runs_needed): (usize, usize),
        accesses: u64,
        published_without_row: Vec<String>,
    ) -> Self {
        let count = |verdict| shapes.iter().filter(|shape| shape.verdict == verdict).count();
        let predicted = || rows.iter().filter(|row| row.usage == Use::Prediction);
        let is_factor = |row: &&Row| row.unit == "x";
        let mut experiments: BTreeMap<String, Quantiles> = BTreeMap::new();
        let mut experiment_predictions = BTreeMap::new();
        for row in rows {
            if !experiments.contains_key(&row.experiment) {
                let of = |other: &&Row| other.experiment == row.experiment;
                experiments.insert(row.experiment.clone(), Quantiles::of(rows.iter().filter(of)));
                experiment_predictions.insert(row.experiment.clone(), Quantiles::of(predicted().filter(of)));
            }
        }
        Summary {
            runs_made,
            runs_needed,
            accesses,
            rows: rows.len(),
            rows_run: rows.iter().filter(|row| row.state == RowState::Run).count(),
            rows_published: rows
                .iter()
                .filter(|row| row.reproduced.is_some() && row.published.is_some())
                .count(),
            all: Quantiles::of(rows.iter()),
            calibration: Quantiles::of(rows.iter().filter(|row| row.usage == Use::Calibration)),
            prediction: Quantiles::of(predicted()),
            predicted_times_and_counts: Quantiles::of(
                predicted().filter(|row| matches!(row.unit.as_str(), "s" | "1e6")),
            ),
            predicted_factors: Quantiles::of(predicted().filter(is_factor)),
            experiments,
            experiment_predictions,
            shapes_hold: count(Verdict::Holds),
            shapes_fail: count(Verdict::Fails),
            shapes_undecided: count(Verdict::Undecided),
            published_without_row,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantiles_interpolate_between_ranks() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[3.0], 0.9), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0], 0.5), Some(1.5));
        let eleven: Vec<f64> = (0..11).map(f64::from).collect();
        assert_eq!(quantile(&eleven, 0.9), Some(9.0));
    }

    proptest! {
        #[test]
        fn a_quantile_lies_between_the_ends_and_grows_with_its_share(mut values in prop::collection::vec(0.0f64..10.0, 1..40), low in 0.0f64..1.0, high in 0.0f64..1.0) {
            values.sort_by(f64::total_cmp);
            let (low, high) = (low.min(high), low.max(high));
            let (lower, upper) = (quantile(&values, low).unwrap(), quantile(&values, high).unwrap());
            prop_assert!(values[0] <= lower && lower <= upper && upper <= values[values.len() - 1]);
        }
    }
}
