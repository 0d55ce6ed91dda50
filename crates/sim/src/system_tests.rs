//! Laws of the scheduler and of parked spin-waits.

use crate::pages::Placement;
use crate::record::Increment;
use crate::system::{Next, Options, System, ThreadId};
use olifant_machine::{CpuId, Machine, catalogue};
use olifant_placement::{MemoryPolicy, ThreadPolicy};

fn machine(configuration: &str) -> Machine {
    catalogue::find("olifant").unwrap().configure(configuration).unwrap()
}

fn system(configuration: &str, threads: ThreadPolicy) -> System<()> {
    let options = Options { threads, ..Options::default() };
    System::new(&machine(configuration), options, ()).unwrap()
}

/// Cpu of each of the first `count` threads.
fn dealt(policy: ThreadPolicy, count: usize) -> Vec<usize> {
    let mut system = system("4N4", policy);
    for _ in 0..count {
        system.spawn();
    }
    system.threads().iter().map(|thread| thread.cpu).collect()
}

#[test]
fn policies_deal_threads_as_the_papers_say() {
    assert_eq!(dealt(ThreadPolicy::Fill, 6), [0, 1, 2, 3, 4, 5]);
    assert_eq!(dealt(ThreadPolicy::RoundRobin, 6), [0, 4, 8, 12, 1, 5]);
    assert_eq!(dealt(ThreadPolicy::List(vec![CpuId(9), CpuId(3)]), 4), [9, 3, 9, 3]);
    let mut floating = dealt(ThreadPolicy::Float, 16);
    floating.sort_unstable();
    assert_eq!(floating, (0..16).collect::<Vec<_>>());
}

#[test]
fn the_thread_behind_in_time_runs_next() {
    let mut system = system("4N4", ThreadPolicy::Fill);
    for _ in 0..16 {
        system.spawn();
    }
    for _ in 0..10_000 {
        let Next::Run(_) = system.choose() else { panic!("all threads are runnable") };
        let now = system.now_cycles();
        let cpus = system.engine().cpus();
        let earliest = (0..cpus).map(|cpu| system.engine_mut().now(cpu)).min();
        assert_eq!(earliest, Some(now));
        system.charge(1 + now % 700);
    }
}

#[test]
fn no_thread_runs_a_quantum_ahead_of_another() {
    let mut system = system("2N2", ThreadPolicy::Fill);
    for _ in 0..4 {
        system.spawn();
    }
    for _ in 0..2000 {
        system.choose();
        while !system.must_switch() {
            system.charge(7);
        }
        let clocks: Vec<u64> = (0..4).map(|cpu| system.engine_mut().now(cpu)).collect();
        let spread = clocks.iter().max().unwrap() - clocks.iter().min().unwrap();
        assert!(spread <= 1000 + 7, "{clocks:?}");
    }
}

/// Stalls count: a thread whose misses take it past its turn's end gives way there, not after so many instructions.
#[test]
fn a_thread_that_misses_gives_way_where_its_clock_passes_the_quantum() {
    let mut system = system("2N2", ThreadPolicy::Fill);
    for _ in 0..4 {
        system.spawn();
    }
    let mut next = [0u64; 4];
    for _ in 0..2000 {
        system.choose();
        let cpu = system.current_cpu();
        while !system.must_switch() {
            next[cpu] += 1;
            system.access(
                0x1000_0000 + (cpu as u64) * 0x100_0000 + next[cpu] * 32,
                Increment::read(20),
                0,
                0,
            );
            let now = system.engine_mut().now(cpu);
            let others = (0..4).filter(|&other| other != cpu);
            let behind = others.map(|other| system.engine_mut().now(other)).min().unwrap();
            assert!(system.must_switch() || now <= behind + 1000, "{now} is far ahead of {behind}");
        }
    }
}

