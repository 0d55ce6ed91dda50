//! Laws of resource sets, their hierarchy and their parts, on random sets of up to 4,096 cpus and 1,024 nodes.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod machines;

use machines::{four_by_four, uneven};
use olifant_machine::{CpuId, CpuSet, NodeId, NodeSet};
use olifant_placement::{Hierarchy, HierarchyError, Level, Resource, ResourceSet, TooManyParts};
use proptest::prelude::*;

fn sets() -> impl Strategy<Value = ResourceSet> {
    let cpus = prop::collection::vec(0_u16..4096, 0..60);
    let nodes = prop::collection::vec(0_u16..1024, 0..30);
    (cpus, nodes).prop_map(|(cpus, nodes)| {
        ResourceSet::new(cpus.into_iter().map(CpuId).collect(), nodes.into_iter().map(NodeId).collect())
    })
}

proptest! {
    #[test]
    fn the_algebra_is_boolean(a in sets(), b in sets(), c in sets()) {
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.intersection(&b), b.intersection(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersection(&b.union(&c)), a.intersection(&b).union(&a.intersection(&c)));
        prop_assert_eq!(a.difference(&b.union(&c)), a.difference(&b).intersection(&a.difference(&c)));
        prop_assert_eq!(a.union(&a.intersection(&b)), a.clone());
        prop_assert_eq!(a.difference(&b).union(&a.intersection(&b)), a);
    }

    #[test]
    fn order_and_disjointness_follow_from_the_algebra(a in sets(), b in sets()) {
        prop_assert_eq!(a.is_subset(&b), a.union(&b) == b);
        prop_assert_eq!(a.is_disjoint(&b), a.intersection(&b).is_empty());
        prop_assert!(a.intersection(&b).is_subset(&a));
        prop_assert!(a.difference(&b).is_disjoint(&b));
    }

    #[test]
    fn a_set_is_its_members(set in sets()) {
        prop_assert_eq!(set.iter().collect::<ResourceSet>(), set.clone());
        prop_assert_eq!(set.iter().count(), set.cpus.len() + set.nodes.len());
        prop_assert!(set.iter().all(|member| set.contains(member)));
        let mut rest = set.clone();
        for member in set.iter() {
            prop_assert!(rest.remove(member) && !rest.contains(member) && !rest.remove(member));
        }
        prop_assert!(rest.is_empty());
    }

    #[test]
    fn parts_cover_a_set_and_share_no_cpu(
        picked in prop::collection::btree_set(0_u16..16, 1..16),
        parts in 1_usize..16,
        has_hole in any::<bool>(),
    ) {
        let hierarchy = if has_hole { uneven() } else { four_by_four() };
        let cpus: CpuSet = picked.iter().copied().map(CpuId).collect();
        let cpus = cpus.intersection(&hierarchy.system().cpus);
        prop_assume!(!cpus.is_empty());
        let set = ResourceSet::new(cpus.clone(), hierarchy.system().nodes.clone());
        match hierarchy.split(&set, parts) {
            Err(error) => {
                prop_assert_eq!(error, TooManyParts { parts, cpus: cpus.len() });
                prop_assert!(parts > cpus.len());
            }
            Ok(made) => {
                prop_assert_eq!(made.len(), parts);
                let whole = made.iter().fold(ResourceSet::empty(), |whole, part| whole.union(part));
                prop_assert_eq!(&whole, &set);
                prop_assert_eq!(made.iter().map(|part| part.cpus.len()).sum::<usize>(), cpus.len());
                prop_assert!(made.iter().all(|part| !part.nodes.is_empty()));
            }
        }
    }
}

fn cpus(text: &str) -> CpuSet {
    text.parse().unwrap()
}

fn nodes(text: &str) -> NodeSet {
    text.parse().unwrap()
}

