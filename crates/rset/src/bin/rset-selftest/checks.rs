//! The checks of memory and threads, on whatever nodes the machine has.

use crate::process::Holder;
use core::ops::{ControlFlow, Range};
use olifant_machine::{CpuSet, NodeId, NodeSet};
use olifant_sys::{PageState, affinity, page_size, page_states};
use rset::{Pace, Pid, Reach, ResourceSet, SetPolicy, System, Tid};

/// What came of a check.
pub enum Outcome {
    /// It holds; with figures, or empty.
    Ok(String),
    /// It does not.
    Failed(String),
    /// This machine cannot show it.
    Skipped(String),
}

/// A check by its name.
pub type Named = (String, Outcome);

const PAGES: usize = 3000;

/// Policies over all memory, each held against the rule written out here a second time.
pub fn memory(system: &System) -> Vec<Named> {
    let nodes: Vec<NodeId> = usable_nodes(system).iter().collect();
    let count = nodes.len() as u64;
    let set = |list: &[NodeId]| -> NodeSet { list.iter().copied().collect() };
    let text = |list: &[NodeId]| format!("-m {}", set(list));
    let all = text(&nodes);
    let turn = |stride: u64| {
        let nodes = nodes.clone();
        move |page: u64| set(&[nodes[usize::try_from(page / stride % count).unwrap_or(0)]])
    };
    let mut found = Vec::new();
    for when in ["now", "later"] {
        let mut check = |policy: &str, set_text: &str, home: &dyn Fn(u64) -> NodeSet| {
            let pages = PAGES.to_string();
            let outcome = held(&["allocate", set_text, policy, &pages, when], home);
            found.push((format!("memory {policy} on {set_text}, touched {when}"), outcome));
        };
        check("any", &all, &|_| set(&nodes));
        check("first-touch", &all, &|_| set(&nodes));
        check("striped", &all, &turn(1));
        check("striped:3", &all, &turn(3));
        check("striped:64", &all, &turn(64));
        for &node in &nodes {
            check(&format!("node:{node}"), &all, &|_| set(&[node]));
            check("any", &text(&[node]), &|_| set(&[node]));
            check("local", &text(&[node]), &|_| set(&[node]));
        }
        if let [first, .., last] = nodes[..] {
            let weighted = format!("weighted:{first}=3,{last}=1");
            check(&weighted, &all, &|page| set(&[if page % 4 < 3 { first } else { last }]));
        }
        found.extend(by_toucher(system, &nodes, &all, when));
    }
    // More runs than mappings are spent on: the crate moves pages instead.
    let many = (2 * 5000).to_string();
    found.push((
        "memory striped:2 over more runs than mappings".to_owned(),
        held(&["allocate", &all, "striped:2", &many, "later"], &turn(2)),
    ));
    found.extend(moves(system, &nodes, &all, &turn(1)));
    found.extend(nodes.iter().map(|&node| heap(node)));
    found.push(replicas(system, &nodes, &all));
    found
}

/// The policies that depend on where the thread runs, from each node with cpus.
fn by_toucher(system: &System, nodes: &[NodeId], all: &str, when: &str) -> Vec<Named> {
    let within: NodeSet = nodes.iter().copied().collect();
    let pages = PAGES.to_string();
    let mut found = Vec::new();
    let allowed = system.allowed().map(|allowed| allowed.cpus).unwrap_or_default();
    for node in system.hierarchy().nodes() {
        let cpus = node.cpus.intersection(&allowed);
        if cpus.is_empty() {
            continue;
        }
        let on = format!("-c {cpus}");
        let nearest = system.hierarchy().nearest_memory(node.id, &within);
        let others: Vec<NodeId> = within.difference(&nearest).iter().collect();
        for (policy, home) in [("local", nearest.clone()), ("first-touch", nearest)] {
            let outcome = held(&["on", &on, "allocate", all, policy, &pages, when], &|_| home.clone());
            found.push((format!("memory {policy} from node {}, touched {when}", node.id), outcome));
        }
        let name = format!("memory remote from node {}, touched {when}", node.id);
        let outcome = if others.is_empty() {
            Outcome::Skipped("no other node with memory".to_owned())
        } else {
            let home = |page: u64| {
                let place = page % others.len() as u64;
                [others[usize::try_from(place).unwrap_or(0)]].into_iter().collect()
            };
            held(&["on", &on, "allocate", all, "remote", &pages, when], &home)
        };
        found.push((name, outcome));
    }
    found
}

