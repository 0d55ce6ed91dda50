//! Rows from cells, and rows from rows.

use crate::definition::{Application, Choose, Derived, Experiment, Group, Label, Operand, Use};
use crate::pattern::matches;
use crate::{Cell, Extent, LedgerError, Library, Plan, Record, Row, RowState};

/// Rows by experiment, for rows that follow from them.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    pub rows: Vec<Vec<Row>>,
}

/// The cells that a row is chosen from; one, where nothing is chosen.
struct Contest<'a> {
    group: &'a Group,
    application: &'a Application,
    cells: Vec<&'a Cell>,
}

/// The rows of an experiment's groups.
pub(crate) fn group_rows(
    library: &Library,
    plan: &Plan,
    found: &[Option<Record>],
    index: usize,
    experiment: &Experiment,
    extent: Extent,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for contest in contests(library, plan, index, experiment) {
        let winner = contest.winner(library, found);
        for name in &contest.group.metrics {
            let value =
                winner.and_then(|cell| value(library, contest.application, name, found[cell.run].as_ref()));
            rows.push(contest.row(library, experiment, found, name, winner, value, extent));
        }
    }
    rows
}

/// Cells that are one row, in the order of their first cell.
fn contests<'a>(
    library: &'a Library,
    plan: &'a Plan,
    index: usize,
    experiment: &'a Experiment,
) -> Vec<Contest<'a>> {
    let mut contests: Vec<Contest> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| cell.experiment == index) {
        let Some(group) = cell.group.map(|group| &experiment.groups[group]) else { continue };
        let Some(application) = library.application(&cell.application) else { continue };
        let joins = |contest: &&mut Contest| {
            group.choose.is_some()
                && contest.group.choose == group.choose
                && contest.group.among == group.among
                && contest.application.key == application.key
                && contest.cells[0].threads == cell.threads
                && (group.among.is_some() || std::ptr::eq(contest.group, group))
        };
        match contests.iter_mut().find(joins) {
            Some(contest) => contest.cells.push(cell),
            None => contests.push(Contest { group, application, cells: vec![cell] }),
        }
    }
    contests
}

impl<'a> Contest<'a> {
    /// The cell that counts; none while one of them was not run.
    fn winner(&self, library: &Library, found: &[Option<Record>]) -> Option<&'a Cell> {
        let metric = self.group.metrics.first()?;
        let mut best: Option<(f64, &Cell)> = None;
        for cell in &self.cells {
            let record = found[cell.run].as_ref()?;
            if self.cells.len() == 1 {
                return Some(cell);
            }
            let value = value(library, self.application, metric, Some(record))?;
            let is_better = |(best, _): (f64, &Cell)| match self.group.choose {
                Some(Choose::Most) => value > best,
                _ => value < best,
            };
            if best.is_none_or(is_better) {
                best = Some((value, cell));
            }
        }
        best.map(|(_, cell)| cell)
    }

    #[allow(clippy::too_many_arguments, reason = "a row joins all of it")]
    fn row(
        &self,
        library: &Library,
        experiment: &Experiment,
        found: &[Option<Record>],
        metric: &str,
        winner: Option<&Cell>,
        reproduced: Option<f64>,
        extent: Extent,
    ) -> Row {
        let is_choice = self.group.choose.is_some();
        let threads = self.cells[0].threads;
        let only = (!is_choice).then(|| self.cells[0]);
        let told = winner.or(only);
        let own = fill(
            &self.group.label,
            told.map_or("*", |cell| &cell.configuration),
            threads,
            told.map_or("*", |cell| &cell.policy),
        );
        let wanted = match is_choice {
            true => fill(&self.group.label, "*", threads, "*"),
            false => own.clone(),
        };
        let run = self.cells.iter().filter(|cell| found[cell.run].is_some()).count();
        let is_calibration = self.group.usage == Use::Calibration
            || self.application.usage == Use::Calibration
            || threads == 1;
        Row {
            experiment: experiment.name.clone(),
            application: self.application.name.clone(),
            configuration: own.0.clone(),
            policy: own.1.clone(),
            metric: metric.to_owned(),
            unit: library.metrics[metric].unit.clone(),
            published: None,
            reproduced,
            error: None,
            usage: if is_calibration { Use::Calibration } else { Use::Prediction },
            scaled: extent == Extent::Quick,
            by_steps: winner
                .and_then(|cell| found[cell.run].as_ref())
                .is_some_and(|record| record.definition.steps.is_some()),
            state: match run {
                0 => RowState::NotRun,
                run if run == self.cells.len() => RowState::Run,
                _ => RowState::PartlyRun,
            },
            chosen: winner
                .filter(|_| is_choice)
                .map(|cell| format!("{} {}", cell.configuration, cell.policy)),
            threads,
            own,
            wanted,
            also: self.application.also.clone(),
        }
    }
}

/// The value of a metric for a run.
fn value(library: &Library, application: &Application, metric: &str, record: Option<&Record>) -> Option<f64> {
    let record = record?;
    library.metrics.get(metric)?.evaluate(&|field| record.field(field, application.flops))
}

fn fill(label: &Label, configuration: &str, threads: u32, policy: &str) -> (String, String) {
    let put = |text: &str| {
        text.replace("{configuration}", configuration)
            .replace("{threads}", &threads.to_string())
            .replace("{policy}", policy)
    };
    (put(&label.configuration), put(&label.policy))
}

