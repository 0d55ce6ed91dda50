//! What happens before `main`: the specification is read, the environment cleaned, and everything put into force.
//!
//! The constructor runs after those of the C library and before those of the program; libraries that allocate earlier get
//! ordinary memory. Where anything is wrong with the specification the program runs without placement, and the launcher
//! says that it has no report.

use crate::areas::Areas;
use crate::heaps::Heaps;
use crate::image::Image;
use crate::state::{self, State};
use crate::{counters, forking, leaving, malloc, thread_calls, threads};
use olifant_frontend::inside::{HeapRule, InsideSpec, PRELOAD_LIBRARY, PRELOAD_VARIABLE, SPEC_OFFSET};
use olifant_placement::{Hierarchy, NodeResources, SetPolicy};
use rset::System;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;

/// The loader's variable, whose first entry is this library.
const LOADER_VARIABLE: &str = "LD_PRELOAD";

#[unsafe(link_section = ".init_array")]
#[used]
static AT_START: extern "C" fn() = at_start;

extern "C" fn at_start() {
    malloc::find_errors();
    thread_calls::find_real();
    leaving::find_real();
    forking::begin();
    if let Some(spec) = take_spec() {
        begin(&spec);
    }
}

/// The specification, if there is one; what named it is gone from the environment unless children need it.
fn take_spec() -> Option<InsideSpec> {
    let path = std::env::var_os(PRELOAD_VARIABLE)?;
    // For writing, as the counters are shared.
    let file = OpenOptions::new().read(true).write(true).open(&path).ok();
    let spec = file.as_ref().and_then(read);
    if spec.as_ref().is_none_or(|spec| !spec.has_children) {
        clean_environment();
        close_inherited(&path);
    } else if let Some(file) = &file {
        counters::share(file.as_fd());
    }
    spec
}

fn read(file: &File) -> Option<InsideSpec> {
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?.checked_sub(SPEC_OFFSET)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, SPEC_OFFSET as u64).ok()?;
    InsideSpec::from_bytes(&bytes).ok()
}

/// Takes both variables out of the environment, of the loader's only our own entry.
fn clean_environment() {
    let loaded = std::env::var_os(LOADER_VARIABLE).unwrap_or_default();
    let others: Vec<&[u8]> = loaded
        .as_bytes()
        .split(|&byte| byte == b':' || byte == b' ')
        .filter(|entry| !entry.is_empty() && !entry.ends_with(PRELOAD_LIBRARY.as_bytes()))
        .collect();
    // SAFETY: no other thread is there to read the environment: this is before `main`.
    unsafe {
        std::env::remove_var(PRELOAD_VARIABLE);
        if others.is_empty() {
            std::env::remove_var(LOADER_VARIABLE);
        } else {
            std::env::set_var(LOADER_VARIABLE, OsString::from_vec(others.join(&b':')));
        }
    }
}

/// Closes the descriptor that the launcher left open for us: `/proc/PID/fd/N`, in that very process.
fn close_inherited(path: &std::ffi::OsStr) {
    let words: Vec<&str> = path.to_str().unwrap_or_default().split('/').collect();
    if let ["", "proc", process, "fd", number] = words[..]
        && process.parse() == Ok(std::process::id())
        && let Ok(number) = number.parse()
    {
        // SAFETY: the launcher opened it for this library, and nobody else knows of it.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
    }
}

fn begin(spec: &InsideSpec) {
    if let Some(system) = system(spec) {
        let image = Image::of_program();
        let heap = spec.heap.as_ref().and_then(|rule| heaps(&system, rule));
        let areas = (!spec.rules.is_empty()).then(|| Areas::new(&system, &spec.rules, image.bias));
        if let Some(areas) = &areas {
            image.place(areas, &spec.rules);
        }
        state::set(State { heap, areas, report: spec.report.clone() });
        malloc::begin();
    }
    threads::begin(spec);
}

fn heaps(system: &System, rule: &HeapRule) -> Option<Heaps> {
    let policy: SetPolicy = rule.policy.parse().ok()?;
    Some(Heaps::new(system, policy, rule.nodes.iter().copied().collect()))
}

/// The machine as the launcher found it.
fn system(spec: &InsideSpec) -> Option<System> {
    let nodes = spec.nodes.iter().map(|node| NodeResources {
        id: node.id,
        cpus: node.cpus.iter().copied().collect(),
        has_memory: node.has_memory,
    });
    let hierarchy = Hierarchy::new(nodes.collect(), Some(spec.distances.clone())).ok()?;
    Some(System::of_hierarchy(hierarchy))
}
