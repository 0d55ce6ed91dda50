//! Calls of the library on whatever machine the tests run on: each needs one node only.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use core::ops::ControlFlow;
use olifant_machine::{CpuSet, NodeSet};
use olifant_sys::page_size;
use rset::{
    Cause, Error, Existing, Heap, Pace, Pid, PlaceOptions, Reach, RegionOptions, Replicated, ResourceSet,
    SetPolicy, System, Team, ThreadPolicy, Tid,
};

fn system() -> System {
    System::find().unwrap()
}

#[test]
fn the_allowed_set_is_within_the_system() {
    let system = system();
    let allowed = system.allowed().unwrap();
    assert!(allowed.is_subset(system.hierarchy().system()));
    assert!(!allowed.cpus.is_empty() && !allowed.nodes.is_empty());
    assert_eq!(system.parse("all").unwrap(), *system.hierarchy().system());
}

#[test]
fn a_bound_thread_is_bound_as_read_back_and_its_children_inherit() {
    let system = system();
    std::thread::spawn(move || {
        let allowed = system.allowed().unwrap();
        let cpu: CpuSet = allowed.cpus.first().into_iter().collect();
        let set = ResourceSet::new(cpu.clone(), allowed.nodes.clone());
        let binding = system.bind_here(&set).unwrap();
        assert_eq!((binding.cpus, binding.nodes), (cpu.clone(), Some(allowed.nodes)));
        let child = std::thread::spawn(move || system.binding_here().unwrap().cpus).join().unwrap();
        assert_eq!(child, cpu);
    })
    .join()
    .unwrap();
}

#[test]
fn an_empty_set_binds_nothing_and_is_refused() {
    let system = system();
    let error = system.bind_here(&ResourceSet::empty()).unwrap_err();
    assert!(matches!(error.cause(), Some(Cause::Empty { .. })), "{error}");
    let error = system.bind_thread(Tid::CALLING, &ResourceSet::empty()).unwrap_err();
    assert_eq!(error.to_string(), "bind the calling thread: the set has no cpus");
}

#[test]
fn populated_memory_is_all_at_home_and_lazy_memory_absent() {
    let system = system();
    let set = system.allowed().unwrap();
    for policy in ["any", "first-touch", "local", "striped:2", "striped"] {
        let policy: SetPolicy = policy.parse().unwrap();
        let options = RegionOptions { populate: true, ..Default::default() };
        let (region, found) = system.allocate(64 * page_size(), &set, &policy, &options).unwrap();
        assert_eq!((found.pages, found.at_home, found.absent), (64, 64, 0), "{policy}: {found}");
        assert_eq!(region.read_back(&system).unwrap().at_home, 64);
        let (_, found) = system.allocate(64 * page_size(), &set, &policy, &Default::default()).unwrap();
        assert_eq!((found.pages, found.absent), (64, 64), "{policy}: {found}");
    }
}

#[test]
fn locked_memory_is_all_there_or_the_limit_is_named() {
    let system = system();
    let set = system.allowed().unwrap();
    let options = RegionOptions { lock: true, ..Default::default() };
    match system.allocate(16 * page_size(), &set, &SetPolicy::Any, &options) {
        Ok((_, found)) => assert_eq!((found.at_home, found.absent), (16, 0), "{found}"),
        Err(error) => assert!(error.to_string().contains("ulimit -l"), "{error}"),
    }
}

#[test]
fn an_existing_range_is_placed_and_counted() {
    let system = system();
    let memory = vec![1_u8; 40 * page_size()];
    let start = memory.as_ptr().addr();
    let set = system.allowed().unwrap();
    for existing in [Existing::Stay, Existing::Move(Reach::Own)] {
        let options = PlaceOptions { existing, ..Default::default() };
        let found = system.place(start..start + memory.len(), &set, &SetPolicy::Any, &options).unwrap();
        assert!(found.is_whole() && found.at_home >= 40, "{found}");
    }
    let error = system.place(start..start, &set, &SetPolicy::Any, &PlaceOptions::default()).unwrap_err();
    assert!(error.to_string().ends_with("the range is empty"), "{error}");
}

#[test]
fn a_policy_without_memory_to_use_is_refused() {
    let system = system();
    let bare = ResourceSet::new(system.allowed().unwrap().cpus, NodeSet::new());
    let error = system.allocate(1, &bare, &SetPolicy::Any, &Default::default()).unwrap_err();
    assert!(matches!(error, Error::Policy(_)), "{error}");
}

