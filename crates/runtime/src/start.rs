//! How a run starts.
//!
//! The runtime begins in `.preinit_array`, before any constructor (libraries' constructors lock mutexes). The program's own
//! start code then calls `__libc_start_main`, which is ours: it moves to a stack and a thread-local storage at fixed
//! addresses, copies arguments and environment there, and calls the C library's. So constructors and main run where nothing
//! depends on the environment's size, the program's path or address randomisation.

use crate::areas::Areas;
use crate::context::{self, Context};
use crate::engine::{Options, System};
use crate::layout::{ARGUMENTS, ENVIRONMENT, HOST_PAGE, Span, round_up};
use crate::real::real;
use crate::say::give_up;
use crate::state::{Runtime, install, with};
use crate::thread::{Thread, provide};
use crate::{dispatch, ending, modules, registers, schedule, signals, sys};
use core::ffi::{CStr, c_char};
use olifant_frontend::spec::{RUN_VARIABLE, RunSpec};
use olifant_opium::Card;
use std::collections::{BTreeMap, VecDeque};

/// Usable bytes of main's stack: a slot less its guard.
const MAIN_STACK: usize = crate::stack::SLOT - HOST_PAGE;
/// What takes the place of our variable in the environment: OpenMP's threads should wait in the kernel, where we find
/// them, and not spin.
const PASSIVE_WAITING: &CStr = c"OMP_WAIT_POLICY=PASSIVE";

#[used]
#[unsafe(link_section = ".preinit_array")]
static PREINIT: extern "C" fn(i32, *mut *mut c_char, *mut *mut c_char) = initialise;

extern "C" fn initialise(_count: i32, _arguments: *mut *mut c_char, environment: *mut *mut c_char) {
    registers::initialise();
    // SAFETY: the loader passes the environment, a null-terminated array of C strings.
    let path = unsafe { take_variable(environment) };
    let spec = match path {
        Some(path) => match read_file(&path) {
            Ok(bytes) => RunSpec::from_bytes(&bytes).unwrap_or_else(|error| give_up(&error.to_string())),
            Err(errno) => {
                let reason = std::io::Error::from_raw_os_error(errno);
                give_up(&format!("run specification {path}: cannot read: {reason}"))
            }
        },
        None => crate::alone::spec(),
    };
    let machine = &spec.machine;
    let options = Options {
        threads: spec.threads.clone(),
        memory: spec.memory.clone(),
        seed: spec.seed,
        quantum_cycles: spec.quantum_cycles,
        allow_oversubscription: spec.allow_oversubscription,
        ..Options::default()
    };
    let cpus = machine.nodes.iter().map(|node| node.cpus.len()).sum();
    let card = Card::new(cpus, machine.os.page.0, spec.granule_bytes, machine.processor.l2.line.0);
    let mut system = match System::new(machine, options, card) {
        Ok(system) => system,
        Err(error) => give_up(&error.to_string()),
    };
    system.spawn();
    modules::refresh();
    if let Err(error) = system.engine_mut().observer_mut().board_mut().program(&spec.card) {
        give_up(&error.to_string());
    }
    let areas = Areas::new(&spec, &mut system);
    let checkpoint_seconds = if spec.dump.is_some() { spec.checkpoint_seconds } else { 0 };
    install(Runtime {
        spec,
        system,
        threads: vec![Thread::new(registers::fs(), 0)],
        current: 0,
        handles: BTreeMap::from([(registers::fs(), 0)]),
        waiting: BTreeMap::<usize, VecDeque<usize>>::new(),
        stacks: Default::default(),
        donor_slots: Vec::new(),
        remains: Vec::new(),
        keys: Default::default(),
        heap: Default::default(),
        locks: Default::default(),
        callbacks: Default::default(),
        areas,
        own_storage: registers::fs(),
        may_dump: true,
        touches: 0,
        foreign: Default::default(),
        replicas: BTreeMap::new(),
        latest_nanos: 0,
        alarms: Default::default(),
        host_start: sys::host_nanos(libc::CLOCK_MONOTONIC),
    });
    with(|runtime| schedule::follow_cpu(runtime));
    signals::initialise();
    ending::initialise(checkpoint_seconds);
    dispatch::initialise();
}

