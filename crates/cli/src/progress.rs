//! A sign of life on a terminal while a program runs: a spinner on stderr, with what is being done and for how long.
//! Nothing is shown where stderr is no terminal, or where the program writes to the same terminal by itself.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{BufRead, BufReader, IsTerminal, PipeReader, stderr, stdout};
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::Duration;

/// Where the program's stdout goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramStdout {
    /// To ours.
    Passed,
    /// To our stderr, as ours is taken by data.
    ToStderr,
}

/// A step that takes its time; its sign vanishes with it.
#[derive(Debug)]
pub struct Step {
    bar: ProgressBar,
    relay: Option<JoinHandle<()>>,
}

impl Step {
    /// Begins to show `what`, and says where the program's stdout must go meanwhile.
    /// # Errors  if the system has no pipe left.
    pub fn begin(what: &str, program: ProgramStdout) -> std::io::Result<(Self, Stdio)> {
        let is_shared = program == ProgramStdout::Passed && stdout().is_terminal();
        if !stderr().is_terminal() || is_shared {
            let plain = match program {
                ProgramStdout::Passed => Stdio::inherit(),
                ProgramStdout::ToStderr => stderr().into(),
            };
            return Ok((Step { bar: ProgressBar::hidden(), relay: None }, plain));
        }
        let bar = ProgressBar::new_spinner().with_message(what.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        if program == ProgramStdout::Passed {
            return Ok((Step { bar, relay: None }, Stdio::inherit()));
        }
        let (reader, writer) = std::io::pipe()?;
        let relay = std::thread::spawn({
            let bar = bar.clone();
            move || relay(reader, &bar)
        });
        Ok((Step { bar, relay: Some(relay) }, writer.into()))
    }
}

impl Drop for Step {
    /// Waits for the rest of the program's output; whoever holds the other end of the pipe must have let go of it.
    fn drop(&mut self) {
        if let Some(relay) = self.relay.take() {
            // A relay that failed has lost nothing but the program's words.
            let _ = relay.join();
        }
        self.bar.finish_and_clear();
    }
}

/// Puts the program's lines above the spinner.
fn relay(reader: PipeReader, bar: &ProgressBar) {
    for line in BufReader::new(reader).split(b'\n') {
        let Ok(line) = line else { return };
        bar.suspend(|| eprintln!("{}", String::from_utf8_lossy(&line)));
    }
}
