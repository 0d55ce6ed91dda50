//! The profile file: everything the run showed so far, written in one piece.
//!
//! The file appears under its name only when it is whole: it is written beside it and renamed.

use crate::state::Runtime;
use crate::{facts, join, modules, sys};
use olifant_opium::collect;
use olifant_opium::profile::{Evidence, Profile, RunInfo, Thread};

/// Writes the profile to where the run's specification says, and says where that is.
/// # Errors  A text for the person: which file, what failed.
pub fn write(runtime: &mut Runtime, is_complete: bool, exit_code: i32) -> Result<String, String> {
    let path = runtime.spec.dump.clone().unwrap_or_default();
    let profile = take(runtime, is_complete, exit_code);
    let bytes = postcard::to_allocvec(&profile).map_err(|error| format!("profile {path}: {error}"))?;
    replace(&path, &bytes).map_err(|errno| {
        let reason = std::io::Error::from_raw_os_error(errno);
        format!("profile {path}: cannot write: {reason}; free some space, or set TMPDIR to another folder")
    })?;
    Ok(path)
}

fn replace(path: &str, bytes: &[u8]) -> Result<(), i32> {
    let beside = format!("{path}.part\0");
    let path = format!("{path}\0");
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_CLOEXEC;
    // SAFETY: both names end with a zero byte.
    let fd = unsafe { sys::call(libc::SYS_open, [beside.as_ptr() as usize, flags as usize, 0o644, 0, 0, 0]) };
    if fd < 0 {
        return Err(-fd as i32);
    }
    let written = sys::write_all(fd as i32, bytes);
    // SAFETY: closes the descriptor opened above and renames a file of ours.
    let renamed = unsafe {
        sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
        written?;
        sys::call(libc::SYS_rename, [beside.as_ptr() as usize, path.as_ptr() as usize, 0, 0, 0, 0])
    };
    if renamed < 0 { Err(-renamed as i32) } else { Ok(()) }
}

/// The profile as it stands.
fn take(runtime: &mut Runtime, is_complete: bool, exit_code: i32) -> Profile {
    let spec = &runtime.spec;
    let run = RunInfo {
        program: spec.program.clone(),
        args: spec.args.clone(),
        machine: spec.machine.name.clone(),
        machine_toml: spec.machine_toml.clone(),
        configuration: spec.configuration.clone(),
        thread_policy: spec.threads_text.clone(),
        memory_policy: spec.memory_text.clone(),
        plan: spec.plan_text.clone(),
        seed: spec.seed,
        evidence: Evidence::Simulated,
        is_complete,
        exit_code,
        version: env!("CARGO_PKG_VERSION").to_string(),
    };
    let modules = modules::for_profile(&spec.program);
    let machine = &runtime.spec.machine;
    let mut parts = collect(&mut runtime.system, machine);
    parts.totals.host_seconds = (sys::host_nanos(libc::CLOCK_MONOTONIC) - runtime.host_start) as f64 / 1e9;
    let now = runtime.system.now_cycles();
    let mut areas = runtime.areas.list.clone();
    let (granules, contested) = join::join(runtime.system.engine_mut().observer_mut(), &mut areas);
    let granule_bytes = runtime.system.engine().observer().granule_bytes();
    let facts = facts::take(runtime, &areas, &granules, granule_bytes);
    let machine = &runtime.spec.machine;
    let states = runtime.system.threads();
    let threads = runtime
        .threads
        .iter()
        .zip(states)
        .map(|(thread, state)| {
            let node = machine.nodes.iter().find(|node| node.cpus.iter().any(|cpu| cpu.index() == state.cpu));
            Thread {
                name: thread.name.clone(),
                cpu: state.cpu as u16,
                node: node.map_or(0, |node| node.id.0),
                started: state.started,
                ended: if thread.has_ended { state.ended } else { now },
                routine: modules::translate(thread.routine).unwrap_or(0),
            }
        })
        .collect();
    Profile {
        run,
        totals: parts.totals,
        cpus: parts.cpus,
        nodes: parts.nodes,
        links: parts.links,
        threads,
        modules,
        sites: runtime.heap.sites.list.clone(),
        areas,
        granule_bytes,
        granules,
        contested,
        facts,
    }
}