#[test]
fn equal_parts_differ_by_one_core_at_most_and_keep_nodes_whole() {
    let hierarchy = four_by_four();
    let made = hierarchy.split(hierarchy.system(), 4).unwrap();
    let texts: Vec<String> = made.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["-c 0-3 -m 0", "-c 4-7 -m 1", "-c 8-11 -m 2", "-c 12-15 -m 3"]);
    // Three parts of eight cores of two threads each: 2, 3 and 3 cores.
    let sizes: Vec<usize> =
        hierarchy.split(hierarchy.system(), 3).unwrap().iter().map(|part| part.cpus.len()).collect();
    assert_eq!(sizes, [4, 6, 6]);
    // More parts than cores: cores are cut.
    let made = hierarchy.split(hierarchy.system(), 16).unwrap();
    assert!(made.iter().all(|part| part.cpus.len() == 1 && part.nodes.len() == 1));
    assert_eq!(hierarchy.split(hierarchy.system(), 0).unwrap_err(), TooManyParts { parts: 0, cpus: 16 });
}

#[test]
fn one_cpu_per_core_takes_the_lowest_in_the_set() {
    let hierarchy = four_by_four();
    let all = hierarchy.one_cpu_per_core(hierarchy.system());
    assert_eq!(all.cpus, cpus("0,2,4,6,8,10,12,14"));
    let some = ResourceSet::new(cpus("1-3,7"), nodes("1"));
    assert_eq!(hierarchy.one_cpu_per_core(&some), ResourceSet::new(cpus("1,2,7"), nodes("1")));
}

#[test]
fn sets_by_distance_hold_the_nearest_first() {
    let hierarchy = uneven();
    assert_eq!(hierarchy.by_distance(NodeId(0)), [NodeId(0), NodeId(5), NodeId(2), NodeId(9)]);
    assert_eq!(hierarchy.near(NodeId(0), 2), ResourceSet::new(cpus("0-3"), nodes("0,5")));
    assert_eq!(hierarchy.near(NodeId(7), 2), ResourceSet::empty());
    assert_eq!(hierarchy.distance(NodeId(2), NodeId(9)), Some(15));
}

#[test]
fn cpus_of_a_node_without_memory_have_the_nearest() {
    let hierarchy = uneven();
    // Node 2 has cpus 4-7 and no memory; node 9 is nearest to it.
    assert_eq!(hierarchy.with_local_memory(cpus("4-7")), ResourceSet::new(cpus("4-7"), nodes("9")));
    assert_eq!(hierarchy.nearest_memory(NodeId(2), &nodes("0,5")), nodes("0"));
    assert_eq!(hierarchy.sets(&Level::Cpu)[0], ResourceSet::new(cpus("0"), nodes("0")));
}

#[test]
fn levels_are_disjoint_and_within_the_system() {
    let mut hierarchy = four_by_four();
    let level = || Level::Made("mine".to_owned());
    let left = ResourceSet::new(cpus("0-3"), nodes("0"));
    let right = ResourceSet::new(cpus("3-7"), nodes("1"));
    let error = hierarchy.add(level(), vec![left.clone(), right]).unwrap_err();
    assert_eq!(error.to_string(), "level mine: sets 0 and 1 share -c 3; the sets of a level are disjoint");
    let far = ResourceSet::new(cpus("16"), NodeSet::new());
    let error = hierarchy.add(level(), vec![far]).unwrap_err();
    assert!(matches!(error, HierarchyError::Stray { place: 0, .. }), "{error}");
    hierarchy.add(level(), vec![left.clone()]).unwrap();
    assert_eq!(hierarchy.sets(&level()), [left]);
    assert_eq!(hierarchy.add(level(), vec![]).unwrap_err(), HierarchyError::Taken("mine".to_owned()));
}

#[test]
fn built_in_machines_have_a_hierarchy() {
    for name in olifant_machine::catalogue::names() {
        let machine = olifant_machine::catalogue::find(name).unwrap();
        let hierarchy = Hierarchy::of_machine(&machine).unwrap();
        assert_eq!(hierarchy.nodes().len(), machine.nodes.len());
        let cores: usize = hierarchy.sets(&Level::Core).iter().map(|core| core.cpus.len()).sum();
        assert_eq!(cores, hierarchy.system().cpus.len());
        assert!(hierarchy.system().contains(Resource::Memory(machine.nodes[0].id)));
    }
}
