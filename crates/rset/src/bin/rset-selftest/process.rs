//! The second process as the first sees it: started with a job, it does it, says where, and waits to be looked at.

use core::ops::Range;
use rset::Pid;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

/// A running holder.
pub struct Holder {
    child: Child,
    /// Ranges of addresses that it told, in order.
    pub ranges: Vec<Range<usize>>,
    /// Other words that it told, in order.
    pub words: Vec<String>,
}

impl Holder {
    /// Starts one and waits until its job is done; the error is what it said.
    pub fn start(job: &[&str]) -> Result<Holder, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut child = Command::new(own)
            .arg("hold")
            .args(job)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("start the second process: {error}"))?;
        let Some(output) = child.stdout.take() else { return Err("it has no output".to_owned()) };
        let mut holder = Holder { child, ranges: Vec::new(), words: Vec::new() };
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| error.to_string())?;
            match line.split_once(' ') {
                Some(("range", range)) => holder.ranges.push(parse_range(range)?),
                Some(("word", word)) => holder.words.push(word.to_owned()),
                Some(("error", error)) => return Err(error.to_owned()),
                _ => return Ok(holder),
            }
        }
        Err("the second process ended early".to_owned())
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        Pid(self.child.id().cast_signed())
    }
}

impl Drop for Holder {
    /// A holder ends when its input does; one that failed has ended already.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn parse_range(text: &str) -> Result<Range<usize>, String> {
    let number = |text: &str| usize::from_str_radix(text, 16).map_err(|error| error.to_string());
    let (start, end) = text.split_once('-').ok_or("a range without a minus")?;
    Ok(number(start)?..number(end)?)
}
