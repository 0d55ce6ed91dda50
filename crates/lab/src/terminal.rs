//! The host's terminal while a program in the guest uses it: every key goes through, and what it was set to comes back.

use crate::protocol::TerminalSize;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr};
use std::io;

/// Whether a person sits at both ends.
pub fn is_interactive() -> bool {
    isatty(io::stdin()) && isatty(io::stdout())
}

/// The terminal's size; 80 by 24 where it does not tell.
pub fn size() -> TerminalSize {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 => TerminalSize { columns: size.ws_col, rows: size.ws_row },
        _ => TerminalSize { columns: 80, rows: 24 },
    }
}

/// The terminal in raw mode; dropping it restores what was.
pub struct RawTerminal(Termios);

impl RawTerminal {
    /// Sets the terminal.
    /// # Errors  Those of tcsetattr(3).
    pub fn new() -> io::Result<RawTerminal> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(RawTerminal(before))
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        // A terminal that is gone needs no settings.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}
