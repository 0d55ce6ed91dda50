//! Command lines on an imagined machine: nodes 0 to 3 with four cpus each, of which this process may use nodes 0 to 2.

use super::*;
use olifant_machine::{CpuId, CpuSet, NodeId, NodeSet};
use olifant_placement::{Hierarchy, Lookup, NoLookup, NodeResources};
use olifant_sys::{NodePolicy, PolicyFlags, PolicyMode};
use proptest::prelude::*;
use std::collections::BTreeMap;

struct Imagined {
    hierarchy: Hierarchy,
    allowed: ResourceSet,
    cpus: CpuSet,
    policy: NodePolicy,
    variables: BTreeMap<&'static str, &'static str>,
}

impl Imagined {
    fn new() -> Self {
        let node = |id: u16| NodeResources {
            id: NodeId(id),
            cpus: (4 * id..4 * id + 4).map(CpuId).collect(),
            has_memory: true,
        };
        let cpus: CpuSet = "0-11".parse().unwrap();
        Imagined {
            hierarchy: Hierarchy::new((0..4).map(node).collect(), None).unwrap(),
            allowed: ResourceSet::new(cpus.clone(), "0-2".parse().unwrap()),
            cpus,
            policy: NodePolicy::none(),
            variables: BTreeMap::new(),
        }
    }
}

impl World for Imagined {
    fn hierarchy(&self) -> Result<&Hierarchy, ExecError> {
        Ok(&self.hierarchy)
    }
    fn allowed(&self) -> Result<&ResourceSet, ExecError> {
        Ok(&self.allowed)
    }
    fn lookup(&self) -> &dyn Lookup {
        &NoLookup
    }
    fn cpus(&self) -> Result<CpuSet, ExecError> {
        Ok(self.cpus.clone())
    }
    fn run_on(&mut self, cpus: &CpuSet) -> Result<Option<String>, ExecError> {
        self.cpus = cpus.clone();
        Ok(None)
    }
    fn policy(&self) -> Result<NodePolicy, ExecError> {
        Ok(self.policy.clone())
    }
    fn next_interleaved(&self) -> Result<NodeId, ExecError> {
        Ok(NodeId(2))
    }
    fn use_policy(&mut self, policy: &NodePolicy) -> Result<(), ExecError> {
        self.policy = policy.clone();
        Ok(())
    }
    fn memory_of(&self, node: NodeId) -> Result<(u64, u64), ExecError> {
        Ok((u64::from(node.0 + 1) << 30, 512 << 20))
    }
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(ToString::to_string)
    }
}

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect()
}

/// The world after a command line that is good.
fn after(line: &str) -> (Imagined, Prepared) {
    let mut world = Imagined::new();
    match prepare(Dialect::Numactl, &words(line), &mut world) {
        Ok(prepared) => (world, prepared),
        Err(failed) => panic!("{line}: {}", failed.error),
    }
}

/// The message and exit code of one that is not.
fn refusal(line: &str) -> (String, u8) {
    let failed = prepare(Dialect::Numactl, &words(line), &mut Imagined::new()).unwrap_err();
    (failed.error.to_string(), failed.exit_code())
}

fn nodes(list: &str) -> NodeSet {
    list.parse().unwrap()
}

#[test]
fn each_memory_option_of_numactl_sets_its_policy() {
    let cases = [
        ("-m 1 x", PolicyMode::Bind, "1"),
        ("--membind=0-1 x", PolicyMode::Bind, "0-1"),
        ("-i all x", PolicyMode::Interleave, "0-2"),
        ("--interleave=!1 x", PolicyMode::Interleave, "0,2"),
        ("-w 0,2 x", PolicyMode::WeightedInterleave, "0,2"),
        ("-p 2 x", PolicyMode::Preferred, "2"),
        ("--preferred=+1 x", PolicyMode::Preferred, "1"),
        ("-P 1-2 x", PolicyMode::PreferredMany, "1-2"),
        ("-l x", PolicyMode::Local, ""),
        ("-N 1 -m same x", PolicyMode::Bind, "1"),
        ("--all -m 3 x", PolicyMode::Bind, "3"),
    ];
    for (line, mode, list) in cases {
        let (world, prepared) = after(line);
        assert_eq!(world.policy, NodePolicy::new(mode, nodes(list)), "{line}");
        assert!(prepared.as_numactl, "{line}");
    }
    assert_eq!(after("-b -m 1 x").0.policy.flags, PolicyFlags::Balancing);
}