#[test]
fn a_stopped_move_reports_what_it_saw() {
    let system = system();
    let set = system.allowed().unwrap();
    let options = RegionOptions { populate: true, ..Default::default() };
    let (region, _) = system.allocate(100 * page_size(), &set, &SetPolicy::Any, &options).unwrap();
    let pace = Pace { pages: 10, ..Pace::default() };
    let mut calls = 0;
    let found = system
        .move_home(Pid::CALLING, region.range(), region.spread(), Reach::Own, pace, |progress| {
            calls += 1;
            assert_eq!((progress.seen, progress.pages), (calls * 10, 100));
            if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .unwrap();
    assert_eq!((calls, found.pages), (3, 30));
}

#[test]
fn every_thread_of_a_team_works_once_where_it_should() {
    let system = system();
    let set = system.allowed().unwrap();
    for policy in [ThreadPolicy::Fill, ThreadPolicy::RoundRobin, ThreadPolicy::Float] {
        let team = Team::new(&system, &set, &policy, 5).unwrap();
        let numbers = team
            .run(|member| {
                assert_eq!(system.binding_here().unwrap().cpus, member.place.cpus);
                member.number
            })
            .unwrap();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
    }
    let mut far = system.hierarchy().system().cpus.clone();
    far.insert(olifant_machine::CpuId(50_000));
    let set = ResourceSet::new(far, set.nodes);
    let list = ThreadPolicy::List(vec![olifant_machine::CpuId(50_000)]);
    let error = Team::new(&system, &set, &list, 2).unwrap().run(|_| panic!("no work may run")).unwrap_err();
    assert!(matches!(error.cause(), Some(Cause::NotOnline { .. })), "{error}");
}

#[test]
fn a_parallel_loop_covers_a_range_once() {
    let system = system();
    let team = Team::new(&system, &system.allowed().unwrap(), &ThreadPolicy::Fill, 3).unwrap();
    for range in [0..0, 5..7, 0..100] {
        let seen = std::sync::Mutex::new(Vec::new());
        team.parallel_for(range.clone(), |part, _| seen.lock().unwrap().extend(part)).unwrap();
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        assert_eq!(seen, range.collect::<Vec<usize>>());
    }
}

#[test]
fn a_new_version_reaches_readers_and_the_old_one_lives_on_with_its_reader() {
    let system = system();
    let set = system.allowed().unwrap();
    let replicated = Replicated::new(&system, &set, b"first").unwrap();
    let old = replicated.read().unwrap();
    assert_eq!(replicated.publish(b"second, and longer").unwrap(), 2);
    assert_eq!((&*old, old.version()), (&b"first"[..], 1));
    let new = replicated.read().unwrap();
    assert_eq!((&*new, new.version()), (&b"second, and longer"[..], 2));
    assert!(replicated.read_back().unwrap().iter().all(|(_, found)| found.is_whole() && found.absent == 0));
    assert!(replicated.publish(b"").is_err());
    assert_eq!(&*replicated.read().unwrap(), b"second, and longer");
}

#[test]
fn readers_never_see_a_mixture_of_versions() {
    let system = system();
    let set = system.allowed().unwrap();
    let replicated = Replicated::new(&system, &set, &[1; 5000]).unwrap();
    std::thread::scope(|scope| {
        let publisher = scope.spawn(|| {
            for version in 2..60 {
                replicated.publish(&[version; 5000]).unwrap();
            }
        });
        while !publisher.is_finished() {
            let reading = replicated.read().unwrap();
            assert!(reading.iter().all(|&byte| u64::from(byte) == reading.version()));
        }
    });
}

#[test]
fn a_heap_serves_all_threads_and_its_arenas_serve_the_next_heap() {
    let system = system();
    let set = system.allowed().unwrap();
    let heap = Heap::new(&system, &set, &SetPolicy::Any).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for size in [1, 100, 10_000, 3 << 20] {
                    let block = heap.allocate(size, 64).unwrap();
                    assert!(heap.contains(block));
                    assert_eq!(block.as_ptr().addr() % 64, 0);
                }
            });
        }
    });
    assert!(heap.allocate(1, 1 << 20).is_none());
    // What no arena holds is refused, however often, and the heap goes on.
    for _ in 0..30 {
        assert!(heap.allocate(6 << 30, 1).is_none());
    }
    let block = heap.allocate(1, 1).unwrap();
    drop(heap);
    let next = Heap::new(&system, &set, &SetPolicy::Any).unwrap();
    assert!(next.contains(block));
}
