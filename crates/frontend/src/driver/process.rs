//! Running compilers: alone, or as a filter from text to text. Text goes through pipes, so a killed build leaves no
//! temporary files of ours.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::error::DriverError;
use super::response;

/// A longer command line goes into a response file (Linux allows one argument 128 KiB, all together about 2 MiB).
const LONGEST_COMMAND_LINE: usize = 512 * 1024;

/// A compiler's command line in the making.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Tool {
    /// A tool without arguments.
    pub fn new(program: impl Into<OsString>) -> Tool {
        Tool { program: program.into(), arguments: vec![] }
    }

    /// Adds one argument.
    pub fn argument(&mut self, argument: impl Into<OsString>) -> &mut Tool {
        self.arguments.push(argument.into());
        self
    }

    /// Adds several.
    pub fn arguments<T: Into<OsString>>(&mut self, arguments: impl IntoIterator<Item = T>) -> &mut Tool {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Runs it with our standard streams.
    /// # Errors `CompilerFailed` with its exit code, or that it could not be started.
    pub fn run(&self) -> Result<(), DriverError> {
        succeeded(self.command().status().map_err(|error| self.start_error(error))?)
    }

    /// Runs it with a response file in `directory` if the line is too long for the system.
    /// # Errors as `run`; or the file could not be written.
    pub fn run_long(&self, directory: &Path) -> Result<(), DriverError> {
        let length: usize = self.arguments.iter().map(|argument| argument.len() + 1).sum();
        if length <= LONGEST_COMMAND_LINE {
            return self.run();
        }
        let path = directory.join("arguments");
        std::fs::write(&path, response::quote(&self.arguments))
            .map_err(|source| DriverError::File { path: path.clone(), source })?;
        let mut name = OsString::from("@");
        name.push(path);
        Tool { program: self.program.clone(), arguments: vec![name] }.run()
    }

    /// Runs it with our standard input and returns its output.
    /// # Errors as `run`.
    pub fn output(&self) -> Result<String, DriverError> {
        let child = self.command().stdout(Stdio::piped()).spawn().map_err(|error| self.start_error(error))?;
        self.finish(child)
    }

    /// Runs it on `input` and returns its output.
    /// # Errors as `run`.
    pub fn filter(&self, input: &str) -> Result<String, DriverError> {
        let mut child = self
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| self.start_error(error))?;
        let stdin = child.stdin.take();
        // Both pipes are served at once: a tool may write before it has read everything.
        std::thread::scope(|scope| {
            scope.spawn(move || {
                // A tool that stops reading early says why by its exit code.
                let _ = stdin.map(|mut pipe| pipe.write_all(&to_bytes(input)));
            });
            self.finish(child)
        })
    }

    /// Runs it on `input` with our standard output.
    /// # Errors as `run`.
    pub fn consume(&self, input: &str) -> Result<(), DriverError> {
        let mut child =
            self.command().stdin(Stdio::piped()).spawn().map_err(|error| self.start_error(error))?;
        // As above: the exit code tells.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(&to_bytes(input)));
        succeeded(child.wait().map_err(|error| self.start_error(error))?)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }

    fn finish(&self, child: Child) -> Result<String, DriverError> {
        let output = child.wait_with_output().map_err(|error| self.start_error(error))?;
        succeeded(output.status)?;
        Ok(to_text(&output.stdout))
    }

    fn start_error(&self, source: std::io::Error) -> DriverError {
        DriverError::Start { program: self.program.to_string_lossy().into_owned(), source }
    }
}

/// Bytes as text, one character each: compilers write string constants as they come, in any encoding.
fn to_text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes of such text.
pub fn to_bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()
}

fn succeeded(status: ExitStatus) -> Result<(), DriverError> {
    match status.success() {
        true => Ok(()),
        // A compiler ended by a signal has no code of its own.
        false => Err(DriverError::CompilerFailed(status.code().unwrap_or(1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_writes_before_it_has_read_does_not_block() {
        let text = "line\n".repeat(200_000);
        assert_eq!(Tool::new("cat").filter(&text).unwrap(), text);
    }

    #[test]
    fn every_byte_passes_through() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(to_bytes(&to_text(&bytes)), bytes);
    }

    #[test]
    fn a_failed_tool_gives_its_exit_code() {
        let error = Tool::new("sh").arguments(["-c", "exit 7"]).output().unwrap_err();
        assert!(matches!(error, DriverError::CompilerFailed(7)));
        let error = Tool::new("/no/such/tool").run().unwrap_err();
        assert!(error.to_string().starts_with("cannot run /no/such/tool"));
    }
}