#[test]
fn cpus_and_nodes_bind_where_the_program_runs() {
    for (line, cpus) in [
        ("-N 1 x", "4-7"),
        ("--cpunodebind=0,2 x", "0-3,8-11"),
        ("-c 1 x", "4-7"),
        ("-C 3,8 x", "3,8"),
        ("-C +9-10 x", "9-10"),
        ("-a -N 3 x", "12-15"),
        ("x", "0-11"),
    ] {
        assert_eq!(after(line).0.cpus, cpus.parse().unwrap(), "{line}");
    }
}

#[test]
fn what_follows_the_options_is_the_command() {
    let (_, prepared) = after("-m 1 ls -l --membind=9");
    let Launch::Ready { command, .. } = prepared.launch else { panic!("nothing to run") };
    assert_eq!(command, words("ls -l --membind=9"));
}

#[test]
fn wrong_use_of_numactls_options_has_numactls_exit_code() {
    for line in [
        "-m 9 x",
        "-N 9 x",
        "-C 99 x",
        "-m",
        "-i 0 -m 1 x",
        "--bogus x",
        "-p 0,1 x",
        "-m same x",
        "-N 1 -a x",
        "-L 4k x",
        "-d",
        "-m 1",
        "-m 010 x",
        "--touch -m 1 x",
    ] {
        assert_eq!(refusal(line).1, 1, "{line}: {}", refusal(line).0);
    }
    assert_eq!(refusal("").1, 125);
}

#[test]
fn show_tells_what_was_set_before_it() {
    let (_, prepared) = after("-C 0,5 --membind=1 --show");
    let Launch::Shown { text, code: 0 } = prepared.launch else { panic!("nothing shown") };
    assert_eq!(
        text,
        "policy: bind\npreferred node: 1\nphyscpubind: 0 5 \ncpubind: 0 1 \nnodebind: 0 1 \nmembind: 1 \npreferred: 1 \n"
    );
    let (_, prepared) = after("-i 0,2 -s");
    let Launch::Shown { text, .. } = prepared.launch else { panic!("nothing shown") };
    assert!(
        text.contains("preferred node: 2 (interleave next)\ninterleavemask: 0 2 \ninterleavenode: 2\n"),
        "{text}"
    );
    assert!(text.ends_with("membind: 0 1 2 \npreferred: 0 2 \n"), "{text}");
}

#[test]
fn hardware_lists_nodes_memory_and_distances() {
    let Launch::Shown { text, .. } = after("--hardware").1.launch else { panic!("nothing shown") };
    assert!(
        text.starts_with("available: 4 nodes (0-3)\nnode 0 cpus: 0 1 2 3\nnode 0 size: 1024 MB\n"),
        "{text}"
    );
    assert!(text.contains("node distances:\nnode   0   1   2   3 \n  0:  10  20  20  20 \n"), "{text}");
    let Launch::Shown { text, .. } = after("--cpu-compress -H").1.launch else { panic!("nothing shown") };
    assert!(text.contains("node 1 cpus: 4-7\n"), "{text}");
}

#[test]
fn a_set_binds_cpus_and_memory() {
    let (world, prepared) = after("--set nodes=1 x");
    assert_eq!(world.cpus, "4-7".parse().unwrap());
    assert_eq!(world.policy, NodePolicy::new(PolicyMode::Bind, nodes("1")));
    assert!(!prepared.as_numactl);
}

