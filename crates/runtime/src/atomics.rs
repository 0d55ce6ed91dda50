//! Atomic operations: `__tsan_atomicN_*` for 8 to 128 bits.
//!
//! Contexts of one operating-system thread cannot interrupt each other between a load and a store here, so plain memory
//! operations are atomic. Memory orders are ignored for the same reason: the simulated machine is sequentially consistent. Each
//! operation makes its accesses first; a switch can happen in them, never between them and the operation.
//!
//! Entries leave a frame (`access`), by which the simulator proves spin-waits of loads and of compare-exchanges that fail;
//! equal loads in a row, and an exchange that keeps finding what it stores, are polls (`spin`).

use crate::access::{EntryFrame, READ, WRITE, framed, touch, touch_from, touch_update};
use crate::state::with;
use crate::{locks, spin};

/// A value as the spin detection compares it.
trait Word: Copy + PartialEq {
    fn low(self) -> u64;
}

macro_rules! words {
    ($($t:ty),*) => { $( impl Word for $t { fn low(self) -> u64 { self as u64 } } )* };
}
words!(u8, u16, u32, u64, u128);

unsafe fn load<T: Word>(address: *const T, frame: *const EntryFrame) -> T {
    loop {
        touch_from(address as usize, READ + 1, frame);
        // SAFETY: the program passes the address of an atomic object.
        let value = unsafe { address.read_volatile() };
        if !spin::was_parked_after(address as usize, value.low()) {
            return value;
        }
    }
}

unsafe fn store<T: Word>(address: *mut T, value: T) {
    touch(address as usize, WRITE + 1);
    // SAFETY: as in `load`.
    unsafe { address.write_volatile(value) };
}

/// Replaces a value by a function of it; returns the old one.
unsafe fn update<T: Word>(address: *mut T, change: impl FnOnce(T) -> T) -> T {
    touch_update(address as usize);
    // SAFETY: as in `load`.
    unsafe {
        let old = address.read_volatile();
        address.write_volatile(change(old));
        old
    }
}

/// Exchanges; getting back what was put in, again and again, is how a test-and-set lock waits.
unsafe fn exchange<T: Word>(address: *mut T, value: T) -> T {
    // SAFETY: as in `load`.
    unsafe {
        let old = update(address, |_| value);
        if old != value {
            locks::changed_word(address as usize, value.low());
            return old;
        }
        with(|runtime| locks::polls(runtime, address as usize));
        spin::poll(address as usize, old.low(), spin::UPDATE);
        let old = address.read_volatile();
        address.write_volatile(value);
        if old != value {
            locks::changed_word(address as usize, value.low());
        }
        old
    }
}

/// Compares and exchanges: whether it did, and the value found. A failure only reads.
unsafe fn compare_exchange<T: Word>(
    address: *mut T,
    expected: T,
    value: T,
    frame: *const EntryFrame,
) -> (bool, T) {
    touch_from(address as usize, READ + 1, frame);
    // SAFETY: as in `load`.
    unsafe {
        if address.read_volatile() == expected {
            touch(address as usize, WRITE + 1);
        }
        // The second access may have let others run.
        let found = address.read_volatile();
        if found == expected {
            address.write_volatile(value);
            locks::changed_word(address as usize, value.low());
        }
        (found == expected, found)
    }
}