/// Stamps have 32 bits and are moved down in time: nothing happens where a processor passes 2^32 instructions.
#[test]
fn threads_run_on_past_two_to_the_32_instructions() {
    let mut system = system("1N2", ThreadPolicy::Fill);
    for _ in 0..2 {
        system.spawn();
    }
    let mut turns = 0;
    while (0..2).any(|cpu| system.engine_mut().now(cpu) < 5 << 30) {
        assert!(matches!(system.choose(), Next::Run(_)));
        system.charge(3_000_000);
        let cpu = system.current_cpu();
        system.access(0x1000_0000 + cpu as u64 * 0x1000, Increment::write(1), 0, 0);
        turns += 1;
        assert!(turns < 10_000, "the clocks stand still");
    }
    system.engine().check_invariants().unwrap();
}

#[test]
fn a_woken_thread_starts_at_its_wakers_time() {
    let mut system = system("1N2", ThreadPolicy::Fill);
    system.spawn();
    let other = system.spawn();
    assert_eq!(system.choose(), Next::Run(ThreadId(0)));
    system.charge(5000);
    assert_eq!(system.choose(), Next::Run(other));
    system.block();
    assert_eq!(system.choose(), Next::Run(ThreadId(0)));
    system.charge(20_000);
    let now = system.now_cycles();
    system.wake(other);
    system.block();
    assert_eq!(system.choose(), Next::Run(other));
    assert_eq!(system.now_cycles(), now);
    system.exit();
    assert_eq!(system.choose(), Next::AllBlocked);
}

#[test]
fn a_sleeper_wakes_at_its_time_and_not_before_others_have_come_there() {
    let mut system = system("1N2", ThreadPolicy::Fill);
    system.spawn();
    let sleeper = system.spawn();
    system.choose();
    assert_eq!(system.choose(), Next::Run(ThreadId(0)));
    system.charge(2000);
    assert_eq!(system.choose(), Next::Run(sleeper));
    system.sleep_until(50_000);
    while system.choose() == Next::Run(ThreadId(0)) {
        system.charge(100);
    }
    assert_eq!(system.current(), sleeper);
    assert_eq!(system.now_cycles(), 50_000);
    assert!(system.timed_out(sleeper));
    let main = system.engine_mut().now(0);
    assert!((50_000..51_200).contains(&main), "{main}");
}

#[test]
fn threads_beyond_the_processors_are_refused_unless_they_may_take_turns() {
    for allow_oversubscription in [false, true] {
        let options = Options { allow_oversubscription, ..Options::default() };
        let mut system = System::new(&machine("1N2"), options, ()).unwrap();
        for _ in 0..3 {
            system.spawn();
        }
        let mut seen = [0u64; 3];
        let mut refused = None;
        for _ in 0..1_000_000 {
            match system.choose() {
                Next::Run(thread) => {
                    seen[thread.index()] += 1;
                    system.charge(20_000);
                }
                other => {
                    refused = Some(other);
                    break;
                }
            }
            if seen.iter().all(|&turns| turns > 100) {
                break;
            }
        }
        if allow_oversubscription {
            assert_eq!(refused, None);
            assert!(seen.iter().all(|&turns| turns > 100), "{seen:?}");
        } else {
            assert_eq!(refused, Some(Next::Oversubscribed { threads: 3, cpus: 2 }));
        }
    }
}

/// One thread polls a flag while another computes for `work` instructions and then sets it. Returns the polling
/// thread's reads and clock, and how often it was run.
fn spin_on_a_flag(work: u64) -> (u64, u64, u64) {
    const FLAG: u64 = 0x10_0000;
    let mut system = system("2N1", ThreadPolicy::Fill);
    system.spawn();
    let poller = system.spawn();
    let mut left = work;
    let mut polls = 0;
    let mut turns = 0;
    loop {
        let Next::Run(thread) = system.choose() else { panic!("nobody waits for good") };
        if thread == poller {
            turns += 1;
            while !system.must_switch() {
                polls += 1;
                if left == 0 && system.now_cycles() > work {
                    let now = system.now_cycles();
                    let reads = system.engine_mut().counters(1).reads;
                    return (reads, now, polls);
                }
                // A hook would serve the hit by itself; the effect on the counters is the same.
                system.access(FLAG, Increment::read(3), 0x400, 77);
            }
        } else if left > 0 {
            let part = left.min(500);
            system.charge(part);
            left -= part;
            if left == 0 {
                system.access(FLAG, Increment::write(3), 0x500, 0);
            }
        } else {
            system.block();
        }
        assert!(turns < 1_000_000, "the poller is not parked");
    }
}

