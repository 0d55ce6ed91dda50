//! What the advisor decides for programs whose best placement is known.

mod common;

use common::{Builder, PAGE, cpus, hub, plan_nodes};
use olifant_advisor::{Advice, Finding, Options, Verdict, advise};
use olifant_machine::{Bytes, NodeId};
use olifant_opium::profile::*;
use olifant_placement::{AreaMatch, Decision, FOR_STACKS, MemoryPolicy, Plan, Run};

fn policy(policy: MemoryPolicy) -> Decision {
    Decision::Policy(policy)
}

fn leave_reason(advice: &Advice) -> &str {
    match &advice.verdict {
        Verdict::LeaveAlone { reason } => reason,
        Verdict::Tune => panic!("tuned: {advice:?}"),
    }
}

/// 16 threads on 4x4, each with a band of so many pages; edges are shared with the next thread.
fn banded(pages: u64) -> Profile {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("main", 210);
    let area = builder.area(site, 16 * pages, 0);
    for thread in 0..16u16 {
        for page in 0..pages {
            builder.page(area, u64::from(thread) * pages + page, &[(thread, 500, 300)]);
        }
    }
    builder.finish()
}

#[test]
fn threads_with_bands_of_their_own_get_them_all_local() {
    let advice = advise(&banded(10), &hub(4, 4), &Options::default());
    assert_eq!(advice.verdict, Verdict::Tune);
    let bands = (0..4).map(|node| Run { pages: 40, node: NodeId(node) }).collect();
    assert_eq!(advice.plan.areas[0].decision, Decision::Blocks(bands));
    assert_eq!(advice.effect.remote_after, 0);
    assert_eq!(advice.effect.remote_before, 4 * 40 * 1100 * 3 / 4);
    assert!(advice.effect.time_ratio < 0.7, "{}", advice.effect.time_ratio);
    assert_eq!(plan_nodes(&advice.plan, 4), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
    assert_eq!(Plan::from_toml(&advice.plan.to_toml()), Ok(advice.plan));
}

#[test]
fn bands_shorter_than_a_page_share_pages_where_they_are_used_most() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("main", 1);
    let area = builder.area(site, 8, 0);
    for page in 0..8u16 {
        builder.page(area, page.into(), &[(2 * page, 400, 100), (2 * page + 1, 400, 100)]);
    }
    let advice = advise(&builder.finish(), &machine, &Options::default());
    assert_eq!(advice.effect.remote_after, 0);
}

#[test]
fn pages_used_evenly_are_dealt_in_turn() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("main", 1);
    let area = builder.area(site, 64, 0);
    let everyone: Vec<_> = (0..16).map(|thread| (thread, 100, 50)).collect();
    for page in 0..64 {
        builder.page(area, page, &everyone);
    }
    let mut profile = builder.finish();
    for granule in &mut profile.granules {
        granule.home = 0;
    }
    let advice = advise(&profile, &machine, &Options::default());
    assert_eq!(advice.verdict, Verdict::Tune);
    assert_eq!(advice.plan.areas[0].decision, policy(MemoryPolicy::Striped { pages: 1 }));
    assert_eq!(advice.plan.areas[0].reason, "used evenly by all 4 nodes: pages dealt in turn");
    assert!(advice.effect.time_ratio < 0.9, "{}", advice.effect.time_ratio);
    assert_eq!(advice.effect.remote_after, advice.effect.remote_before);
}

#[test]
fn a_slight_leader_does_not_get_everything() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("main", 1);
    let area = builder.area(site, 64, 0);
    let everyone: Vec<_> = (0..16).map(|thread| (thread, if thread < 4 { 1200 } else { 1000 }, 0)).collect();
    for page in 0..64 {
        builder.page(area, page, &everyone);
    }
    let mut profile = builder.finish();
    for granule in &mut profile.granules {
        granule.home = 0;
    }
    // Two threads write, so that copies are out of the question.
    for granule in &mut profile.granules {
        granule.by[5].upgrades = 1;
        granule.by[6].upgrades = 1;
    }
    let advice = advise(&profile, &machine, &Options::default());
    assert_eq!(advice.verdict, Verdict::Tune, "{advice:?}");
    assert_eq!(advice.plan.areas[0].decision, policy(MemoryPolicy::Striped { pages: 1 }));
    assert!(
        advice.plan.areas[0].reason.starts_with("no node dominates (node 0 leads with 29 %)"),
        "{advice:?}"
    );
}

