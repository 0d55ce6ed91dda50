//! What the runtime says to the person: whole lines on standard error, past the program's stdio.

use crate::sys;

/// Writes `olifant: ` and the text as one line to standard error.
pub fn say(text: &str) {
    let line = format!("olifant: {text}\n");
    // A closed standard error leaves nobody to tell.
    let _ = sys::write_all(libc::STDERR_FILENO, line.as_bytes());
}

/// Says why the run cannot go on and ends the process with code 2 (wrong usage or failure).
pub fn give_up(text: &str) -> ! {
    say(text);
    sys::exit_group(2)
}
