//! What a call answers: 0 or a count, or a negative error number with a text kept for the thread.

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_int};
use olifant_sys::Errno;
use rset::{Error, System};
use std::ffi::CString;

/// A failed call: its number, and its text.
pub struct Failure {
    errno: Errno,
    text: String,
}

pub type Answer<T> = Result<T, Failure>;

thread_local! {
    static TEXT: RefCell<CString> = RefCell::new(CString::default());
}

impl Failure {
    pub fn new(errno: Errno, text: impl Into<String>) -> Failure {
        Failure { errno, text: text.into() }
    }

    /// An argument that is null where it must not be, by its name.
    pub fn null(argument: &str) -> Failure {
        Failure::new(Errno::EINVAL, format!("{argument} is NULL"))
    }

    /// The number for C, with the text kept.
    pub fn keep(self) -> c_int {
        keep_text(&self.text);
        -self.errno.0
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let text = match &error {
            Error::Text(error) => error.with_caret(),
            _ => error.to_string(),
        };
        Failure { errno: error.errno(), text }
    }
}

/// Keeps a text for the calling thread.
pub fn keep_text(text: &str) {
    // A text with a zero inside could only repeat one that came from C, which has none.
    let text = CString::new(text).unwrap_or_default();
    TEXT.with(|kept| *kept.borrow_mut() = text);
}

/// The answer for C of a call that has nothing else to say.
pub fn done(answer: Answer<()>) -> c_int {
    count(answer.map(|()| 0))
}

/// The answer for C of a call that counts.
pub fn count(answer: Answer<usize>) -> c_int {
    match answer.and_then(|count| {
        c_int::try_from(count).map_err(|_| Failure::new(Errno::EINVAL, format!("{count} is beyond an int")))
    }) {
        Ok(count) => count,
        Err(failure) => failure.keep(),
    }
}

/// The machine, found at the first call.
pub fn system() -> Answer<&'static System> {
    Ok(System::own()?)
}

/// A text of C.
///
/// # Safety
/// `text` is null or a string that ends with a zero and stays as it is for `'a`.
pub unsafe fn text<'a>(text: *const c_char, argument: &str) -> Answer<&'a str> {
    if text.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: the caller vouches.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map_err(|_| Failure::new(Errno::EINVAL, format!("{argument} is not UTF-8")))
}

/// An object that a call of this library made.
///
/// # Safety
/// `pointer` is null or points to a live object of this type that nobody changes for `'a`.
pub unsafe fn object<'a, T>(pointer: *const T, argument: &str) -> Answer<&'a T> {
    // SAFETY: the caller vouches.
    unsafe { pointer.as_ref() }.ok_or_else(|| Failure::null(argument))
}

/// Gives an object to C.
///
/// # Safety
/// `place` is null or writable.
pub unsafe fn give<T>(value: T, place: *mut *mut T, argument: &str) -> Answer<()> {
    if place.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: not null, and the caller vouches that it is writable.
    unsafe { place.write(Box::into_raw(Box::new(value))) };
    Ok(())
}

/// Takes an object back from C and ends it; null is nothing.
///
/// # Safety
/// `pointer` is null or was given by [`give`], and is not used after.
pub unsafe fn end<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller vouches that it came from a box and is not used after.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_error_text() -> *const c_char {
    TEXT.with(|kept| kept.borrow().as_ptr())
}

/// See `rset.h`.
#[unsafe(no_mangle)]
extern "C" fn rset_version() -> *const c_char {
    c"1.0.0".as_ptr()
}