fn moves(system: &System, nodes: &[NodeId], all: &str, turn: &dyn Fn(u64) -> NodeSet) -> Vec<Named> {
    let mut found = Vec::new();
    let pages = PAGES.to_string();
    let [first, .., last] = nodes else {
        let why = Outcome::Skipped("one node with memory".to_owned());
        return vec![("pages move from node to node".to_owned(), why)];
    };
    let from = first.to_string();
    let to = format!("node:{last}");
    let home = |_| [*last].into_iter().collect();
    found.push((
        format!("pages of node {first} placed on node {last}"),
        held(&["place", all, &to, &from, &pages], &home),
    ));
    found.push((
        format!("pages of node {first} striped"),
        held(&["place", all, "striped", &from, &pages], turn),
    ));
    found.push(("huge pages striped: what stays elsewhere is told".to_owned(), huge(all, &from, turn)));
    let allowed = system.allowed().map(|allowed| allowed.cpus).unwrap_or_default();
    let elsewhere = system.hierarchy().nodes().iter().filter(|node| {
        !system.hierarchy().nearest_memory(node.id, &nodes.iter().copied().collect()).contains(*last)
    });
    let mut cpus = elsewhere.map(|node| node.cpus.intersection(&allowed));
    let name = "a process's memory moves and comes back".to_owned();
    found.push(match cpus.find(|cpus| !cpus.is_empty()) {
        Some(cpus) => (name, move_process(&cpus, *last)),
        None => (name, Outcome::Skipped("no cpus elsewhere are allowed".to_owned())),
    });
    found
}

/// The holder tells how many pages of huge pages stayed elsewhere; as many must be.
fn huge(all: &str, from: &str, turn: &dyn Fn(u64) -> NodeSet) -> Outcome {
    let run = || -> Result<String, String> {
        let holder = Holder::start(&["huge", all, from])?;
        let told = holder.words.first().cloned().unwrap_or_default();
        let is_elsewhere = |&(address, state): &(usize, PageState)| {
            state.node().is_some_and(|node| !turn((address / page_size()) as u64).contains(node))
        };
        let seen = states(holder.pid(), &holder.ranges)?.iter().filter(|page| is_elsewhere(page)).count();
        if told == seen.to_string() {
            Ok(format!("{told} pages"))
        } else {
            Err(format!("{seen} pages, told {told}"))
        }
    };
    run().map_or_else(Outcome::Failed, Outcome::Ok)
}

/// A heap of one node, used from every cpu.
fn heap(node: NodeId) -> Named {
    let home: NodeSet = [node].into_iter().collect();
    let set = format!("-m {node}");
    (format!("heap on node {node} from all cpus"), held(&["heap", &set, "any"], &|_| home.clone()))
}

/// A copy for each node, and each cpu reads the nearest.
fn replicas(system: &System, nodes: &[NodeId], all: &str) -> Named {
    let name = "a copy for each node, read by its cpus".to_owned();
    let holder = match Holder::start(&["replicate", all]) {
        Ok(holder) => holder,
        Err(error) => return (name, Outcome::Failed(error)),
    };
    let within: NodeSet = nodes.iter().copied().collect();
    for (range, word) in holder.ranges.iter().zip(&holder.words) {
        let node = word.parse().ok().and_then(|cpu| system.hierarchy().node_of(olifant_machine::CpuId(cpu)));
        let Some(node) = node else { return (name, Outcome::Failed(format!("no cpu {word}"))) };
        let nearest = system.hierarchy().nearest_memory(node, &within);
        if let Err(error) = look(holder.pid(), core::slice::from_ref(range), &|_| nearest.clone()) {
            return (name, Outcome::Failed(format!("cpu {word}: {error}")));
        }
    }
    (name, Outcome::Ok(format!("{} readers", holder.ranges.len())))
}

/// A process that runs on `cpus` has its memory moved to node `to` and back.
fn move_process(cpus: &CpuSet, to: NodeId) -> Outcome {
    let run = || -> Result<String, String> {
        let text = |error: rset::Error| error.to_string();
        let system = System::find().map_err(text)?;
        let holder = Holder::start(&["on", &format!("-c {cpus}"), "idle"])?;
        let target = ResourceSet::new(CpuSet::new(), [to].into_iter().collect());
        let go_on = |_| ControlFlow::Continue(());
        let pace = Pace { pages: 64, ..Pace::default() };
        let before = nodes_of(holder.pid(), &holder.ranges)?;
        let moved = system
            .move_process(holder.pid(), &target, &SetPolicy::Any, Reach::Own, pace, go_on)
            .map_err(text)?;
        look(holder.pid(), &holder.ranges, &|_| [to].into_iter().collect())?;
        system.restore_process(holder.pid(), &moved.before, Reach::Own, pace, go_on).map_err(text)?;
        let after = nodes_of(holder.pid(), &holder.ranges)?;
        if before != after {
            return Err(format!("came back to other nodes: {}", moved.now));
        }
        if moved.now.moved < 500 {
            return Err(format!("too few pages moved: {}", moved.now));
        }
        Ok(format!("{} pages moved", moved.now.moved))
    };
    run().map_or_else(Outcome::Failed, Outcome::Ok)
}