#[test]
fn a_memory_policy_is_that_of_the_set() {
    let (world, _) = after("--set nodes=0-1 --memory striped:1 x");
    assert_eq!(world.policy, NodePolicy::new(PolicyMode::Interleave, nodes("0-1")));
    let (world, _) = after("--set nodes=1 --memory local x");
    assert_eq!(world.policy, NodePolicy::new(PolicyMode::Bind, nodes("1")));
    let (world, _) = after("-N 1 --memory remote x");
    assert_eq!(world.policy, NodePolicy::new(PolicyMode::Interleave, nodes("0,2")));
    let (message, code) = refusal("--memory striped:8 x");
    assert!(message.contains("needs stripes of several pages"), "{message}");
    assert_eq!(code, 125);
}

#[test]
fn openmp_programs_get_their_places_from_the_policy() {
    let (_, prepared) = after("--threads round-robin --openmp x");
    let Launch::Ready { environment, .. } = prepared.launch else { panic!("nothing to run") };
    assert_eq!(environment[0].0, "OMP_PLACES");
    assert!(environment[0].1.to_string_lossy().starts_with("{0},{4},{8},{1},"), "{environment:?}");
    let (_, prepared) = after("--threads float x");
    assert!(matches!(prepared.launch, Launch::Ready { environment, .. } if environment.is_empty()));
}

/// What is left to be done inside the program.
fn inside(prepared: Prepared) -> Option<Inside> {
    match prepared.launch {
        Launch::Ready { inside, .. } => inside.map(|inside| *inside),
        Launch::Shown { .. } => panic!("nothing to run"),
    }
}

fn cpus(list: &[u16]) -> Vec<CpuId> {
    list.iter().copied().map(CpuId).collect()
}

#[test]
fn threads_of_any_program_are_placed_from_inside() {
    let spec = inside(after("--threads round-robin x").1).unwrap().spec;
    assert_eq!(spec.threads.order, cpus(&[0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11]));
    assert_eq!((spec.nodes.len(), spec.distances[0][1], spec.has_children), (4, 20, false));
    let spec = inside(after("--threads 0,4 --skip 1-2 --thread io*=3 --thread 7=float --children x").1)
        .unwrap()
        .spec;
    assert_eq!((spec.threads.order, spec.threads.skip), (cpus(&[0, 4]), vec![1, 2]));
    assert_eq!((spec.threads.own[0].cpus.clone(), spec.threads.own[1].cpus.len()), (cpus(&[3]), 0));
    assert!(spec.has_children);
    // The same cpu for all is what a process can have.
    let (world, prepared) = after("--threads 4 x");
    assert_eq!((world.cpus, inside(prepared)), ("4".parse().unwrap(), None));
    let (message, code) = refusal("--thread io=12 x");
    assert!(message.contains("cpus 12 are not among"), "{message}");
    assert_eq!(code, 125);
}

#[test]
fn a_heap_has_the_nodes_of_the_set_and_a_plan_is_left_to_be_resolved() {
    let heap = |line| inside(after(line).1).unwrap().spec.heap.unwrap();
    assert_eq!(heap("--set nodes=1-2 --heap striped:8 x").nodes, [NodeId(1), NodeId(2)]);
    assert_eq!(heap("--heap local x").nodes, [NodeId(0), NodeId(1), NodeId(2)]);
    let (message, code) = refusal("--heap node:3 x");
    assert!(message.contains("node:3 names nodes 3"), "{message}");
    assert_eq!(code, 125);
    assert_eq!(inside(after("--plan p.toml x").1).unwrap().plan, Some("p.toml".into()));
}

#[test]
fn ranks_take_equal_parts() {
    let mut world = Imagined::new();
    world.variables =
        BTreeMap::from([("OMPI_COMM_WORLD_LOCAL_RANK", "2"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "3")]);
    prepare(Dialect::Numactl, &words("--ranks x"), &mut world).unwrap();
    assert_eq!(world.cpus, "8-11".parse().unwrap());
    assert_eq!(world.policy.nodes, nodes("2"));
    assert!(refusal("--ranks x").0.contains("no MPI launcher"));
}

