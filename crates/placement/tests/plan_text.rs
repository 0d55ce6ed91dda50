//! The text form of plans: it loses nothing, and it refuses what breaks a law with line, key and law.
#![allow(clippy::unwrap_used, reason = "helpers of tests may end them")]

use olifant_machine::{CpuId, NodeId};
use olifant_placement::{AreaMatch, AreaPlan, Decision, MemoryPolicy, Plan, Prediction, Run};
use proptest::prelude::*;

/// The largest whole number that TOML can hold.
const LARGEST: u64 = i64::MAX as u64;

fn decisions() -> impl Strategy<Value = Decision> {
    let run = (1u64..1 << 40, any::<u16>()).prop_map(|(pages, node)| Run { pages, node: NodeId(node) });
    prop_oneof![
        (1..=u32::MAX).prop_map(|pages| Decision::Policy(MemoryPolicy::Striped { pages })),
        any::<u16>().prop_map(|node| Decision::Policy(MemoryPolicy::Node(NodeId(node)))),
        Just(Decision::Policy(MemoryPolicy::Local)),
        prop::collection::vec(run, 1..8).prop_map(Decision::Blocks),
        prop::collection::vec(any::<u16>().prop_map(NodeId), 1..8).prop_map(Decision::Parts),
        Just(Decision::Replicate),
        Just(Decision::Pad),
    ]
}

fn matches() -> impl Strategy<Value = AreaMatch> {
    let site = (
        "(\\PC| at |\"|\n){0,8}",
        "([a-z:/0-9]| at |\\\\){0,8}",
        0u32..400,
        prop::option::of(0..=LARGEST),
        prop::option::of(any::<u32>()),
    )
        .prop_map(|(function, file, line, bytes, ordinal)| AreaMatch::Site {
            function,
            file,
            line,
            bytes,
            ordinal,
        });
    prop_oneof![3 => site, 1 => "\\PC{0,12}".prop_map(AreaMatch::Symbol)]
}

fn plans() -> impl Strategy<Value = Plan> {
    let area = (matches(), decisions(), "\\PC{0,30}", 0..=LARGEST, 0..=LARGEST).prop_map(
        |(area, decision, reason, remote_before, remote_after)| AreaPlan {
            area,
            decision,
            reason,
            remote_before,
            remote_after,
        },
    );
    let predicted =
        (0..=LARGEST, 0..=LARGEST, 0.0..1e6f64).prop_map(|(remote_before, remote_after, time_ratio)| {
            Prediction { remote_before, remote_after, time_ratio }
        });
    (
        "\\PC{0,9}",
        "[ -~]{0,9}",
        "[0-9N]{0,4}",
        prop::collection::vec((0u16..600).prop_map(CpuId), 0..20),
        prop::collection::vec(area, 0..6),
        prop::option::of(predicted),
    )
        .prop_map(|(program, machine, configuration, threads, areas, predicted)| Plan {
            program,
            machine,
            configuration,
            threads,
            areas,
            predicted,
        })
}

