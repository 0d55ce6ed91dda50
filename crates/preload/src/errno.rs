//! The program's `errno`, which calls of ours set as the C library's do.

/// Sets it.
pub fn set(number: i32) {
    // SAFETY: the C library gives the calling thread's own place.
    unsafe { *libc::__errno_location() = number };
}