#[test]
fn an_area_of_one_node_goes_there() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("solve", 7);
    let area = builder.area(site, 20, 0);
    for page in 0..20 {
        builder.page(area, page, &[(9, 300, 200), (10, 100, 50), (3, 20, 10)]);
    }
    let options = Options { may_move_threads: false, ..Options::default() };
    let advice = advise(&builder.finish(), &machine, &options);
    let entry = &advice.plan.areas[0];
    assert_eq!(entry.decision, policy(MemoryPolicy::Node(NodeId(2))));
    assert_eq!(entry.reason, "96 % of its traffic comes from node 2 (threads 8-11)");
    assert_eq!(
        entry.area,
        AreaMatch::Site {
            function: "solve".into(),
            file: "test.c".into(),
            line: 7,
            bytes: Some(20 * PAGE),
            ordinal: Some(0)
        }
    );
    assert_eq!(entry.remote_after, 20 * 40);
}

#[test]
fn a_thousand_allocations_of_one_site_get_one_entry() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("new_body", 33);
    for number in 0..1000u16 {
        let owner = number % 16;
        let area = builder.area(site, 1, owner);
        builder.page(area, 0, &[(owner, 90, 40), ((owner + 5) % 16, 4, 0)]);
    }
    let advice = advise(&builder.finish(), &machine, &Options::default());
    assert_eq!(advice.plan.areas.len(), 1, "{:?}", advice.plan.areas);
    assert_eq!(advice.plan.areas[0].decision, policy(MemoryPolicy::Local));
    let AreaMatch::Site { bytes, ordinal, .. } = &advice.plan.areas[0].area else { panic!("a site") };
    assert_eq!((*bytes, *ordinal), (Some(PAGE), None));
}

#[test]
fn a_few_allocations_of_one_site_with_different_users_get_an_entry_each() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("main", 33);
    for user in 0..16 {
        let area = builder.area(site, 4, 0);
        for page in 0..4 {
            builder.page(area, page, &[(user, 500, 100)]);
        }
    }
    let advice = advise(&builder.finish(), &machine, &Options::default());
    assert_eq!(advice.effect.remote_after, 0);
    assert!(advice.plan.areas.len() <= 16);
}

#[test]
fn sites_behind_a_wrapper_are_told_apart_by_an_outer_frame() {
    let machine = hub(2, 2);
    let mut builder = Builder::new(&machine, &cpus(4));
    let sites = [builder.site("read_a", 10), builder.site("read_b", 20)];
    for &site in &sites {
        let wrapper = Frame { function: "xmalloc".into(), file: "util.c".into(), line: 3 };
        builder.profile.sites[site as usize].frames.insert(0, wrapper);
    }
    for (site, user) in [(sites[0], 3), (sites[1], 0)] {
        let area = builder.area(site, 10, 1);
        for page in 0..10 {
            builder.page(area, page, &[(user, 500, 100)]);
        }
    }
    let advice =
        advise(&builder.finish(), &machine, &Options { may_move_threads: false, ..Options::default() });
    assert_eq!(advice.effect.remote_after, 0);
    let functions: Vec<_> = advice
        .plan
        .areas
        .iter()
        .map(|entry| match &entry.area {
            AreaMatch::Site { function, .. } => function.as_str(),
            AreaMatch::Symbol(symbol) => symbol,
        })
        .collect();
    assert_eq!(functions, ["read_a", "read_b"]);
}

#[test]
fn stacks_live_with_their_threads() {
    let machine = hub(2, 2);
    let mut builder = Builder::new(&machine, &cpus(4));
    let site = builder.site("unused", 1);
    for thread in 0..4 {
        let area = builder.area(site, 2, 0);
        builder.profile.areas[area].kind = AreaKind::Stack;
        builder.profile.areas[area].site = None;
        builder.page(area, 0, &[(thread, 400, 400)]);
        builder.page(area, 1, &[(thread, 400, 400)]);
    }
    let advice = advise(&builder.finish(), &machine, &Options::default());
    assert_eq!(advice.plan.areas.len(), 1);
    assert_eq!(advice.plan.areas[0].area, AreaMatch::Symbol(FOR_STACKS.into()));
    assert_eq!(advice.plan.areas[0].decision, policy(MemoryPolicy::Local));
    assert_eq!(advice.effect.remote_after, 0);
}