proptest! {
    #[test]
    fn a_plan_reads_back(plan in plans()) {
        let text = plan.to_toml();
        prop_assert_eq!(Plan::from_toml(&text), Ok(plan), "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(\\[\\[area\\]\\]|site|blocks|threads|=|\"|:|-|[0-9]|\n| |\\PC){0,40}") {
        let _ = Plan::from_toml(&text);
    }
}

const EXAMPLE: &str = r#"program = "ocean"
machine = "olifant"
configuration = "4N4"
threads = "0,1,4,5,2,3,6,7"

[predicted]
remote_before = 31000000
remote_after = 1300000
time_ratio = 0.45

[[area]]
site = "main at ocean.c:210"
bytes = 106496
ordinal = 0
blocks = "0-12:0 13-25:1"
reason = "each node uses one band"
remote_before = 900
remote_after = 20

[[area]]
symbol = "global"
advice = "pad"
reason = "threads 0-3 write different words of one line"
remote_before = 5
remote_after = 5
"#;

#[test]
fn what_is_written_is_what_a_person_would_write() {
    let plan = Plan::from_toml(EXAMPLE).unwrap();
    assert_eq!(plan.to_toml(), EXAMPLE);
    assert_eq!(
        plan.areas[0].decision,
        Decision::Blocks(vec![Run { pages: 13, node: NodeId(0) }, Run { pages: 13, node: NodeId(1) }])
    );
}

/// The message for `EXAMPLE` with one piece of its text replaced.
fn refusal(from: &str, to: &str) -> String {
    assert!(EXAMPLE.contains(from), "{from:?}");
    Plan::from_toml(&EXAMPLE.replacen(from, to, 1)).unwrap_err().to_string()
}

#[test]
fn an_unknown_key_is_refused_with_a_suggestion() {
    assert_eq!(
        refusal("configuration =", "configuratoin ="),
        "plan, line 3: the plan has no key \"configuratoin\" (did you mean \"configuration\"?); known: program, machine, \
         configuration, threads, predicted, area"
    );
    assert!(
        refusal("ordinal =", "ordinl =")
            .starts_with("plan, line 14: [[area]] has no key \"ordinl\" (did you mean")
    );
}

#[test]
fn a_broken_law_names_line_key_and_law() {
    let cases = [
        (
            "0-12:0 13-25:1",
            "0-12:0 14-25:1",
            "line 15: blocks: runs follow one another from page 0: \"14-25:1\" should begin at page 13",
        ),
        ("0-12:0 13-25:1", "", "line 15: blocks: at least one run is needed"),
        ("0-12:0 13-25:1", "0-12", "line 15: blocks: \"0-12\" is not a run of pages on a node"),
        ("0-12:0 13-25:1", "0-12:0 13-5:1", "line 15: blocks: a run ascends"),
        ("\"0,1,4,5,2,3,6,7\"", "\"fill\"", "line 4: threads: a plan gives cpus"),
        ("\"0,1,4,5,2,3,6,7\"", "[0, 1]", "line 4: threads: a string in quotes is needed"),
        (
            "0,1,4,5",
            "0,1,,5",
            "line 4: threads: thread policy \"0,1,,5,2,3,6,7\", character 5: a cpu number was expected",
        ),
        (
            "blocks = \"0-12:0 13-25:1\"",
            "policy = \"striped:0\"",
            "line 15: policy: memory policy \"striped:0\", character 9",
        ),
        ("bytes = 106496", "bytes = -1", "line 13: bytes: a whole number from 0"),
        ("ordinal = 0", "ordinal = 5000000000", "line 14: ordinal: a whole number from 0 to 4294967295"),
        ("time_ratio = 0.45", "time_ratio = nan", "line 9: time_ratio: a share of the time before"),
        ("time_ratio = 0.45", "", "line 6: [predicted] needs time_ratio"),
        (
            "advice = \"pad\"",
            "advice = \"paint\"",
            "line 22: advice: advice is replicate or pad, not \"paint\"",
        ),
        ("advice = \"pad\"", "", "line 20: [[area]] needs policy, blocks, parts or advice"),
        (
            "advice = \"pad\"",
            "advice = \"pad\"\npolicy = \"local\"",
            "line 22: advice: only one of policy, blocks, parts or advice",
        ),
        (
            "symbol = \"global\"",
            "symbol = \"global\"\nbytes = 8",
            "line 22: bytes: only an allocation has it",
        ),
        ("bytes = 106496", "line = 4", "line 13: line: it goes with function"),
        ("[predicted]", "[[predicted]]", "line 6: predicted: write it as [predicted]"),
    ];
    for (from, to, message) in cases {
        let refused = refusal(from, to);
        assert!(refused.starts_with(&format!("plan, {message}")), "{refused}\nexpected: {message}");
    }
}

#[test]
fn what_is_not_toml_is_refused_with_its_line() {
    assert!(refusal("machine = \"olifant\"", "machine = olifant").starts_with("plan, line 2: not TOML: "));
}

#[test]
fn the_documented_example_is_a_plan_as_written() {
    let document = include_str!("../../../docs/plan.md");
    let example = document.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(Plan::from_toml(example).unwrap().to_toml(), example);
}