#[test]
fn a_spin_wait_costs_host_work_that_does_not_grow_with_the_wait() {
    let (short_reads, short_clock, short_polls) = spin_on_a_flag(100_000);
    let (long_reads, long_clock, long_polls) = spin_on_a_flag(10_000_000);
    assert!(long_polls < short_polls + 4000, "{short_polls} {long_polls}");
    // Three instructions a poll at one cycle each: the polls are accounted as if they had been made.
    for (reads, clock) in [(short_reads, short_clock), (long_reads, long_clock)] {
        let expected = clock / 3;
        assert!(reads.abs_diff(expected) * 50 < expected, "{reads} reads in {clock} cycles");
    }
    assert!((10_000_000..10_010_000).contains(&long_clock), "{long_clock}");
}

/// Pages in use on each node after thread 0, on node 0, locked so many.
fn pages_after_locking(memory: MemoryPolicy, pages: u64) -> Vec<u64> {
    let options = Options { memory: memory.clone(), ..Options::default() };
    let mut system: System<()> = System::new(&machine("4N4"), options, ()).unwrap();
    system.spawn();
    system.map(0x4000_0000, pages << 12, Placement::Policy(memory));
    system.lock(0x4000_0000, pages << 12);
    (0..4).map(|node| system.engine_mut().node_counts(node).pages).collect()
}

#[test]
fn locked_memory_is_in_the_working_set_before_anybody_touches_it() {
    assert_eq!(pages_after_locking(MemoryPolicy::Local, 100), [100, 0, 0, 0]);
    assert_eq!(pages_after_locking(MemoryPolicy::FirstTouch, 100), [0, 0, 0, 0], "waits for the touch");
    assert_eq!(pages_after_locking(MemoryPolicy::Striped { pages: 1 }, 100), [25, 25, 25, 25]);
    assert_eq!(pages_after_locking(MemoryPolicy::Remote, 99), [0, 33, 33, 33]);
}

#[test]
fn locking_costs_its_thread_no_time() {
    let mut system = system("4N4", ThreadPolicy::Fill);
    system.spawn();
    let before = system.now_cycles();
    system.lock(0x4000_0000, 1 << 20);
    assert_eq!(system.now_cycles(), before);
}

#[test]
fn a_processor_without_work_takes_over_a_floating_thread_that_waits_for_its_turn() {
    for (policy, moved) in [(ThreadPolicy::Float, true), (ThreadPolicy::Fill, false)] {
        let options = Options { threads: policy, allow_oversubscription: true, ..Options::default() };
        let mut system: System<()> = System::new(&machine("1N2"), options, ()).unwrap();
        let ids: Vec<ThreadId> = (0..4).map(|_| system.spawn()).collect();
        let of_first: Vec<usize> = ids.iter().map(|id| system.threads()[id.index()].cpu).collect();
        // Both threads of the first thread's processor end: it has nothing left of its own.
        let cpu = of_first[0];
        let mut ended = 0;
        while ended < 2 {
            let Next::Run(id) = system.choose() else { panic!("there are threads to run") };
            if system.threads()[id.index()].cpu == cpu && of_first[id.index()] == cpu {
                system.exit();
                ended += 1;
            } else {
                system.charge(100);
            }
        }
        let is_there = system.threads().iter().filter(|thread| thread.cpu == cpu).count() > 2;
        assert_eq!(is_there, moved);
    }
}
