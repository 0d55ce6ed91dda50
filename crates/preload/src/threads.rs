//! Where each thread runs: the order, the threads left out, and those with cpus of their own. A thread binds itself before
//! it runs any of the program's code, and reads back what came of it.

use crate::counters;
use crate::naming::fits;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use olifant_frontend::inside::{InsideSpec, ThreadRule, ThreadRules, WhichThreads};
use olifant_machine::{CpuId, CpuSet};
use olifant_sys::{Tid, affinity, set_affinity};
use std::sync::OnceLock;

/// Whether threads of this process are placed. A forked child is not, unless children are placed too.
static IS_PLACING: AtomicBool = AtomicBool::new(false);
static BOUND: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static RULES: OnceLock<Rules> = OnceLock::new();

/// What is wanted, and what was before.
pub struct Rules {
    threads: ThreadRules,
    /// The cpus that the program was started on.
    original: CpuSet,
    /// Whether children are placed in the same order.
    pub has_children: bool,
}

/// What a thread is to do.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    /// Run on these cpus.
    Run(CpuSet),
    /// Run where the process was started, whatever the thread that made this one is bound to.
    Original,
}

/// Places threads by the specification's rules from now on, beginning with the calling thread, the process's first.
pub fn begin(spec: &InsideSpec) {
    let threads = &spec.threads;
    let is_wanted = threads.process.as_deref().is_none_or(|name| name == process_name());
    let has_rules = !threads.order.is_empty() || !threads.own.is_empty();
    let original = spec.cpus.iter().copied().collect();
    let _ = RULES.set(Rules { threads: threads.clone(), original, has_children: spec.has_children });
    if !has_rules || !is_wanted {
        return;
    }
    IS_PLACING.store(true, Ordering::Release);
    let process = std::process::id();
    let counters = counters::current();
    // A child that became another program has had its number since it was forked.
    if !counters.knows(process) {
        counters.note(process);
        place_calling(counters.next_thread());
    }
}

/// The rules, if threads of this process are placed.
pub fn rules() -> Option<&'static Rules> {
    if IS_PLACING.load(Ordering::Acquire) { RULES.get() } else { None }
}

/// Threads bound, and refused by the kernel.
pub fn counts() -> (u64, u64) {
    (BOUND.load(Ordering::Relaxed), REFUSED.load(Ordering::Relaxed))
}

/// Binds the calling thread, which has this number.
pub fn place_calling(number: u32) {
    let Some(rules) = rules() else { return };
    let wish = rules.wish(number, &calling_name(), || counters::current().next_place());
    rules.carry_out(Tid::CALLING, &wish);
}

/// A thread has a new name: a rule may be for it.
pub fn renamed(thread: Tid, name: &[u8]) {
    let Some(rules) = rules() else { return };
    let named = rules.threads.own.iter().find(|rule| match &rule.which {
        WhichThreads::Name(pattern) => fits(pattern.as_bytes(), name),
        WhichThreads::Numbers(..) => false,
    });
    if let Some(rule) = named {
        rules.carry_out(thread, &wish_of(rule));
    }
}

/// What a forked child does: takes the next number, or runs where the process was started.
pub fn forked() {
    let Some(rules) = rules() else { return };
    if rules.has_children {
        let counters = counters::current();
        counters.note(std::process::id());
        place_calling(counters.next_thread());
    } else {
        IS_PLACING.store(false, Ordering::Release);
        let _ = set_affinity(Tid::CALLING, &rules.original);
    }
}

impl Rules {
    /// The cpus that the program was started on.
    pub fn original(&self) -> &CpuSet {
        &self.original
    }

    /// What a thread of this number and name is to do; one that goes by the order takes the next place in it.
    fn wish(&self, number: u32, name: &[u8], next_place: impl FnOnce() -> u32) -> Wish {
        let rules = &self.threads;
        if rules.skip.contains(&number) {
            return Wish::Original;
        }
        if let Some(rule) = rules.own.iter().find(|rule| is_for(rule, number, name)) {
            return wish_of(rule);
        }
        if rules.order.is_empty() {
            return Wish::Original;
        }
        let cpu: CpuId = rules.order[next_place() as usize % rules.order.len()];
        Wish::Run([cpu].into_iter().collect())
    }

    fn carry_out(&self, thread: Tid, wish: &Wish) {
        let cpus = match wish {
            Wish::Run(cpus) => cpus,
            Wish::Original => &self.original,
        };
        let is_done = set_affinity(thread, cpus).is_ok() && affinity(thread).is_ok_and(|now| now == *cpus);
        match wish {
            Wish::Run(_) if is_done => BOUND.fetch_add(1, Ordering::Relaxed),
            _ if is_done => 0,
            _ => REFUSED.fetch_add(1, Ordering::Relaxed),
        };
    }
}

fn is_for(rule: &ThreadRule, number: u32, name: &[u8]) -> bool {
    match &rule.which {
        WhichThreads::Numbers(first, last) => (*first..=*last).contains(&number),
        WhichThreads::Name(pattern) => fits(pattern.as_bytes(), name),
    }
}

fn wish_of(rule: &ThreadRule) -> Wish {
    if rule.cpus.is_empty() { Wish::Original } else { Wish::Run(rule.cpus.iter().copied().collect()) }
}

/// The calling thread's name; a new thread has that of the thread that made it.
fn calling_name() -> Vec<u8> {
    // A name has 15 letters at most, and a zero behind them.
    let mut name = [0_u8; 16];
    // SAFETY: PR_GET_NAME writes at most 16 bytes.
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_NAME, name.as_mut_ptr()) };
    name.split(|&letter| letter == 0).next().unwrap_or_default().to_vec()
}

fn process_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpus(text: &str) -> CpuSet {
        text.parse().unwrap()
    }

    fn rules() -> Rules {
        let own = |which, list: &str| ThreadRule { which, cpus: cpus(list).iter().collect() };
        Rules {
            threads: ThreadRules {
                order: vec![CpuId(4), CpuId(6)],
                skip: vec![1],
                own: vec![
                    own(WhichThreads::Numbers(3, 3), "0-1"),
                    own(WhichThreads::Name("io*".into()), "7"),
                    own(WhichThreads::Name("log".into()), ""),
                ],
                process: None,
            },
            original: cpus("0-7"),
            has_children: false,
        }
    }

    #[test]
    fn threads_take_the_order_in_turn_and_those_left_out_or_ruled_take_no_place() {
        let rules = rules();
        let mut places = 0;
        let names = ["main", "main", "main", "main", "io-1", "log", "main"];
        let wishes: Vec<Wish> = names
            .iter()
            .zip(0..)
            .map(|(name, number)| {
                rules.wish(number, name.as_bytes(), || {
                    places += 1;
                    places - 1
                })
            })
            .collect();
        let run = |list| Wish::Run(cpus(list));
        let expected = [run("4"), Wish::Original, run("6"), run("0-1"), run("7"), Wish::Original, run("4")];
        assert_eq!(wishes, expected);
    }
}
