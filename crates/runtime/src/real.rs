//! The C library's own versions of functions that the runtime replaces.

use core::ffi::CStr;

/// The address of the next definition of `name` after the program's own.
pub fn address(name: &CStr) -> usize {
    // SAFETY: the name is a C string; dlsym has no other condition.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if address.is_null() {
        crate::say::give_up(&format!(
            "the C library has no {name:?}: link the program dynamically with glibc"
        ));
    }
    address as usize
}

/// Calls the C library's version of a function: `real!(c"fork" as fn() -> i32)()`.
macro_rules! real {
    ($name:literal as fn($($argument:ty),* $(,)?) $(-> $result:ty)?) => {{
        type Function = unsafe extern "C" fn($($argument),*) $(-> $result)?;
        static FOUND: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
        let mut address = FOUND.load(core::sync::atomic::Ordering::Relaxed);
        if address == 0 {
            address = $crate::real::address($name);
            FOUND.store(address, core::sync::atomic::Ordering::Relaxed);
        }
        // SAFETY: the address is that of the named function, whose type the call states.
        #[allow(unused_unsafe)]
        unsafe {
            core::mem::transmute::<usize, Function>(address)
        }
    }};
}
pub(crate) use real;