#[test]
fn small_allocations_go_by_their_site_as_a_whole() {
    let machine = hub(2, 2);
    let mut builder = Builder::new(&machine, &cpus(4));
    for (function, line) in [("new_cell", 7), ("new_edge", 9)] {
        let site = builder.site(function, line);
        for thread in 0..4 {
            let area = builder.area(site, 2, thread);
            builder.profile.areas[area].kind = AreaKind::Small;
            builder.profile.areas[area].thread = thread;
            // Cells are used by the thread that makes them, edges by thread 3 alone.
            let user = if line == 7 { thread } else { 3 };
            builder.page(area, 0, &[(user, 400, 400)]);
            builder.page(area, 1, &[(user, 400, 400)]);
        }
    }
    let advice = advise(&builder.finish(), &machine, &Options::default());
    let found: Vec<_> = advice.plan.areas.iter().map(|entry| (&entry.area, &entry.decision)).collect();
    let site = |function: &str, line| AreaMatch::Site {
        function: function.into(),
        file: "test.c".into(),
        line,
        bytes: None,
        ordinal: None,
    };
    assert_eq!(
        found,
        [
            (&site("new_cell", 7), &policy(MemoryPolicy::Local)),
            (&site("new_edge", 9), &policy(MemoryPolicy::Node(NodeId(1)))),
        ]
    );
    assert_eq!(advice.effect.remote_after, 0);
}

#[test]
fn data_that_are_only_read_are_worth_a_copy_per_node() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let site = builder.site("load_table", 5);
    let area = builder.area(site, 16, 0);
    let lines = PAGE / 32;
    for page in 0..16 {
        let mut by: Vec<_> = (1..16).map(|thread| (thread, 10 * lines, 0)).collect();
        by.push((0, 10 * lines, lines));
        builder.page(area, page, &by);
    }
    let mut profile = builder.finish();
    for granule in &mut profile.granules {
        granule.home = 0;
    }
    let advice = advise(&profile, &machine, &Options::default());
    assert_eq!(advice.plan.areas[0].decision, Decision::Replicate);
    assert_eq!(
        advice.plan.areas[0].reason,
        "only read after thread 0 filled it, by 4 nodes: a copy on each costs 65536 bytes per node"
    );
    assert!(
        matches!(&advice.findings[..], [Finding::ReadOnly { bytes_per_node: 65536, .. }]),
        "{:?}",
        advice.findings
    );
    // A second writer, and it is no longer read-only.
    profile.granules[3].by[7].write_backs = 1;
    let advice = advise(&profile, &machine, &Options::default());
    assert_eq!(advice.plan.areas[0].decision, policy(MemoryPolicy::Striped { pages: 1 }));
}

#[test]
fn lines_with_words_of_several_threads_are_named_for_padding() {
    let mut profile = banded(4);
    profile.areas.push(Area {
        kind: AreaKind::Global,
        name: "counters".into(),
        start: 0x1000,
        bytes: 64,
        site: None,
        ordinal: 0,
        thread: 0,
        born: 0,
        freed: None,
    });
    profile.modules.push(Module { path: "bin/test".into(), bias: 0x4000, start: 0x4000, end: 0x9000 });
    let user = |thread: u16| LineAccesses {
        thread,
        reads: 10,
        writes: 4000,
        read_mask: 0,
        write_mask: 0xff << (8 * thread),
        code: 0x4123,
    };
    profile.contested.push(ContestedLine {
        area: 1,
        offset: 32,
        bytes: 32,
        transfers: 8000,
        sharing: Sharing::False,
        fields: Vec::new(),
        by: vec![user(0), user(1)],
    });
    let advice = advise(&profile, &hub(4, 4), &Options::default());
    let [Finding::FalseSharing(contention)] = &advice.findings[..] else { panic!("{:?}", advice.findings) };
    assert_eq!((contention.offset, contention.transfers), (32, 8000));
    assert_eq!(contention.users[1].writes, [(8, 15)]);
    assert_eq!(
        advice.findings[0].to_string(),
        "counters: threads use different bytes of 1 line (8000 transfers); at offset 32 thread 0 writes bytes 0-7 at \
         test+0x123, thread 1 writes bytes 8-15 at test+0x123; give each thread's data a line of its own (pad and align \
         to 32 bytes)"
    );
    let last = advice.plan.areas.last().unwrap();
    assert_eq!((&last.area, &last.decision), (&AreaMatch::Symbol("counters".into()), &Decision::Pad));
}

#[test]
fn words_that_all_contend_for_are_left_alone_with_a_finding() {
    let machine = hub(4, 1);
    let mut builder = Builder::new(&machine, &cpus(4));
    let site = builder.site("lock", 1);
    let area = builder.area(site, 1, 0);
    let everyone: Vec<_> = (0..4).map(|thread| (thread, 0, 5000)).collect();
    builder.page(area, 0, &everyone);
    let mut profile = builder.finish();
    let by = (0..4)
        .map(|thread| LineAccesses { thread, reads: 0, writes: 5000, read_mask: 15, write_mask: 15, code: 0 })
        .collect();
    profile.contested.push(ContestedLine {
        area: 0,
        offset: 0,
        bytes: 32,
        transfers: 20000,
        sharing: Sharing::True,
        fields: Vec::new(),
        by,
    });
    let advice = advise(&profile, &machine, &Options::default());
    assert!(leave_reason(&advice).contains("no placement ends that"), "{advice:?}");
    assert!(matches!(&advice.findings[..], [Finding::TrueSharing(_)]));
    assert!(advice.plan.areas.is_empty());
    assert!(advice.plan.threads.is_empty());
}