#[test]
fn execrset_takes_lists_or_a_name_before_the_command() {
    let mut world = Imagined::new();
    let prepared = prepare(Dialect::Execrset, &words("-c 4-5 -m 1 -e ls -l"), &mut world).unwrap();
    assert_eq!(world.cpus, "4-5".parse().unwrap());
    assert_eq!(world.policy, NodePolicy::new(PolicyMode::Bind, nodes("1")));
    assert!(matches!(prepared.launch, Launch::Ready { command, .. } if command == words("ls -l")));
    let failed = prepare(Dialect::Execrset, &words("jobs/left -e ls"), &mut world).unwrap_err();
    assert_eq!(
        (failed.error.to_string(), failed.exit_code()),
        ("execrset: no set is named \"jobs/left\" (the command follows -e)".to_owned(), 125)
    );
    assert_eq!(prepare(Dialect::Execrset, &words("-c 4 ls"), &mut world).unwrap_err().exit_code(), 125);
}

#[test]
fn dplace_counts_within_the_allowed_cpus() {
    let mut world = Imagined::new();
    world.allowed.cpus = "4-7".parse().unwrap();
    world.cpus = "4-7".parse().unwrap();
    let prepared = prepare(Dialect::Dplace, &words("-e -q -c 3 ls"), &mut world).unwrap();
    assert!(matches!(prepared.launch, Launch::Ready { .. }));
    let failed = prepare(Dialect::Dplace, &words("-c 4 ls"), &mut world).unwrap_err();
    assert!(failed.error.to_string().contains("beyond the 4 cpus"), "{}", failed.error);
}

#[test]
fn dplace_leaves_out_by_count_mask_and_name_and_places_processes_as_well() {
    let spec = |line| {
        let prepared = prepare(Dialect::Dplace, &words(line), &mut Imagined::new()).unwrap();
        inside(prepared).unwrap().spec
    };
    let counted = spec("-s 1 -c 0-3 ls");
    assert_eq!((counted.threads.skip, counted.threads.order), (vec![0], cpus(&[0, 1, 2, 3])));
    assert!(counted.has_children);
    assert_eq!(spec("-x 6 -c 0-3 ls").threads.skip, [1, 2]);
    assert_eq!(spec("-x 0x6 -c 0-3 ls").threads.skip, [1, 2]);
    assert_eq!(spec("-n solver -c 0-3 ls").threads.process.as_deref(), Some("solver"));
    for line in ["-s x -c 0 ls", "-x 0xz -c 0 ls"] {
        assert!(prepare(Dialect::Dplace, &words(line), &mut Imagined::new()).is_err(), "{line}");
    }
}

proptest! {
    #[test]
    fn no_command_line_panics_and_every_failure_has_a_code_and_a_message(
        words in prop::collection::vec(
            prop_oneof![
                "-{1,2}[a-zA-Z]{1,3}",
                "--(membind|interleave|cpunodebind|physcpubind|set|threads|memory|ranks|length|shmid)(=[0-9,+!:-]{0,6})?",
                "[0-9a-z,:=+!-]{0,8}",
                Just("--".to_owned()),
            ],
            0..6,
        ),
        dialect in prop_oneof![Just(Dialect::Numactl), Just(Dialect::Dplace), Just(Dialect::Execrset)],
    ) {
        // Nothing here may touch the system: options that attach memory do.
        prop_assume!(!words.iter().any(|word| {
            word.starts_with("--s") && !word.starts_with("--set") || word.starts_with("--f")
                || word.starts_with('-') && !word.starts_with("--") && word.contains(['S', 'f'])
        }));
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        if let Err(failed) = prepare(dialect, &words, &mut Imagined::new()) {
            prop_assert!([1, 125].contains(&failed.exit_code()));
            prop_assert!(!failed.error.to_string().is_empty());
        }
    }
}
