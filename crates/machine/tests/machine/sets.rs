//! Sets of ids: algebra against a plain set, and their text forms.

use olifant_machine::{CpuId, CpuSet, NodeId, NodeSet};
use proptest::collection::btree_set;
use proptest::prelude::*;
use std::collections::BTreeSet;

type Plain = BTreeSet<u16>;

fn plain() -> impl Strategy<Value = Plain> {
    prop_oneof![btree_set(0..100_u16, 0..60), btree_set(any::<u16>(), 0..20), Just(Plain::new())]
}

fn set(plain: &Plain) -> CpuSet {
    plain.iter().copied().map(CpuId).collect()
}

fn members(set: &CpuSet) -> Plain {
    set.iter().map(|cpu| cpu.0).collect()
}

proptest! {
    #[test]
    fn operations_agree_with_a_plain_set(a in plain(), b in plain(), member: u16) {
        let (x, y) = (set(&a), set(&b));
        prop_assert_eq!(members(&x.union(&y)), a.union(&b).copied().collect::<Plain>());
        prop_assert_eq!(members(&x.intersection(&y)), a.intersection(&b).copied().collect::<Plain>());
        prop_assert_eq!(members(&x.difference(&y)), a.difference(&b).copied().collect::<Plain>());
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(x.is_disjoint(&y), a.is_disjoint(&b));
        prop_assert_eq!(x.contains(CpuId(member)), a.contains(&member));
        prop_assert_eq!((x.len(), x.is_empty()), (a.len(), a.is_empty()));
        prop_assert_eq!(x.first().map(|cpu| cpu.0), a.first().copied());
        prop_assert!(x.iter().is_sorted());
    }

    #[test]
    fn equal_members_make_equal_sets_however_they_came_about(a in plain(), b in plain()) {
        let mut grown_and_shrunk = set(&a);
        grown_and_shrunk.extend(b.iter().copied().map(CpuId));
        for &extra in b.difference(&a) {
            prop_assert!(grown_and_shrunk.remove(CpuId(extra)));
            prop_assert!(!grown_and_shrunk.remove(CpuId(extra)));
        }
        prop_assert_eq!(&grown_and_shrunk, &set(&a));
        prop_assert_eq!(set(&a).difference(&set(&b)).union(&set(&a).intersection(&set(&b))), set(&a));
    }

    #[test]
    fn a_set_reads_back_from_its_list(a in plain()) {
        let set = set(&a);
        prop_assert_eq!(set.to_string().parse::<CpuSet>().unwrap(), set);
    }

    #[test]
    fn a_set_reads_back_from_its_mask(a in plain()) {
        let set = set(&a);
        prop_assert_eq!(CpuSet::from_mask(&set.to_mask()).unwrap(), set);
    }

    #[test]
    fn a_step_takes_every_so_many_th_of_a_range(first in 0..500_u16, length in 0..500_u16, step in 1..20_u16) {
        let last = first + length;
        let read: CpuSet = format!("{first}-{last}:{step}").parse().unwrap();
        prop_assert_eq!(members(&read), (first..=last).step_by(usize::from(step)).collect::<Plain>());
    }

    #[test]
    fn no_text_makes_a_reader_panic_and_errors_point_into_the_text(text in "[-0-9a-fx:,/ é]{0,12}") {
        for error in [text.parse::<CpuSet>().err(), CpuSet::from_mask(&text).err()].into_iter().flatten() {
            prop_assert!(error.at <= text.chars().count(), "{error}");
        }
    }
}

#[test]
fn lists_are_read_as_linux_and_taskset_write_them() {
    for (text, expected) in [
        ("0-3,8,10-14:2", "0-3,8,10,12,14"),
        ("0-31:2/8", "0-1,8-9,16-17,24-25"),
        (" 5 , 1\n", "1,5"),
        ("", ""),
        ("\n", ""),
        ("7,7,6-8", "6-8"),
        ("65535", "65535"),
    ] {
        assert_eq!(text.parse::<CpuSet>().unwrap().to_string(), expected, "{text:?}");
    }
}

#[test]
fn masks_are_read_as_linux_and_hwloc_write_them() {
    for (text, expected) in [
        ("f,ffffffff", "0-35"),
        ("00000000,00000003\n", "0-1"),
        ("0x1,,0x3", "0-1,64"),
        ("0xf0", "4-7"),
        ("0", ""),
        ("123456789abc", "2-5,7,9,11-12,15,19-22,25-26,28,30,34,36-37,41,44"),
    ] {
        assert_eq!(CpuSet::from_mask(text).unwrap().to_string(), expected, "{text:?}");
    }
    assert_eq!("0-35".parse::<NodeSet>().unwrap().to_mask(), "f,ffffffff");
    assert_eq!("32".parse::<NodeSet>().unwrap().to_mask(), "1,00000000");
    assert_eq!(CpuSet::new().to_mask(), "0");
}

#[test]
fn errors_point_at_the_character() {
    for (text, expected) in [
        ("3-1", "\"3-1\": character 3: the range ends before it starts (1 < 3)"),
        ("0,,1", "\"0,,1\": character 3: expected a cpu number, found ','"),
        ("0-", "\"0-\": character 3: expected a cpu number, found the end"),
        ("1 2", "\"1 2\": character 3: expected a comma or the end"),
        ("é", "\"é\": character 1: expected a cpu number, found 'é'"),
        ("0-9:0", "\"0-9:0\": character 5: a step is at least 1, and a group at least its used part"),
        ("1,70000", "\"1,70000\": character 3: cpu 70000 is beyond 65535"),
    ] {
        assert_eq!(text.parse::<CpuSet>().unwrap_err().to_string(), expected);
    }
    for (text, expected) in [
        ("f,fg", "\"f,fg\": character 4: expected a hexadecimal digit, found 'g'"),
        ("", "\"\": character 1: expected a hexadecimal mask, found nothing"),
        (
            "123456789,1",
            "\"123456789,1\": character 9: a word has at most 8 digits; separate words by commas",
        ),
    ] {
        assert_eq!(NodeSet::from_mask(text).unwrap_err().to_string(), expected);
    }
    let beyond = format!("1{}", ",00000000".repeat(2048));
    assert!(CpuSet::from_mask(&beyond).unwrap_err().problem.contains("beyond 65535"));
    assert_eq!("4-x".parse::<NodeSet>().unwrap_err().problem, "expected a node number, found 'x'");
}

#[test]
fn a_set_serialises_as_its_list() {
    let set: NodeSet = [NodeId(0), NodeId(1), NodeId(5)].into_iter().collect();
    let text = toml::to_string(&std::collections::BTreeMap::from([("nodes", &set)])).unwrap();
    assert_eq!(text, "nodes = \"0-1,5\"\n");
    let back: std::collections::BTreeMap<String, NodeSet> = toml::from_str(&text).unwrap();
    assert_eq!(back["nodes"], set);
}
