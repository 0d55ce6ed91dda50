//! The second process: does one job through the crate, tells where, waits.
//!
//! Jobs: `allocate SET POLICY PAGES now|later` (populated at once, or touched after), `place SET POLICY FROM PAGES`
//! (pages that are on node FROM get placed), `heap SET POLICY` (blocks from threads all over the machine),
//! `huge SET FROM` (huge pages on node FROM get striped), `replicate SET`, `team SET POLICY COUNT`, `idle` (two threads that sleep). `on SET JOB` binds the process first.

use olifant_machine::NodeId;
use olifant_sys::page_size;
use rset::{
    Heap, PlaceOptions, RegionOptions, Replicated, ResourceSet, SetPolicy, System, Team, ThreadPolicy, Tid,
};
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Mutex;

type Told = Result<(), Box<dyn std::error::Error>>;

/// Does a job; the exit code is for a person, the first process reads the lines.
pub fn hold(job: &[&str]) -> ExitCode {
    let done = match job {
        ["on", set, job @ ..] => match bind(set) {
            Ok(()) => return hold(job),
            Err(error) => Err(error),
        },
        ["allocate", set, policy, pages, when] => allocate(set, policy, pages, *when == "now"),
        ["place", set, policy, from, pages] => place(set, policy, from, pages),
        ["huge", set, from] => huge(set, from),
        ["heap", set, policy] => heap(set, policy),
        ["replicate", set] => replicate(set),
        ["team", set, policy, count] => team(set, policy, count),
        ["idle"] => idle(),
        _ => Err("unknown job".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("error {error}");
            ExitCode::FAILURE
        }
    }
}

