//! Ways into another program, where this one's binding and this library stay behind: exec and its kin, posix_spawn, system,
//! popen; and _exit, which skips what is done at the end of a program.
//!
//! A program inherits the affinity of the thread that starts it; without this, all of a bound thread's children would
//! run on its one cpu. The environment is clean since `start`. Where children are placed too, all of this stands back.

use crate::real::real;
use crate::{report, threads};
use core::ffi::{c_char, c_int, c_void};
use olifant_machine::CpuSet;
use olifant_sys::{Tid, affinity, set_affinity};

/// The rules, if a program that is started now is to run without them.
fn rules_to_leave() -> Option<&'static threads::Rules> {
    threads::rules().filter(|rules| !rules.has_children)
}

/// Before the calling thread becomes another program, or after a fork of the kind that shares memory: lets it run where
/// the process was started.
extern "C" fn leave() {
    if let Some(rules) = rules_to_leave() {
        let _ = set_affinity(Tid::CALLING, rules.original());
    }
}

extern "C" fn missing() -> c_int {
    crate::errno::set(libc::ENOSYS);
    -1
}

/// Defines functions that leave and then jump to the C library's of the same name, with all registers as they were: they
/// have arguments of any number, and do not return.
macro_rules! leaving {
    ($($name:ident, $place:ident, $next:ident = $text:literal;)*) => {
        $(
            static $place: crate::real::Real = crate::real::Real::new($text);

            /// Leaves; the address of the C library's version.
            extern "C" fn $next() -> *const c_void {
                leave();
                let address = $place.address();
                if address.is_null() { missing as *const c_void } else { address }
            }

            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                core::arch::naked_asm!(
                    // Seven words and the return address: the stack is at a multiple of 16 for the call.
                    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
                    "call {next}",
                    "mov r11, rax",
                    "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                    "jmp r11",
                    next = sym $next,
                )
            }
        )*

        /// Finds the C library's versions before they are needed: a child that shares memory must not.
        fn find_real_exec() {
            $($place.address();)*
        }
    };
}

leaving! {
    execve, EXECVE, next_execve = c"execve";
    execv, EXECV, next_execv = c"execv";
    execvp, EXECVP, next_execvp = c"execvp";
    execvpe, EXECVPE, next_execvpe = c"execvpe";
    execl, EXECL, next_execl = c"execl";
    execlp, EXECLP, next_execlp = c"execlp";
    execle, EXECLE, next_execle = c"execle";
    fexecve, FEXECVE, next_fexecve = c"fexecve";
    execveat, EXECVEAT, next_execveat = c"execveat";
}

real! {
    POSIX_SPAWN, real_posix_spawn: fn(
        process: *mut libc::pid_t, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        arguments: *const *mut c_char, environment: *const *mut c_char
    ) -> c_int = c"posix_spawn" or libc::ENOSYS;
    POSIX_SPAWNP, real_posix_spawnp: fn(
        process: *mut libc::pid_t, path: *const c_char, actions: *const c_void, attributes: *const c_void,
        arguments: *const *mut c_char, environment: *const *mut c_char
    ) -> c_int = c"posix_spawnp" or libc::ENOSYS;
    SYSTEM, real_system: fn(command: *const c_char) -> c_int = c"system" or -1;
    POPEN, real_popen: fn(command: *const c_char, mode: *const c_char) -> *mut c_void = c"popen"
        or core::ptr::null_mut();
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: c_int, old: *mut c_int) -> c_int;
}

/// PTHREAD_CANCEL_DISABLE of pthread.h.
const CANCEL_DISABLE: c_int = 1;

/// Starts a program from a thread that runs, for that moment, where the process was started. The thread cannot be cancelled
/// meanwhile, or it would stay there.
fn from_original<T>(start: impl FnOnce() -> T) -> T {
    let Some(rules) = rules_to_leave() else { return start() };
    let Ok(bound): Result<CpuSet, _> = affinity(Tid::CALLING) else { return start() };
    let mut cancelling = 0;
    // SAFETY: one number is written.
    unsafe { pthread_setcancelstate(CANCEL_DISABLE, &raw mut cancelling) };
    let _ = set_affinity(Tid::CALLING, rules.original());
    let answer = start();
    // SAFETY: the C library gives the calling thread's own place.
    let errno = unsafe { *libc::__errno_location() };
    let _ = set_affinity(Tid::CALLING, &bound);
    // SAFETY: back to what it was.
    unsafe { pthread_setcancelstate(cancelling, core::ptr::null_mut()) };
    crate::errno::set(errno);
    answer
}

/// posix_spawn(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawn(
    process: *mut libc::pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    from_original(|| unsafe { real_posix_spawn(process, path, actions, attributes, arguments, environment) })
}

/// posix_spawnp(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_spawnp(
    process: *mut libc::pid_t,
    path: *const c_char,
    actions: *const c_void,
    attributes: *const c_void,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    from_original(|| unsafe { real_posix_spawnp(process, path, actions, attributes, arguments, environment) })
}

/// system(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn system(command: *const c_char) -> c_int {
    // SAFETY: the argument is the caller's.
    from_original(|| unsafe { real_system(command) })
}

/// popen(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void {
    // SAFETY: the arguments are the caller's.
    from_original(|| unsafe { real_popen(command, mode) })
}

/// _exit(2): the report is left, and the process is gone.
#[unsafe(no_mangle)]
unsafe extern "C" fn _exit(code: c_int) -> ! {
    report::leave();
    loop {
        // SAFETY: ends the process.
        unsafe { libc::syscall(libc::SYS_exit_group, code) };
    }
}

/// _Exit(2), the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn _Exit(code: c_int) -> ! {
    // SAFETY: the same function.
    unsafe { _exit(code) }
}

/// Finds the C library's versions before they are needed.
pub fn find_real() {
    find_real_exec();
    for function in [&POSIX_SPAWN, &POSIX_SPAWNP, &SYSTEM, &POPEN] {
        function.address();
    }
}
