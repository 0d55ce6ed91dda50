//! Makes runs that are missing, several at a time, and keeps each record as soon as it is there.
//!
//! The order of the runs is the caller's; which run ends first does not matter to anything that is kept.

use crate::{LedgerError, Record, Records, RunDefinition};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Something that can make a run.
pub trait Runner: Sync {
    /// Makes a run and returns what it gave.
    /// # Errors  The run could not be made, or was cut short.
    fn run(&self, definition: &RunDefinition) -> Result<Record, LedgerError>;
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A run began.
    Started {
        /// Which.
        run: &'a RunDefinition,
    },
    /// A run ended, with or without success.
    Ended {
        /// Which.
        run: &'a RunDefinition,
        /// Runs that have ended.
        done: usize,
        /// Runs to be made.
        all: usize,
        /// Estimate of the time left, from the mean of those that have ended.
        left: Duration,
    },
}

/// A run that could not be made.
#[derive(Debug)]
pub struct Failure {
    /// Which.
    pub run: RunDefinition,
    /// Why.
    pub error: LedgerError,
}

/// Makes `runs`, so many at a time, until all are made or `stop` is set; keeps their records. A failure does not keep the
/// others from being made.
pub fn execute(
    runs: &[&RunDefinition],
    records: &Records,
    runner: &dyn Runner,
    at_a_time: usize,
    stop: &AtomicBool,
    tell: &(dyn Fn(Event) + Sync),
) -> Vec<Failure> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..at_a_time.clamp(1, runs.len().max(1)) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let Some(run) = runs.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    tell(Event::Started { run });
                    let outcome = runner.run(run).and_then(|record| records.keep(&record));
                    if let Err(error) = outcome {
                        let failure = Failure { run: (*run).clone(), error };
                        failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(failure);
                    }
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    let left = left(began.elapsed(), done, runs.len());
                    tell(Event::Ended { run, done, all: runs.len(), left });
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    failures.sort_by_key(|failure| failure.run.key());
    failures
}

/// The time left if the rest goes on as what is done.
fn left(elapsed: Duration, done: usize, all: usize) -> Duration {
    elapsed.mul_f64((all - done) as f64 / done as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_takes_the_rest_to_go_on_as_before() {
        let minute = Duration::from_secs(60);
        assert_eq!(left(minute, 1, 4), 3 * minute);
        assert_eq!(left(minute, 4, 4), Duration::ZERO);
    }
}