/// Says that the job is done, and waits until the first process closes the input.
fn ready() -> Told {
    println!("ready");
    std::io::stdout().flush()?;
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

fn tell_range(range: core::ops::Range<usize>) {
    println!("range {:x}-{:x}", range.start, range.end);
}

fn parse(set: &str, policy: &str) -> Result<(System, ResourceSet, SetPolicy), Box<dyn std::error::Error>> {
    let system = System::find()?;
    let set = system.parse(set)?;
    Ok((system, set, policy.parse()?))
}

fn bind(set: &str) -> Told {
    let system = System::find()?;
    system.bind_here(&system.parse(set)?)?;
    Ok(())
}

fn allocate(set: &str, policy: &str, pages: &str, is_now: bool) -> Told {
    let (system, set, policy) = parse(set, policy)?;
    let options = RegionOptions { populate: is_now, ..Default::default() };
    let bytes = pages.parse::<usize>()? * page_size();
    let (mut region, found) = system.allocate(bytes, &set, &policy, &options)?;
    if is_now && (found.at_home != found.pages || !found.is_whole()) {
        return Err(format!("its own read-back says {found}").into());
    }
    region.as_mut_slice().iter_mut().step_by(page_size()).for_each(|byte| *byte = 1);
    tell_range(region.range());
    ready()
}

fn place(set: &str, policy: &str, from: &str, pages: &str) -> Told {
    let (system, set, policy) = parse(set, policy)?;
    let from = SetPolicy::Node(NodeId(from.parse()?));
    let bytes = pages.parse::<usize>()? * page_size();
    let everywhere = system.hierarchy().system().clone();
    let options = RegionOptions { populate: true, huge_pages: rset::HugePages::Never, ..Default::default() };
    let (mut region, _) = system.allocate(bytes, &everywhere, &from, &options)?;
    region.as_mut_slice().iter_mut().step_by(page_size()).for_each(|byte| *byte = 7);
    let found = system.place(region.range(), &set, &policy, &PlaceOptions::default())?;
    if found.elsewhere > 0 {
        return Err(format!("its own read-back says {found}").into());
    }
    if region.as_slice().iter().step_by(page_size()).any(|&byte| byte != 7) {
        return Err("contents changed on the way".into());
    }
    tell_range(region.range());
    println!("word moved {}", found.moved);
    ready()
}

/// Four huge pages of 2 MiB, if the kernel has them, are striped page by page: what cannot be, must be told as such.
fn huge(set: &str, from: &str) -> Told {
    let (system, set, striped) = parse(set, "striped")?;
    let from = SetPolicy::Node(NodeId(from.parse()?));
    let options = RegionOptions {
        alignment: 2 << 20,
        huge_pages: rset::HugePages::Transparent,
        populate: true,
        ..Default::default()
    };
    let (region, _) = system.allocate(8 << 20, &set, &from, &options)?;
    let found = system.place(region.range(), &set, &striped, &PlaceOptions::default())?;
    let explained: u64 = found
        .causes
        .iter()
        .filter(|(cause, _)| matches!(cause, rset::Cause::HugePages { .. }))
        .map(|(_, pages)| pages)
        .sum();
    if explained != found.elsewhere || found.present() != found.pages {
        return Err(format!("its own read-back says {found}").into());
    }
    tell_range(region.range());
    println!("word {}", found.elsewhere);
    ready()
}

/// Blocks of several pages from each cpu: few enough for small nodes of large machines.
const BIG_BLOCKS: usize = 20;

fn heap(set: &str, policy: &str) -> Told {
    let (system, set, policy) = parse(set, policy)?;
    let heap = Heap::new(&system, &set, &policy)?;
    // A member for every cpu of the machine: blocks must lie on the heap's nodes whoever asks.
    let cpus = ResourceSet::new(system.allowed()?.cpus, Default::default());
    let blocks = Mutex::new(Vec::new());
    Team::new(&system, &cpus, &ThreadPolicy::Fill, 0)?.run(|member| {
        for (size, count) in [(24, 200), (1000, 200), (70_000, BIG_BLOCKS)] {
            for _ in 0..count {
                let Some(mut block) = heap.block(size + member.number) else { continue };
                block.fill(1);
                if let Ok(mut blocks) = blocks.lock() {
                    blocks.push(block);
                }
            }
        }
    })?;
    let blocks = blocks.into_inner()?;
    let expected = cpus.cpus.len() * (400 + BIG_BLOCKS);
    if blocks.len() != expected {
        return Err(format!("{} blocks of {expected}", blocks.len()).into());
    }
    for block in &blocks {
        let start = block.as_ptr().addr();
        tell_range(start..start + block.len());
    }
    ready()
}

fn replicate(set: &str) -> Told {
    let (system, set, _) = parse(set, "any")?;
    let data: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    let replicated = Replicated::new(&system, &set, &data)?;
    // Each cpu reads its node's copy, of the first and of the second version.
    let cpus = ResourceSet::new(system.allowed()?.cpus, Default::default());
    let team = Team::new(&system, &cpus, &ThreadPolicy::Fill, 0)?;
    for version in 1..=2 {
        for found in team.run(|_| replicated.read())? {
            let reading = found?;
            if reading.version() != version || reading.len() != data.len() || reading[5] != 5 {
                return Err("a copy is not the data".into());
            }
        }
        if version == 1 {
            replicated.publish(&data)?;
        }
    }
    let readings = Mutex::new(Vec::new());
    team.run(|member| {
        if let (Ok(reading), Ok(mut readings)) = (replicated.read(), readings.lock()) {
            readings.push((member.place.cpus.first(), reading));
        }
    })?;
    for (cpu, reading) in &readings.into_inner()? {
        let start = reading.as_ptr().addr();
        tell_range(start..start + reading.len());
        println!("word {}", cpu.map_or(String::new(), |cpu| cpu.to_string()));
    }
    ready()
}

fn team(set: &str, policy: &str, count: &str) -> Told {
    let (system, set, _) = parse(set, "any")?;
    let policy: ThreadPolicy = policy.parse()?;
    let team = Team::new(&system, &set, &policy, count.parse()?)?;
    let told = Mutex::new(0);
    team.run(|member| {
        let is_last = match told.lock() {
            Ok(mut told) => {
                println!("word {} {}", member.number, Tid::own());
                *told += 1;
                *told == member.count
            }
            Err(_) => true,
        };
        if is_last {
            println!("ready");
            let _ = std::io::stdout().flush();
        }
        // All wait for the end of the input, so that all can be looked at.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    })?;
    Ok(())
}

fn idle() -> Told {
    std::thread::spawn(std::thread::park);
    let mut memory = vec![0_u8; 600 * page_size()];
    memory.iter_mut().step_by(page_size()).for_each(|byte| *byte = 1);
    let start = memory.as_ptr().addr().next_multiple_of(page_size());
    tell_range(start..start + 599 * page_size());
    ready()
}
