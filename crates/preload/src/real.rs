//! The C library's versions of what this library defines: the next ones of the name. Each is looked up once.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicPtr, Ordering};

/// One function, found when first asked for.
pub struct Real {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Real {
    /// The function of this name.
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// Its address; null if no library has it. The lookup may allocate, which is why `start` does it early.
    pub fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Acquire);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name is a C string, and RTLD_NEXT is allowed in any object.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Release);
        found
    }
}

/// Declares functions of the C library by their C types: `NAME: fn(...) -> ... = c"name"`. Gives a `Real` each and a
/// function that calls it, or answers `$missing` where there is none.
macro_rules! real {
    ($($place:ident, $call:ident: fn($($argument:ident: $kind:ty),*) -> $answer:ty = $name:literal or $missing:expr;)*) => { $(
        pub static $place: $crate::real::Real = $crate::real::Real::new($name);

        /// Calls it.
        ///
        /// # Safety
        /// As for the C library's function.
        pub unsafe fn $call($($argument: $kind),*) -> $answer {
            let address = $place.address();
            if address.is_null() {
                $crate::errno::set(libc::ENOSYS);
                return $missing;
            }
            // SAFETY: the C library's function of this name has this type.
            let function: unsafe extern "C" fn($($kind),*) -> $answer = unsafe { core::mem::transmute(address) };
            // SAFETY: passed on to the caller.
            unsafe { function($($argument),*) }
        }
    )* };
}
pub(crate) use real;
