//! Donors: parked operating-system threads that lend their thread-local storage to contexts.
//!
//! glibc lays out a thread's static TLS, its control block and its dynamic vector when it makes a thread; nobody else
//! can. So each program thread has a real thread that does nothing but wait, on a stack at a fixed address, so that TLS
//! variables have the same addresses in each run. Its control block's address is both the FS base of the context and its
//! `pthread_t`, so that libc functions which take a `pthread_t` find a true one.

use crate::layout::{DONORS, HOST_PAGE};
use crate::real::real;
use crate::{dispatch, registers, sys};
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a donor's stack, its TLS included; holds programs with up to about 900 KiB of static TLS.
pub const DONOR_STACK: usize = 1 << 20;

const STARTING: u32 = 0;
const PARKED: u32 = 1;
const RETIRING: u32 = 2;

/// A parked operating-system thread.
pub struct Donor {
    handle: libc::pthread_t,
    state: Box<AtomicU32>,
}

extern "C" fn park(state: *mut c_void) -> *mut c_void {
    // SAFETY: the Donor that owns the word joins this thread before it frees it.
    let state = unsafe { &*state.cast::<AtomicU32>() };
    state.store(PARKED, Ordering::Release);
    sys::futex_wake(state);
    while state.load(Ordering::Acquire) != RETIRING {
        sys::futex_wait(state, PARKED);
    }
    core::ptr::null_mut()
}

impl Donor {
    /// Makes the donor of stack slot `slot`. On failure the errno.
    ///
    /// Must not be called while the runtime's state is borrowed: glibc calls `malloc`.
    pub fn new(slot: usize) -> Result<Self, i32> {
        let stack = DONORS.start + slot * DONOR_STACK;
        if stack + DONOR_STACK > DONORS.end {
            return Err(libc::EAGAIN);
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let mapped = sys::map_memory(stack, DONOR_STACK, protection);
        if mapped < 0 && mapped != -(libc::EEXIST as isize) {
            return Err(-mapped as i32);
        }
        // SAFETY: the previous donor of this slot, if any, has been joined.
        unsafe { sys::discard(stack, DONOR_STACK - HOST_PAGE) };
        let state = Box::new(AtomicU32::new(STARTING));
        let mut handle: libc::pthread_t = 0;
        // SAFETY: the attribute object is initialised before use; the stack is ours; `park` has the right type and its
        // argument lives as long as the thread. All signals stay with the thread that runs the program.
        let error = unsafe {
            let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
            libc::pthread_attr_init(attributes.as_mut_ptr());
            libc::pthread_attr_setstack(attributes.as_mut_ptr(), stack as *mut c_void, DONOR_STACK);
            let all = u64::MAX;
            let mut before = 0u64;
            set_kernel_mask(&all, &mut before);
            let create = real!(
                c"pthread_create"
                    as fn(
                        *mut libc::pthread_t,
                        *const libc::pthread_attr_t,
                        extern "C" fn(*mut c_void) -> *mut c_void,
                        *mut c_void,
                    ) -> i32
            );
            let error = create(&mut handle, attributes.as_ptr(), park, state.as_ptr().cast());
            set_kernel_mask(&before, core::ptr::null_mut());
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            error
        };
        if error != 0 {
            return Err(error);
        }
        while state.load(Ordering::Acquire) == STARTING {
            sys::futex_wait(&state, STARTING);
        }
        Ok(Self { handle, state })
    }

    /// Its control block: the FS base to run with, and the `pthread_t`.
    pub fn handle(&self) -> u64 {
        self.handle
    }

    /// Ends the thread; its slot may be used again. Nothing may run on its thread-local storage any more.
    pub fn retire(self) {
        self.state.store(RETIRING, Ordering::Release);
        sys::futex_wake(&self.state);
        // SAFETY: the thread is joinable and is joined once.
        unsafe {
            let join = real!(c"pthread_join" as fn(libc::pthread_t, *mut *mut c_void) -> i32);
            join(self.handle, core::ptr::null_mut());
        }
    }
}

/// Sets the kernel's signal mask of this operating-system thread.
///
/// # Safety
/// The pointers must be null or point at one u64.
pub unsafe fn set_kernel_mask(new: *const u64, old: *mut u64) {
    // SAFETY: passed on; the kernel's set is 8 bytes.
    unsafe {
        let arguments = [libc::SIG_SETMASK as usize, new as usize, old as usize, 8, 0, 0];
        sys::call(libc::SYS_rt_sigprocmask, arguments);
    }
}

/// Runs `work` on the thread-local storage of the operating-system thread itself, as functions of the C library that
/// make or join threads expect.
pub fn on_own_storage<R>(own: u64, work: impl FnOnce() -> R) -> R {
    let before = registers::fs();
    // SAFETY: `own` is this operating-system thread's control block, which nobody else uses; no context switch happens in
    // `work`, so the old base is right again afterwards.
    unsafe { registers::set_fs(own) };
    let result = dispatch::let_through(work);
    // SAFETY: as above.
    unsafe { registers::set_fs(before) };
    result
}
