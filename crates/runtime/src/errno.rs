//! `errno` of the running thread.

/// Sets errno and returns -1, as failing functions of the C library do.
pub fn fail<T: From<i8>>(error: i32) -> T {
    set(error);
    T::from(-1)
}

/// Sets errno.
pub fn set(error: i32) {
    // SAFETY: the location belongs to the thread whose storage FS points at, the running one.
    unsafe { *libc::__errno_location() = error };
}

/// Turns a result of the kernel into one of the C library: negative ones become -1 and errno.
pub fn from_kernel(result: isize) -> isize {
    if (-4095..0).contains(&result) { fail(-result as i32) } else { result }
}