/// Thread policies, and binding a running process.
pub fn threads(system: &System) -> Vec<Named> {
    let cpus = match system.allowed() {
        Ok(allowed) => allowed.cpus,
        Err(error) => return vec![("threads".to_owned(), Outcome::Failed(error.to_string()))],
    };
    let set = format!("-c {cpus}");
    let of_nodes: Vec<CpuSet> = system
        .hierarchy()
        .nodes()
        .iter()
        .map(|node| node.cpus.intersection(&cpus))
        .filter(|cpus| !cpus.is_empty())
        .collect();
    let count = cpus.len() + 1;
    let fill: Vec<u16> = of_nodes.iter().flat_map(CpuSet::iter).map(|cpu| cpu.0).collect();
    let longest = of_nodes.iter().map(CpuSet::len).max().unwrap_or(0);
    let dealt: Vec<u16> = (0..longest)
        .flat_map(|round| of_nodes.iter().filter_map(move |node| node.iter().nth(round)))
        .map(|cpu| cpu.0)
        .collect();
    let backwards: Vec<u16> = fill.iter().rev().copied().collect();
    let list: Vec<String> = backwards.iter().map(u16::to_string).collect();
    let one = |order: &[u16]| -> Vec<CpuSet> {
        let cpus = order.iter().cycle().take(count);
        cpus.map(|&cpu| [olifant_machine::CpuId(cpu)].into_iter().collect()).collect()
    };
    vec![
        ("threads fill".to_owned(), team(&set, "fill", &one(&fill))),
        ("threads round-robin".to_owned(), team(&set, "round-robin", &one(&dealt))),
        ("threads by list".to_owned(), team(&set, &list.join(","), &one(&backwards))),
        ("threads float".to_owned(), team(&set, "float", &vec![cpus.clone(); count])),
        ("a running process is bound, all threads".to_owned(), bind_process(system, &cpus)),
    ]
}

fn team(set: &str, policy: &str, places: &[CpuSet]) -> Outcome {
    let run = || -> Result<String, String> {
        let holder = Holder::start(&["team", set, policy, &places.len().to_string()])?;
        for word in &holder.words {
            let (number, thread) = word.split_once(' ').ok_or("a thread without a number")?;
            let number: usize = number.parse().map_err(|_| "a number that is none")?;
            let thread = Tid(thread.parse().map_err(|_| "a thread that is none")?);
            let cpus = affinity(thread).map_err(|error| error.to_string())?;
            if cpus != places[number] {
                return Err(format!("thread {number} is on cpus {cpus}, not {}", places[number]));
            }
        }
        if holder.words.len() != places.len() {
            return Err(format!("{} threads of {}", holder.words.len(), places.len()));
        }
        Ok(format!("{} threads", places.len()))
    };
    run().map_or_else(Outcome::Failed, Outcome::Ok)
}

fn bind_process(system: &System, cpus: &CpuSet) -> Outcome {
    let run = || -> Result<String, String> {
        let holder = Holder::start(&["idle"])?;
        let last: CpuSet = cpus.iter().last().into_iter().collect();
        let set = ResourceSet::new(last.clone(), NodeSet::new());
        let bound = system.bind_process(holder.pid(), &set).map_err(|error| error.to_string())?;
        for thread in &bound.threads {
            let now = affinity(*thread).map_err(|error| error.to_string())?;
            if now != last {
                return Err(format!("thread {thread} is on cpus {now}"));
            }
        }
        if bound.threads.len() == 2 {
            Ok(String::new())
        } else {
            Err(format!("{} threads", bound.threads.len()))
        }
    };
    run().map_or_else(Outcome::Failed, Outcome::Ok)
}

/// The nodes whose memory this process may use.
fn usable_nodes(system: &System) -> NodeSet {
    let has = &system.hierarchy().system().nodes;
    system.allowed().map_or_else(|_| has.clone(), |allowed| allowed.nodes)
}

/// Starts a holder and looks whether all its pages are where `home` says.
fn held(job: &[&str], home: &dyn Fn(u64) -> NodeSet) -> Outcome {
    let run = || {
        let holder = Holder::start(job)?;
        look(holder.pid(), &holder.ranges, home)
    };
    run().map_or_else(Outcome::Failed, Outcome::Ok)
}

/// Every page of the ranges that exists must be at home, and at least half of them must exist: the figures, or the
/// first page that is not.
fn look(process: Pid, ranges: &[Range<usize>], home: &dyn Fn(u64) -> NodeSet) -> Result<String, String> {
    let (mut present, mut pages) = (0, 0);
    for (address, state) in states(process, ranges)? {
        pages += 1;
        if let Some(node) = state.node() {
            present += 1;
            let homes = home((address / page_size()) as u64);
            if !homes.contains(node) {
                return Err(format!("the page at {address:#x} is on node {node}, not {homes}"));
            }
        }
    }
    if present * 2 < pages || pages == 0 {
        return Err(format!("{present} pages of {pages} exist"));
    }
    Ok(format!("{present} pages"))
}

fn nodes_of(process: Pid, ranges: &[Range<usize>]) -> Result<Vec<PageState>, String> {
    Ok(states(process, ranges)?.into_iter().map(|(_, state)| state).collect())
}

fn states(process: Pid, ranges: &[Range<usize>]) -> Result<Vec<(usize, PageState)>, String> {
    let mut addresses: Vec<usize> = ranges
        .iter()
        .flat_map(|range| (range.start / page_size() * page_size()..range.end).step_by(page_size()))
        .collect();
    addresses.sort_unstable();
    addresses.dedup();
    let states = page_states(process, &addresses).map_err(|error| error.to_string())?;
    Ok(addresses.into_iter().zip(states).collect())
}