#[test]
fn a_machine_of_one_node_is_left_alone() {
    let machine = hub(1, 4);
    let mut builder = Builder::new(&machine, &cpus(4));
    let site = builder.site("main", 1);
    let area = builder.area(site, 1, 0);
    builder.page(area, 0, &[(0, 10, 10), (3, 10, 10)]);
    let advice = advise(&builder.finish(), &machine, &Options::default());
    assert!(leave_reason(&advice).contains("one node"));
}

#[test]
fn a_program_placed_well_is_left_alone() {
    let mut profile = banded(10);
    let advice = advise(&profile, &hub(4, 4), &Options::default());
    for granule in &mut profile.granules {
        granule.home = u16::try_from(granule.index / 40).unwrap();
    }
    assert!(
        leave_reason(&advise(&profile, &hub(4, 4), &Options::default())).contains("no access left its node")
    );
    // A few pages elsewhere change nothing that matters.
    profile.granules[0].home = 3;
    profile.granules.push(Granule { area: 0, index: 160, home: 1, by: vec![] });
    profile.granules[1].home = 0;
    assert_eq!(advice.verdict, Verdict::Tune);
}

#[test]
fn a_profile_of_another_machine_is_left_alone() {
    let machine = hub(4, 4);
    let profile = Builder::new(&machine, &cpus(16)).finish();
    let advice = advise(&profile, &hub(2, 2), &Options::default());
    assert_eq!(leave_reason(&advice), "the profile has threads on cpu 4, which machine hub doesn't have");
}

#[test]
fn pages_that_do_not_fit_go_where_they_lose_least() {
    let mut machine = hub(2, 2);
    machine.nodes[0].memory = Bytes(10 * PAGE);
    let mut builder = Builder::new(&machine, &cpus(4));
    let site = builder.site("main", 1);
    let area = builder.area(site, 20, 0);
    for page in 0..20u16 {
        builder.page(area, page.into(), &[(0, 100 + 20 * u64::from(page), 10)]);
    }
    let options = Options { may_move_threads: false, ..Options::default() };
    let advice = advise(&builder.finish(), &machine, &options);
    let runs = vec![Run { pages: 10, node: NodeId(1) }, Run { pages: 10, node: NodeId(0) }];
    assert_eq!(advice.plan.areas[0].decision, Decision::Blocks(runs));
}

#[test]
fn areas_without_traffic_worth_speaking_of_are_not_named() {
    let machine = hub(4, 4);
    let mut builder = Builder::new(&machine, &cpus(16));
    let sites = [builder.site("main", 1), builder.site("init", 2)];
    let area = builder.area(sites[0], 40, 0);
    for page in 0..40u16 {
        builder.page(area, page.into(), &[(page % 16, 1000, 1000)]);
    }
    let small = builder.area(sites[1], 1, 0);
    builder.page(small, 0, &[(5, 10, 0)]);
    let advice = advise(&builder.finish(), &machine, &Options::default());
    assert_eq!(advice.plan.areas.len(), 1);
}

#[test]
fn symbols_that_share_a_page_share_its_home() {
    let machine = hub(2, 2);
    let mut builder = Builder::new(&machine, &cpus(4));
    let site = builder.site("unused", 1);
    for (name, start, user, reads) in [("left", 0x10000, 0, 500), ("right", 0x10400, 3, 900)] {
        let area = builder.area(site, 1, 0);
        let record = &mut builder.profile.areas[area];
        (record.kind, record.site, record.name) = (AreaKind::Global, None, name.into());
        (record.start, record.bytes) = (start, 0x400);
        builder.page(area, 0, &[(user, reads, 0)]);
    }
    let mut profile = builder.finish();
    profile.granules[0].home = 0;
    profile.granules[1].home = 0;
    let advice = advise(&profile, &machine, &Options { may_move_threads: false, ..Options::default() });
    let decisions: Vec<_> = advice.plan.areas.iter().map(|entry| entry.decision.clone()).collect();
    assert_eq!(decisions, vec![policy(MemoryPolicy::Node(NodeId(1))); 2]);
    assert_eq!(advice.effect.remote_after, 500);
}
