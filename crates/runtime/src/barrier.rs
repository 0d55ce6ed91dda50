//! Barriers.

use crate::access::{WRITE, touch, touch_update};
use crate::schedule::{Wake, charge, park, wake_all};
use crate::state::{Runtime, with};

const INSTRUCTIONS: u64 = 60;

/// A barrier as we use its 32 bytes.
#[repr(C)]
struct Barrier {
    count: u32,
    arrived: u32,
    round: u32,
}

/// `pthread_barrier_init`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_init(barrier: *mut Barrier, _attributes: *const i32, count: u32) -> i32 {
    if count == 0 {
        return libc::EINVAL;
    }
    // SAFETY: the caller passes room for a barrier.
    unsafe { *barrier = Barrier { count, arrived: 0, round: 0 } };
    touch(barrier as usize, WRITE + INSTRUCTIONS);
    0
}

/// `pthread_barrier_destroy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_destroy(barrier: *mut Barrier) -> i32 {
    // SAFETY: the caller passes a barrier.
    if unsafe { (*barrier).arrived } != 0 { libc::EBUSY } else { 0 }
}

/// `pthread_barrier_wait`: the last to arrive is the serial thread.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_barrier_wait(barrier: *mut Barrier) -> i32 {
    touch_update(barrier as usize);
    charge(INSTRUCTIONS);
    // SAFETY: the caller passes an initialised barrier; contexts of one operating-system thread use it, and none is
    // switched to between the count and the wait.
    unsafe {
        (*barrier).arrived += 1;
        if (*barrier).arrived == (*barrier).count {
            (*barrier).arrived = 0;
            (*barrier).round = (*barrier).round.wrapping_add(1);
            wake_all(barrier as usize);
            with(Runtime::barrier_passed);
            charge(INSTRUCTIONS);
            return libc::PTHREAD_BARRIER_SERIAL_THREAD;
        }
        let round = (*barrier).round;
        // A woken thread may find the barrier destroyed and its memory reused, so only interrupted ones look again.
        while park(barrier as usize, "barrier", None) == Wake::Interrupted && (*barrier).round == round {}
    }
    charge(INSTRUCTIONS);
    0
}