/// Loads, stores and updates of one width.
macro_rules! operations {
    ($t:ty: $load:ident $store:ident $exchange:ident $add:ident $sub:ident $and:ident $or:ident $xor:ident $nand:ident) => {
        framed!(concat!("__tsan_", stringify!($load)), $load, "rdx");
        unsafe extern "C" fn $load(address: *const $t, _order: i32, frame: *const EntryFrame) -> $t {
            // SAFETY: the compiler passes the object of an atomic load.
            unsafe { load(address, frame) }
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $store(address: *mut $t, value: $t, _order: i32) {
            // SAFETY: the compiler passes the object of an atomic store.
            unsafe { store(address, value) }
        }
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $exchange(address: *mut $t, value: $t, _order: i32) -> $t {
            // SAFETY: the compiler passes the object of an atomic exchange.
            unsafe { exchange(address, value) }
        }
        operations!(@update $t: $add |old, value| old.wrapping_add(value));
        operations!(@update $t: $sub |old, value| old.wrapping_sub(value));
        operations!(@update $t: $and |old, value| old & value);
        operations!(@update $t: $or |old, value| old | value);
        operations!(@update $t: $xor |old, value| old ^ value);
        operations!(@update $t: $nand |old, value| !(old & value));
    };
    (@update $t:ty: $name:ident |$old:ident, $value:ident| $change:expr) => {
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(address: *mut $t, $value: $t, _order: i32) -> $t {
            // SAFETY: the compiler passes the object of an atomic update.
            unsafe { update(address, |$old| $change) }
        }
    };
}

/// Compare-exchanges of a width whose arguments leave the sixth register free for the frame.
macro_rules! compare_exchanges {
    ($t:ty: $strong:ident $weak:ident $value:ident) => {
        compare_exchanges!(@by_pointer $t: $strong);
        compare_exchanges!(@by_pointer $t: $weak);
        framed!(concat!("__tsan_", stringify!($value)), $value, "r9");
        unsafe extern "C" fn $value(
            address: *mut $t,
            expected: $t,
            value: $t,
            _order: i32,
            _failure: i32,
            frame: *const EntryFrame,
        ) -> $t {
            // SAFETY: the compiler passes the object of an atomic compare-exchange.
            unsafe { compare_exchange(address, expected, value, frame).1 }
        }
    };
    (@by_pointer $t:ty: $name:ident) => {
        framed!(concat!("__tsan_", stringify!($name)), $name, "r9");
        unsafe extern "C" fn $name(
            address: *mut $t,
            expected: *mut $t,
            value: $t,
            _order: i32,
            _failure: i32,
            frame: *const EntryFrame,
        ) -> i32 {
            // SAFETY: the compiler passes the object of an atomic compare-exchange, and a local variable.
            unsafe {
                let (did, found) = compare_exchange(address, *expected, value, frame);
                *expected = found;
                i32::from(did)
            }
        }
    };
}

/// Compare-exchange of 128 bits, whose arguments fill the registers: it leaves no frame.
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_atomic128_compare_exchange_val(
    address: *mut u128,
    expected: u128,
    value: u128,
    _order: i32,
    _failure: i32,
) -> u128 {
    // SAFETY: the compiler passes the object of an atomic compare-exchange.
    unsafe { compare_exchange(address, expected, value, core::ptr::null()).1 }
}

/// The same with the expected value in memory.
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_atomic128_compare_exchange_strong(
    address: *mut u128,
    expected: *mut u128,
    value: u128,
    _order: i32,
    _failure: i32,
) -> i32 {
    // SAFETY: the compiler passes the object of an atomic compare-exchange, and a local variable.
    unsafe {
        let (did, found) = compare_exchange(address, *expected, value, core::ptr::null());
        *expected = found;
        i32::from(did)
    }
}

/// The same that might fail without cause; this one does not.
#[unsafe(no_mangle)]
unsafe extern "C" fn __tsan_atomic128_compare_exchange_weak(
    address: *mut u128,
    expected: *mut u128,
    value: u128,
    order: i32,
    failure: i32,
) -> i32 {
    // SAFETY: the same contract.
    unsafe { __tsan_atomic128_compare_exchange_strong(address, expected, value, order, failure) }
}

operations!(u8: atomic8_load __tsan_atomic8_store __tsan_atomic8_exchange __tsan_atomic8_fetch_add __tsan_atomic8_fetch_sub
    __tsan_atomic8_fetch_and __tsan_atomic8_fetch_or __tsan_atomic8_fetch_xor __tsan_atomic8_fetch_nand);
operations!(u16: atomic16_load __tsan_atomic16_store __tsan_atomic16_exchange __tsan_atomic16_fetch_add __tsan_atomic16_fetch_sub
    __tsan_atomic16_fetch_and __tsan_atomic16_fetch_or __tsan_atomic16_fetch_xor __tsan_atomic16_fetch_nand);
operations!(u32: atomic32_load __tsan_atomic32_store __tsan_atomic32_exchange __tsan_atomic32_fetch_add __tsan_atomic32_fetch_sub
    __tsan_atomic32_fetch_and __tsan_atomic32_fetch_or __tsan_atomic32_fetch_xor __tsan_atomic32_fetch_nand);
operations!(u64: atomic64_load __tsan_atomic64_store __tsan_atomic64_exchange __tsan_atomic64_fetch_add __tsan_atomic64_fetch_sub
    __tsan_atomic64_fetch_and __tsan_atomic64_fetch_or __tsan_atomic64_fetch_xor __tsan_atomic64_fetch_nand);
operations!(u128: atomic128_load __tsan_atomic128_store __tsan_atomic128_exchange __tsan_atomic128_fetch_add __tsan_atomic128_fetch_sub
    __tsan_atomic128_fetch_and __tsan_atomic128_fetch_or __tsan_atomic128_fetch_xor __tsan_atomic128_fetch_nand);
compare_exchanges!(u8: atomic8_compare_exchange_strong atomic8_compare_exchange_weak
    atomic8_compare_exchange_val);
compare_exchanges!(u16: atomic16_compare_exchange_strong atomic16_compare_exchange_weak
    atomic16_compare_exchange_val);
compare_exchanges!(u32: atomic32_compare_exchange_strong atomic32_compare_exchange_weak
    atomic32_compare_exchange_val);
compare_exchanges!(u64: atomic64_compare_exchange_strong atomic64_compare_exchange_weak
    atomic64_compare_exchange_val);

/// A thread fence: nothing to do on a sequentially consistent machine.
#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_thread_fence(_order: i32) {}

/// A signal fence: nothing to do.
#[unsafe(no_mangle)]
extern "C" fn __tsan_atomic_signal_fence(_order: i32) {}
