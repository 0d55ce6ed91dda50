//! Thread-specific data: `pthread_key_create` and its like, and C11's `tss_*`.
//!
//! Ours and not the C library's, because its destructors would run on the donor threads.

use crate::context::Routine;
use crate::state::with;

/// Most keys at once, as in glibc.
const MOST_KEYS: usize = 1024;
/// Rounds of destructors, PTHREAD_DESTRUCTOR_ITERATIONS.
const ROUNDS: usize = 4;

#[derive(Clone, Copy, Default)]
struct Key {
    is_used: bool,
    destructor: Option<Routine>,
}

/// All keys of the process.
#[derive(Default)]
pub struct Keys {
    keys: Vec<Key>,
}

/// `pthread_key_create`.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_create(key: *mut u32, destructor: Option<Routine>) -> i32 {
    let number = with(|runtime| {
        let keys = &mut runtime.keys.keys;
        let number = keys.iter().position(|key| !key.is_used).unwrap_or(keys.len());
        if number >= MOST_KEYS {
            return None;
        }
        keys.resize(keys.len().max(number + 1), Key::default());
        keys[number] = Key { is_used: true, destructor };
        Some(number as u32)
    });
    match number {
        Some(number) => {
            // SAFETY: the caller passes room for a key.
            unsafe { *key = number };
            0
        }
        None => libc::EAGAIN,
    }
}

/// `pthread_key_delete`: the key's values are forgotten, no destructor runs.
#[unsafe(no_mangle)]
extern "C" fn pthread_key_delete(key: u32) -> i32 {
    with(|runtime| {
        let Some(entry) = runtime.keys.keys.get_mut(key as usize).filter(|entry| entry.is_used) else {
            return libc::EINVAL;
        };
        *entry = Key::default();
        for thread in &mut runtime.threads {
            thread.specific.retain(|&(of, _)| of != key);
        }
        0
    })
}

/// `pthread_setspecific`.
#[unsafe(no_mangle)]
extern "C" fn pthread_setspecific(key: u32, value: usize) -> i32 {
    with(|runtime| {
        if !runtime.keys.keys.get(key as usize).is_some_and(|entry| entry.is_used) {
            return libc::EINVAL;
        }
        let values = &mut runtime.running().specific;
        match values.iter_mut().find(|(of, _)| *of == key) {
            Some(entry) => entry.1 = value,
            None => values.push((key, value)),
        }
        0
    })
}

/// `pthread_getspecific`.
#[unsafe(no_mangle)]
extern "C" fn pthread_getspecific(key: u32) -> usize {
    with(|runtime| {
        let values = &runtime.running().specific;
        values.iter().find(|(of, _)| *of == key).map_or(0, |&(_, value)| value)
    })
}

/// Runs the destructors of the running thread's values, in the order of the keys, as often as they set new ones, up to
/// the limit that POSIX gives.
pub fn run_destructors() {
    for _ in 0..ROUNDS {
        let due = with(|runtime| {
            let mut values = core::mem::take(&mut runtime.running().specific);
            values.sort_unstable_by_key(|&(key, _)| key);
            let keys = &runtime.keys.keys;
            values
                .into_iter()
                .filter(|&(_, value)| value != 0)
                .filter_map(|(key, value)| Some((keys[key as usize].destructor?, value)))
                .collect::<Vec<_>>()
        });
        if due.is_empty() {
            break;
        }
        for (destructor, value) in due {
            // SAFETY: the program registered the destructor for values of this key.
            unsafe { destructor(value) };
        }
    }
}

/// C11 `tss_create`.
#[unsafe(no_mangle)]
unsafe extern "C" fn tss_create(key: *mut u32, destructor: Option<Routine>) -> i32 {
    // SAFETY: the same contract.
    let error = unsafe { pthread_key_create(key, destructor) };
    crate::c11::from_errno(error)
}

/// C11 `tss_delete`.
#[unsafe(no_mangle)]
extern "C" fn tss_delete(key: u32) {
    pthread_key_delete(key);
}

/// C11 `tss_get`.
#[unsafe(no_mangle)]
extern "C" fn tss_get(key: u32) -> usize {
    pthread_getspecific(key)
}

/// C11 `tss_set`.
#[unsafe(no_mangle)]
extern "C" fn tss_set(key: u32, value: usize) -> i32 {
    crate::c11::from_errno(pthread_setspecific(key, value))
}
