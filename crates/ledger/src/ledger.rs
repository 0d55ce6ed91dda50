//! The ledger: rows of published and reproduced values, shapes, and a summary, computed from records alone.

use crate::rows::{Pool, derived_rows, group_rows};
use crate::shapes::{ShapeOutcome, evaluate};
use crate::summary::Summary;
use crate::{LedgerError, Library, Plan, Published, Record, Records, RowPattern, Use};
use serde::Serialize;

/// How large the runs are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The papers' sizes.
    Full,
    /// Reduced sizes, for a check in minutes.
    Quick,
}

/// Whether a row's runs were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// All that it needs.
    Run,
    /// Some of those that are chosen from: the best of them may not be the best of all, so it has no value.
    PartlyRun,
    /// None.
    NotRun,
}

/// One published value beside the reproduced one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the experiment.
    pub experiment: String,
    /// As published values spell it; likewise the next three.
    pub application: String,
    /// The configuration.
    pub configuration: String,
    /// The policy.
    pub policy: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// The published value.
    pub published: Option<f64>,
    /// The reproduced value.
    pub reproduced: Option<f64>,
    /// reproduced / published - 1.
    pub error: Option<f64>,
    /// What the row is for.
    #[serde(rename = "use")]
    pub usage: Use,
    /// Whether the sizes were reduced.
    pub scaled: bool,
    /// Whether a value was extrapolated from a few steps.
    pub by_steps: bool,
    /// Whether its runs were made.
    pub state: RowState,
    /// Where the least of several was found, as `4N4 t1,m2`.
    pub chosen: Option<String>,
    /// Number of threads.
    pub threads: u32,
    /// What definitions call the row, where the published labels that it shows differ.
    #[serde(skip)]
    pub(crate) own: (String, String),
    /// Which published labels are its.
    #[serde(skip)]
    pub(crate) wanted: (String, String),
    /// Another spelling of the application.
    #[serde(skip)]
    pub(crate) also: Option<String>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ledger {
    /// One per published or publishable value.
    pub rows: Vec<Row>,
    /// Statements, and whether they came out.
    pub shapes: Vec<ShapeOutcome>,
    /// Errors over rows.
    pub summary: Summary,
}

impl Ledger {
    /// The ledger of some experiments (by index): rows in the order of the definitions. Only what stands in `records` is
    /// told; `further` published values are joined with those of the experiments; rows that `only` does not mean are left out.
    /// # Errors  A record that cannot be read.
    pub fn new(
        library: &Library,
        experiments: &[usize],
        records: &Records,
        extent: Extent,
        further: &[Published],
        only: Option<&RowPattern>,
    ) -> Result<Self, LedgerError> {
        let plan = Plan::new(library, experiments, extent)?;
        let found: Vec<Option<Record>> =
            (0..plan.runs.len()).map(|run| plan.record(run, records)).collect::<Result<_, _>>()?;
        let mut pool = Pool::default();
        for (index, experiment) in library.experiments.iter().enumerate() {
            pool.rows.push(group_rows(library, &plan, &found, index, experiment, extent));
        }
        let mut rows = Vec::new();
        let mut shapes = Vec::new();
        let mut unmatched = Vec::new();
        for &index in experiments {
            let experiment = &library.experiments[index];
            let mut of_experiment = pool.rows[index].clone();
            of_experiment.extend(derived_rows(library, &pool, index, experiment, extent)?);
            for row in &mut of_experiment {
                let published = library.published[index].iter().chain(further);
                join(row, published);
            }
            unmatched.extend(
                library.published[index].iter().filter(|value| is_unmatched(value, &of_experiment)).map(name),
            );
            for shape in &experiment.shapes {
                shapes.push(evaluate(experiment, shape, &of_experiment)?);
            }
            for (profile, shape) in experiment.profiles.iter().zip(&experiment.profile_shapes) {
                let cell = plan.cells.iter().find(|cell| cell.experiment == index && cell.group.is_none());
                let record = cell.and_then(|cell| found[cell.run].as_ref());
                shapes.push(crate::profile::outcome(experiment, profile, shape, record));
            }
            let is_meant = |row: &Row| {
                only.is_none_or(|only| {
                    only.means(&row.application, &row.own.0, row.threads, &row.own.1)
                        || only.means(&row.application, &row.own.0, row.threads, &row.policy)
                })
            };
            rows.extend(of_experiment.into_iter().filter(is_meant));
        }
        let accesses = found.iter().flatten().map(|record| record.accesses).sum();
        let runs = (found.iter().flatten().count(), found.len());
        let summary = Summary::new(&rows, &shapes, runs, accesses, unmatched);
        Ok(Ledger { rows, shapes, summary })
    }
}

/// Puts the published value beside the reproduced one. Rows of reduced sizes have no error: they are another input.
fn join<'p>(row: &mut Row, published: impl Iterator<Item = &'p Published>) {
    let mut values =
        published.filter_map(|value| Some((value, value.number()?))).filter(|(value, _)| is_of(value, row));
    let Some((value, number)) = values.next() else { return };
    row.configuration.clone_from(&value.configuration);
    row.policy.clone_from(&value.policy);
    row.published = Some(number);
    row.error = match row.reproduced {
        Some(reproduced) if number != 0.0 && !row.scaled => Some(reproduced / number - 1.0),
        _ => None,
    };
}

/// Whether a published value is the row's.
fn is_of(value: &Published, row: &Row) -> bool {
    let application = value.application.as_str();
    value.metric == row.metric
        && (application == row.application || row.also.as_deref() == Some(application))
        && crate::pattern::matches(&row.wanted.0, &value.configuration)
        && crate::pattern::matches(&row.wanted.1, &value.policy)
}

fn is_unmatched(value: &Published, rows: &[Row]) -> bool {
    value.number().is_some() && !rows.iter().any(|row| is_of(value, row))
}

fn name(value: &Published) -> String {
    format!(
        "{}: {} | {} | {} | {}",
        value.place, value.application, value.configuration, value.policy, value.metric
    )
}
