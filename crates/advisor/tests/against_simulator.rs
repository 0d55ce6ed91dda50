//! The forecast against the simulator: programs run striped, advised, and run again under the plan. The errors found here
//! are the ones that docs/plan.md states; each test prints its own.
#![allow(clippy::print_stdout, reason = "the errors found are the point")]

mod simulated;

use olifant_advisor::{Advice, Options, Verdict, advise};
use simulated::{PAGE, Program, Step, machine};

/// A run before, the advice on it, and how the run after compares with the forecast.
struct Trial {
    advice: Advice,
    /// Network packets after, as a share of before.
    packets_ratio: f64,
    /// Seconds after, as a share of before.
    time_ratio: f64,
    /// Remote transactions after, as a share of the forecast's.
    remote_error: f64,
}

fn trial(name: &str, program: &Program) -> Trial {
    let before = program.run(None);
    let advice = advise(&before, &machine(), &Options::default());
    let after = program.run(Some(&advice.plan));
    let packets =
        |totals: &olifant_opium::profile::Totals| (totals.request_packets + totals.response_packets) as f64;
    let trial = Trial {
        packets_ratio: packets(&after.totals) / packets(&before.totals),
        time_ratio: after.totals.seconds / before.totals.seconds,
        remote_error: after.totals.remote_transactions as f64 / advice.effect.remote_after.max(1) as f64,
        advice,
    };
    println!(
        "{name}: remote {} -> {} forecast, {} simulated; packets x {:.3}; time x {:.3} forecast, {:.3} simulated",
        trial.advice.effect.remote_before,
        trial.advice.effect.remote_after,
        after.totals.remote_transactions,
        trial.packets_ratio,
        trial.advice.effect.time_ratio,
        trial.time_ratio
    );
    trial
}

impl Trial {
    /// The forecast time is at most so much shorter, and at most so much longer, than the simulated one; docs/plan.md
    /// states the errors found.
    fn assert_forecast(&self, too_short: f64, too_long: f64) {
        let off = self.advice.effect.time_ratio / self.time_ratio;
        assert!((1.0 / (1.0 + too_short)..1.0 + too_long).contains(&off), "time off by {off}");
    }
}

/// Lines that a sweep touches.
const LINE: u64 = 32;

#[test]
fn bands_with_shared_edges() {
    // Each thread sweeps 40 pages of its own three times, and reads half a page of its neighbour's.
    let program = Program {
        areas: vec![16 * 40],
        phases: 4,
        step: |thread, phase, step| {
            let band = 40 * PAGE;
            let offset = step * LINE;
            let shared = PAGE / 2;
            (offset < band + shared).then(|| Step {
                area: 0,
                offset: if offset < band {
                    thread * band + offset
                } else {
                    (thread + 1) % 16 * band + offset - band
                },
                bytes: LINE,
                is_write: phase == 0 || step % 2 == 0 && offset < band,
                instructions: 20,
            })
        },
    };
    let trial = trial("bands", &program);
    assert_eq!(trial.advice.verdict, Verdict::Tune);
    assert!(trial.packets_ratio < 0.05, "{}", trial.packets_ratio);
    assert!(trial.time_ratio < 0.6, "{}", trial.time_ratio);
    // Untuned, all threads are at one node at the same moment, then at the next; see docs/plan.md.
    trial.assert_forecast(0.25, 0.4);
}

/// Two matrices of 16 x 16 blocks of one page. In odd phases a thread reads a column of blocks, beginning with its block
/// `first`, and writes its row of the other matrix; in even phases it reads and writes its own row.
fn transpose(thread: u64, phase: usize, step: u64, first: u64) -> Option<Step> {
    let row = 16 * PAGE;
    let offset = step / 2 * LINE;
    let is_write = step % 2 == 1;
    let block = (offset / PAGE + first) % 16;
    let column = block * row + thread * PAGE + offset % PAGE;
    let own = thread * row + offset;
    (offset < row).then(|| Step {
        area: usize::from(is_write ^ (phase.is_multiple_of(2))),
        offset: if is_write || phase.is_multiple_of(2) { own } else { column },
        bytes: LINE,
        is_write,
        instructions: 30,
    })
}

#[test]
fn transposition_in_turns() {
    let step = |thread, phase, step| transpose(thread, phase, step, thread);
    let trial = trial("transposition in turns", &Program { areas: vec![256, 256], phases: 5, step });
    assert_eq!(trial.advice.verdict, Verdict::Tune);
    assert!(trial.packets_ratio < 0.6, "{}", trial.packets_ratio);
    trial.assert_forecast(0.25, 0.25);
}

/// All threads read the same thread's row at the same moment, and its node is the bottleneck, then the next. A profile
/// knows no moments, so the forecast is too fast; the advice is still right.
#[test]
fn transposition_in_step() {
    let step = |thread, phase, step| transpose(thread, phase, step, 0);
    let trial = trial("transposition in step", &Program { areas: vec![256, 256], phases: 5, step });
    assert_eq!(trial.advice.verdict, Verdict::Tune);
    assert!(trial.packets_ratio < 0.6, "{}", trial.packets_ratio);
    assert!(trial.time_ratio < 0.8, "{}", trial.time_ratio);
    trial.assert_forecast(0.5, 0.3);
}

#[test]
fn neighbours_far_apart_in_number() {
    // Threads t, t+4, t+8 and t+12 read what the others of the four wrote, in turn.
    let program = Program {
        areas: vec![16 * 36],
        phases: 9,
        step: |thread, phase, step| {
            let band = 36 * PAGE;
            let offset = step * LINE;
            let other = (thread + 4 * (phase as u64 % 4)) % 16;
            (offset < band).then(|| Step {
                area: 0,
                offset: other * band + offset,
                bytes: LINE,
                is_write: phase.is_multiple_of(4),
                instructions: 20,
            })
        },
    };
    let trial = trial("neighbours", &program);
    assert_eq!(trial.advice.verdict, Verdict::Tune);
    assert_eq!(trial.advice.effect.remote_after, 0);
    assert!(trial.packets_ratio < 0.1, "{}", trial.packets_ratio);
    // Untuned, all threads are at one node at the same moment, then at the next; see docs/plan.md.
    trial.assert_forecast(0.25, 0.4);
}

#[test]
fn scattered_use_by_all_is_left_alone() {
    // Every thread reads lines all over one array: pages are used evenly, and striped they were already.
    let program = Program {
        areas: vec![256],
        phases: 2,
        step: |thread, _, step| {
            (step < 8_000).then(|| Step {
                area: 0,
                offset: (step * 7919 + thread * 104_729) % (256 * PAGE / LINE) * LINE,
                bytes: LINE,
                is_write: step % 16 == 0,
                instructions: 40,
            })
        },
    };
    let before = program.run(None);
    let advice = advise(&before, &machine(), &Options::default());
    assert!(matches!(advice.verdict, Verdict::LeaveAlone { .. }), "{advice:?}");
}

#[test]
fn little_memory_traffic_gains_little_time() {
    let program = Program {
        areas: vec![16 * 40],
        phases: 2,
        step: |thread, _, step| {
            let offset = step * LINE;
            (offset < 40 * PAGE).then(|| Step {
                area: 0,
                offset: thread * 40 * PAGE + offset,
                bytes: LINE,
                is_write: step % 4 == 0,
                instructions: 3000,
            })
        },
    };
    let trial = trial("computation", &program);
    assert!(trial.time_ratio > 0.85, "{}", trial.time_ratio);
    trial.assert_forecast(0.05, 0.05);
    assert!((0.9..1.1).contains(&trial.remote_error) || trial.advice.effect.remote_after == 0);
}