/// Takes our variable out of the environment: its value.
///
/// # Safety
/// `environment` is a null-terminated array of C strings.
unsafe fn take_variable(environment: *mut *mut c_char) -> Option<String> {
    // SAFETY: as promised by the caller; the loop ends at the null.
    unsafe {
        let mut entry = environment;
        while !(*entry).is_null() {
            let text = CStr::from_ptr(*entry).to_bytes();
            let value = text.strip_prefix(RUN_VARIABLE.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
            if let Some(value) = value {
                let value = String::from_utf8_lossy(value).into_owned();
                *entry = PASSIVE_WAITING.as_ptr().cast_mut();
                return Some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

fn read_file(path: &str) -> Result<Vec<u8>, i32> {
    let name = format!("{path}\0");
    // SAFETY: the name ends with a zero byte; the kernel writes inside the buffer only.
    unsafe {
        let flags = (libc::O_RDONLY | libc::O_CLOEXEC) as usize;
        let fd = sys::call(libc::SYS_open, [name.as_ptr() as usize, flags, 0, 0, 0, 0]);
        if fd < 0 {
            return Err(-fd as i32);
        }
        let mut bytes = Vec::new();
        let mut buffer = vec![0u8; 1 << 16];
        let result = loop {
            let arguments = [fd as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0];
            match sys::call(libc::SYS_read, arguments) {
                0 => break Ok(bytes),
                n if n < 0 => break Err(-n as i32),
                n => bytes.extend_from_slice(&buffer[..n as usize]),
            }
        };
        sys::call(libc::SYS_close, [fd as usize, 0, 0, 0, 0, 0]);
        result
    }
}

type Main = unsafe extern "C" fn(i32, *mut *mut c_char, *mut *mut c_char) -> i32;

/// The arguments of `__libc_start_main` but main itself.
struct Start {
    count: i32,
    arguments: *mut *mut c_char,
    initialise: usize,
    finish: usize,
    loader_finish: usize,
    stack_end: usize,
}

/// The program's main, for `run_main`.
static MAIN: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);

/// Copies a null-terminated array of strings into a span of fixed memory, each string in a slot whose size does not depend
/// on the others.
///
/// # Safety
/// `strings` is a null-terminated array of C strings; the span is mapped nowhere yet.
unsafe fn copy_strings(strings: *mut *mut c_char, span: Span) -> *mut *mut c_char {
    // SAFETY: as promised by the caller. The memory is mapped to the size that the strings need.
    unsafe {
        let mut count = 0;
        let mut bytes = 0;
        while !(*strings.add(count)).is_null() {
            bytes += round_up(CStr::from_ptr(*strings.add(count)).to_bytes_with_nul().len(), 16);
            count += 1;
        }
        // The first string has a page at least to itself: a program's path does not move what follows.
        let first = if count > 0 { CStr::from_ptr(*strings).to_bytes_with_nul().len() } else { 0 };
        let table = round_up((count + 1) * size_of::<usize>(), HOST_PAGE);
        let total = table + round_up(first, HOST_PAGE) + bytes;
        if sys::map_memory(span.start, round_up(total, HOST_PAGE), libc::PROT_READ | libc::PROT_WRITE) < 0 {
            give_up("cannot map memory for the program's arguments");
        }
        let copies = span.start as *mut *mut c_char;
        let mut next = span.start + table;
        for index in 0..count {
            let text = CStr::from_ptr(*strings.add(index)).to_bytes_with_nul();
            (next as *mut u8).copy_from_nonoverlapping(text.as_ptr(), text.len());
            *copies.add(index) = next as *mut c_char;
            next += if index == 0 { round_up(text.len(), HOST_PAGE) } else { round_up(text.len(), 16) };
        }
        *copies.add(count) = core::ptr::null_mut();
        copies
    }
}

/// `__libc_start_main`, called by the program's start code.
#[unsafe(no_mangle)]
unsafe extern "C" fn __libc_start_main(
    main: Main,
    count: i32,
    arguments: *mut *mut c_char,
    initialise: usize,
    finish: usize,
    loader_finish: usize,
    stack_end: usize,
) -> i32 {
    let Ok((stack, donor, donor_slot)) = provide(MAIN_STACK) else {
        give_up("cannot make a stack and thread-local storage for main: is the number of threads limited?");
    };
    unsafe extern "C" {
        static mut environ: *mut *mut c_char;
    }
    MAIN.store(main as usize, core::sync::atomic::Ordering::Relaxed);
    // SAFETY: the kernel put arguments and environment there; nobody else uses `environ` yet.
    let arguments = unsafe {
        environ = copy_strings(environ, ENVIRONMENT);
        copy_strings(arguments, ARGUMENTS)
    };
    let start = Box::new(Start { count, arguments, initialise, finish, loader_finish, stack_end });
    let (old, new, storage) = with(|runtime| {
        let storage = donor.handle();
        // SAFETY: the stack is fresh and belongs to main alone.
        let new = unsafe { Context::new(stack.end(), enter, Box::into_raw(start) as usize) };
        runtime.areas.add_stack(0, stack, &mut runtime.system);
        runtime.areas.add_storage(0, donor_slot);
        runtime.handles = BTreeMap::from([(storage, 0)]);
        let thread = &mut runtime.threads[0];
        thread.storage = storage;
        thread.stack = Some(stack);
        thread.donor = Some((donor, donor_slot));
        (&raw mut thread.context, new, storage)
    });
    // SAFETY: the donor is parked and the new context has never run. The old context, on the kernel's stack, is never
    // continued.
    unsafe {
        registers::set_fs(storage);
        context::switch(old, new);
    }
    unreachable!("the start code was continued")
}

/// Main's context: hands over to the C library, which runs the constructors and then `run_main`.
unsafe extern "C" fn enter(start: usize) -> usize {
    // SAFETY: `__libc_start_main` above passed a box of this type.
    let start = unsafe { Box::from_raw(start as *mut Start) };
    let real =
        real!(c"__libc_start_main" as fn(Main, i32, *mut *mut c_char, usize, usize, usize, usize) -> i32);
    let Start { count, arguments, initialise, finish, loader_finish, stack_end } = *start;
    // SAFETY: the arguments are those of the start code, with main and strings replaced by ours.
    unsafe { real(run_main, count, arguments, initialise, finish, loader_finish, stack_end) as usize }
}

unsafe extern "C" fn run_main(count: i32, arguments: *mut *mut c_char, environment: *mut *mut c_char) -> i32 {
    let main = MAIN.load(core::sync::atomic::Ordering::Relaxed);
    // SAFETY: the program's main; exit does not return.
    unsafe {
        let code = context::call_main(main, count as usize, arguments as usize, environment as usize);
        ending::exit(code as i32)
    }
}

/// The mark by which a launcher knows an instrumented program, and the version of the contract with the hooks.
#[used]
#[unsafe(no_mangle)]
static __olifant_runtime_version: u32 = olifant_frontend::spec::RUNTIME_VERSION;
