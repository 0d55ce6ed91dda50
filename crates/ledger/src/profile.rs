//! What must be seen in a profile: which parts of the memory one accessor reaches, and which several do.

use crate::definition::{Experiment, ProfileCell, ProfileShape};
use crate::{Record, ShapeOutcome};

/// Name of the figure that a run's record keeps for a profile: how many parts one accessor reaches, how many several do, and
/// the share of a shared part's granules that one accessor dominates.
pub(crate) const PARTS_OF_ONE: &str = "profile_parts_of_one_accessor";
/// Likewise.
pub(crate) const PARTS_SHARED: &str = "profile_parts_shared";
/// Likewise.
pub(crate) const LINES_DOMINATED: &str = "profile_lines_dominated";

/// Decides a statement about a profile from what its record kept.
pub(crate) fn outcome(
    experiment: &Experiment,
    _profile: &ProfileCell,
    shape: &ProfileShape,
    record: Option<&Record>,
) -> ShapeOutcome {
    let figure = |name: &str| record.and_then(|record| record.figures.get(name).copied());
    let wanted = [
        (PARTS_OF_ONE, shape.parts_of_one_accessor.map(|parts| parts as f64)),
        (PARTS_SHARED, shape.parts_shared.map(|parts| parts as f64)),
        (LINES_DOMINATED, shape.lines_dominated),
    ];
    let asked: Vec<(Option<f64>, f64)> =
        wanted.iter().filter_map(|(name, least)| Some((figure(name), (*least)?))).collect();
    let holds = asked.iter().map(|(value, least)| Some((*value)? >= *least)).collect::<Option<Vec<bool>>>();
    ShapeOutcome::new(
        &experiment.name,
        &shape.statement,
        asked.iter().map(|(value, _)| *value).collect(),
        holds.map(|holds| holds.iter().all(|holds| *holds)),
    )
}
