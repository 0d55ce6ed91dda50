//! memcpy and friends: what the compiler's calls of them become. The real thing, and its accesses counted line by line.

use crate::access::{READ, WRITE, range};

/// Instructions of a call that moves so many bytes: a vector loop of 16 bytes a turn.
fn instructions(bytes: usize) -> u64 {
    4 + (bytes as u64 / 16).min(1 << 31)
}

fn read(address: *const u8, bytes: usize) {
    range(address as u64, bytes as u64, READ);
}

fn write(address: *mut u8, bytes: usize) {
    range(address as u64, bytes as u64, WRITE + instructions(bytes));
}

/// `memcpy`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __olifant_memcpy(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    read(from, bytes);
    write(to, bytes);
    // SAFETY: the caller keeps memcpy's contract; overlap is harmless here.
    unsafe { to.copy_from(from, bytes) };
    to
}

/// `memmove`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __olifant_memmove(to: *mut u8, from: *const u8, bytes: usize) -> *mut u8 {
    // SAFETY: the same contract.
    unsafe { __olifant_memcpy(to, from, bytes) }
}

/// `memset`.
#[unsafe(no_mangle)]
unsafe extern "C" fn __olifant_memset(to: *mut u8, value: i32, bytes: usize) -> *mut u8 {
    write(to, bytes);
    // SAFETY: the caller keeps memset's contract.
    unsafe { to.write_bytes(value as u8, bytes) };
    to
}

/// `memcmp`: looks as far as the first difference.
#[unsafe(no_mangle)]
unsafe extern "C" fn __olifant_memcmp(one: *const u8, other: *const u8, bytes: usize) -> i32 {
    let mut looked = bytes;
    let mut result = 0;
    for at in 0..bytes {
        // SAFETY: the caller keeps memcmp's contract.
        let (a, b) = unsafe { (*one.add(at), *other.add(at)) };
        if a != b {
            looked = at + 1;
            result = i32::from(a) - i32::from(b);
            break;
        }
    }
    read(one, looked);
    range(other as u64, looked as u64, READ + instructions(looked));
    result
}
