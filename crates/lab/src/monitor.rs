//! QEMU's monitor: commands and answers in JSON over a socket.
//! Source: docs/interop/qmp-spec.rst of QEMU.

use crate::LabError;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long QEMU may take to answer, and to read or write a state.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two looks at work that goes on.
const PAUSE: Duration = Duration::from_millis(5);

/// A connection to the monitor.
pub struct Monitor {
    stream: BufReader<UnixStream>,
}

impl Monitor {
    /// Takes up the conversation.
    /// # Errors  `Tool` if QEMU does not answer as it should.
    pub fn new(stream: UnixStream) -> Result<Monitor, LabError> {
        stream.set_read_timeout(Some(PATIENCE)).map_err(broken)?;
        let mut monitor = Monitor { stream: BufReader::new(stream) };
        monitor.next()?;
        monitor.execute("qmp_capabilities", json!({}))?;
        Ok(monitor)
    }

    /// Stops the guest and writes its state to `file`, a name in QEMU's folder.
    /// # Errors  `Tool` if that fails.
    pub fn save(&mut self, file: &str) -> Result<(), LabError> {
        self.execute("stop", json!({}))?;
        self.execute("migrate", json!({ "uri": format!("exec:cat > {file}") }))?;
        self.wait("query-migrate", |status| match status {
            "completed" => Some(Ok(())),
            "failed" | "cancelled" => Some(Err("the state could not be written")),
            _ => None,
        })
    }

    /// Waits until the state that QEMU was started with is read, and lets the guest go on.
    /// # Errors  `Tool` if that fails.
    pub fn go_on(&mut self) -> Result<(), LabError> {
        self.wait("query-status", |status| (status != "inmigrate").then_some(Ok(())))?;
        self.execute("cont", json!({})).map(drop)
    }

    fn wait(
        &mut self,
        query: &str,
        end: impl Fn(&str) -> Option<Result<(), &'static str>>,
    ) -> Result<(), LabError> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            let answer = self.execute(query, json!({}))?;
            if let Some(result) = end(answer["status"].as_str().unwrap_or_default()) {
                return result.map_err(broken);
            }
            std::thread::sleep(PAUSE);
        }
        Err(broken(format!("{query}: no end after {} s", PATIENCE.as_secs())))
    }

    fn execute(&mut self, command: &str, arguments: Value) -> Result<Value, LabError> {
        let mut line = json!({ "execute": command, "arguments": arguments }).to_string();
        line.push('\n');
        self.stream.get_mut().write_all(line.as_bytes()).map_err(broken)?;
        loop {
            let mut answer = self.next()?;
            if let Some(error) = answer.get("error") {
                return Err(broken(format!("{command}: {}", error["desc"].as_str().unwrap_or_default())));
            }
            // Anything else is an event.
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
        }
    }

    fn next(&mut self) -> Result<Value, LabError> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => Err(broken("the monitor was closed")),
            Ok(_) => serde_json::from_str(&line).map_err(broken),
            Err(error) => Err(broken(error)),
        }
    }
}

fn broken(problem: impl ToString) -> LabError {
    LabError::Tool { tool: "QEMU".to_owned(), problem: problem.to_string() }
}