/// The rows that an experiment derives from its own and from those of the experiments that it uses.
pub(crate) fn derived_rows(
    library: &Library,
    pool: &Pool,
    index: usize,
    experiment: &Experiment,
    extent: Extent,
) -> Result<Vec<Row>, LedgerError> {
    let mut sources: Vec<&Row> = pool.rows[index].iter().collect();
    for name in &experiment.from {
        sources.extend(&pool.rows[library.find(name)?]);
    }
    let is_wanted = |name: &str| {
        experiment.applications.is_empty()
            || experiment
                .applications
                .iter()
                .any(|key| library.application(key).is_some_and(|application| application.name == name))
    };
    let mut names: Vec<&str> = Vec::new();
    for row in &sources {
        if !names.contains(&row.application.as_str()) && is_wanted(&row.application) {
            names.push(&row.application);
        }
    }
    let mut rows = Vec::new();
    for derived in &experiment.derived {
        for place in places(derived) {
            let quotients: Vec<Row> = names
                .iter()
                .filter_map(|name| quotient(experiment, derived, place, name, &sources, extent))
                .collect();
            match &derived.application {
                None => rows.extend(quotients),
                Some(name) => rows.extend(chosen(derived, name, quotients)),
            }
        }
    }
    Ok(rows)
}

/// What is put in for `{configuration}` and `{threads}`.
type Place<'d> = (Option<&'d str>, Option<u32>);

fn places(derived: &Derived) -> Vec<Place<'_>> {
    let configurations: Vec<Option<&str>> = match derived.configurations.as_slice() {
        [] => vec![None],
        some => some.iter().map(|configuration| Some(configuration.as_str())).collect(),
    };
    let threads: Vec<Option<u32>> = match derived.threads.as_slice() {
        [] => vec![None],
        some => some.iter().copied().map(Some).collect(),
    };
    configurations
        .into_iter()
        .flat_map(|configuration| threads.iter().map(move |&threads| (configuration, threads)))
        .collect()
}

/// The row of one application; none where it lacks an operand.
fn quotient(
    experiment: &Experiment,
    derived: &Derived,
    place: Place,
    application: &str,
    sources: &[&Row],
    extent: Extent,
) -> Option<Row> {
    let find = |operand: &Operand| {
        let threads = place.1.map_or("*".to_owned(), |threads| threads.to_string());
        let put = |text: &str| {
            text.replace("{configuration}", place.0.unwrap_or("*")).replace("{threads}", &threads)
        };
        let (configuration, policy) = (put(&operand.configuration), put(&operand.policy));
        sources.iter().copied().find(|row| {
            row.application == application
                && row.metric == operand.metric
                && matches(&configuration, &row.own.0)
                && matches(&policy, &row.own.1)
        })
    };
    let (divide, by) = (find(&derived.divide)?, find(&derived.by)?);
    let quotient = match (divide.reproduced, by.reproduced) {
        (Some(dividend), Some(divisor)) if divisor != 0.0 => Some(dividend / divisor),
        _ => None,
    };
    let reproduced =
        quotient.map(|quotient| if derived.missing_percent { 100.0 * (1.0 - quotient) } else { quotient });
    // Of a chosen cell the labels tell where it was found, and published ones may tell another place.
    let of_row = (by.own.0.split(';').next().unwrap_or_default(), by.own.1.as_str());
    let chosen = by.chosen.as_deref().and_then(|chosen| chosen.split_once(' '));
    let (configuration, chosen_policy) = chosen.unwrap_or(of_row);
    let configuration = place.0.unwrap_or(configuration);
    let is_choice = by.wanted.0.contains('*');
    let threads = place.1.unwrap_or(by.threads);
    let own = fill(&derived.label, configuration, threads, chosen_policy);
    let wanted =
        if is_choice { fill(&derived.label, place.0.unwrap_or("*"), threads, "*") } else { own.clone() };
    let states = [divide.state, by.state];
    Some(Row {
        experiment: experiment.name.clone(),
        application: application.to_owned(),
        configuration: own.0.clone(),
        policy: own.1.clone(),
        metric: derived.metric.clone(),
        unit: derived.unit.clone(),
        published: None,
        reproduced,
        error: None,
        usage: if divide.usage == Use::Calibration && by.usage == Use::Calibration {
            Use::Calibration
        } else {
            Use::Prediction
        },
        scaled: extent == Extent::Quick,
        by_steps: divide.by_steps || by.by_steps,
        state: if states.iter().all(|&state| state == RowState::Run) {
            RowState::Run
        } else if states.iter().all(|&state| state == RowState::NotRun) {
            RowState::NotRun
        } else {
            RowState::PartlyRun
        },
        chosen: by.chosen.clone(),
        threads,
        own,
        wanted,
        also: divide.also.clone(),
    })
}

/// One row for all applications: the least or the most of theirs; without a value while one of them has none.
fn chosen(derived: &Derived, name: &str, quotients: Vec<Row>) -> Option<Row> {
    let is_whole = quotients.iter().all(|row| row.reproduced.is_some());
    let by_value = |a: &Row, b: &Row| a.reproduced.unwrap_or(0.0).total_cmp(&b.reproduced.unwrap_or(0.0));
    // The least bandwidth left is the most that is missing.
    let wants_largest = (derived.choose == Some(Choose::Most)) != derived.missing_percent;
    let mut rows = quotients.into_iter();
    let first = rows.next()?;
    let mut row = rows.fold(first, |best, row| {
        let is_larger = by_value(&row, &best).is_gt();
        let is_smaller = by_value(&row, &best).is_lt();
        if (wants_largest && is_larger) || (!wants_largest && is_smaller) { row } else { best }
    });
    if is_whole {
        row.chosen = Some(row.application.clone());
    } else {
        row.reproduced = None;
        row.state = if row.state == RowState::Run { RowState::PartlyRun } else { row.state };
    }
    row.application = name.to_owned();
    row.also = None;
    Some(row)
}
