//! A plan as text: TOML for people, one `[[area]]` per decision. What it means stands in docs/plan.md.

use crate::plan::{AreaMatch, AreaPlan, Decision, Plan, Run};
use crate::{cpu_list, site_text};
use core::fmt::Write as _;

impl Plan {
    /// The plan as TOML. It reads back equal by [`Plan::from_toml`] if it obeys the laws of the form: blocks have at
    /// least one run, each run at least one page, parts at least one node, counts stay below 2^63, and the time ratio is finite.
    pub fn to_toml(&self) -> String {
        let mut text = Text(String::new());
        text.string("program", &self.program);
        text.string("machine", &self.machine);
        text.string("configuration", &self.configuration);
        if !self.threads.is_empty() {
            text.string("threads", &cpu_list::format(&self.threads));
        }
        if let Some(predicted) = &self.predicted {
            text.header("\n[predicted]");
            text.number("remote_before", predicted.remote_before);
            text.number("remote_after", predicted.remote_after);
            text.line("time_ratio", &format!("{:?}", predicted.time_ratio));
        }
        for area in &self.areas {
            text.header("\n[[area]]");
            text.area(area);
        }
        text.0
    }
}

/// TOML under construction. Writing to a string cannot fail.
struct Text(String);

impl Text {
    fn header(&mut self, header: &str) {
        let _ = writeln!(self.0, "{header}");
    }

    fn line(&mut self, key: &str, value: &str) {
        let _ = writeln!(self.0, "{key} = {value}");
    }

    fn number(&mut self, key: &str, number: u64) {
        self.line(key, &number.to_string());
    }

    fn string(&mut self, key: &str, string: &str) {
        self.line(key, &toml::Value::from(string).to_string());
    }

    fn area(&mut self, area: &AreaPlan) {
        match &area.area {
            AreaMatch::Site { function, file, line, bytes, ordinal } => {
                match site_text::format(function, file, *line) {
                    Some(site) => self.string("site", &site),
                    None => {
                        self.string("function", function);
                        self.string("file", file);
                        self.number("line", u64::from(*line));
                    }
                }
                if let Some(bytes) = bytes {
                    self.number("bytes", *bytes);
                }
                if let Some(ordinal) = ordinal {
                    self.number("ordinal", u64::from(*ordinal));
                }
            }
            AreaMatch::Symbol(symbol) => self.string("symbol", symbol),
        }
        match &area.decision {
            Decision::Policy(policy) => self.string("policy", &policy.to_string()),
            Decision::Blocks(runs) => self.string("blocks", &blocks(runs)),
            Decision::Parts(nodes) => {
                let numbers: Vec<u16> = nodes.iter().map(|node| node.0).collect();
                self.string("parts", &cpu_list::compact_list(&numbers));
            }
            Decision::Replicate => self.string("advice", "replicate"),
            Decision::Pad => self.string("advice", "pad"),
        }
        self.string("reason", &area.reason);
        self.number("remote_before", area.remote_before);
        self.number("remote_after", area.remote_after);
    }
}

/// Runs as `first-last:node`, by page numbers.
fn blocks(runs: &[Run]) -> String {
    let mut text = String::new();
    let mut first = 0u64;
    for run in runs.iter().filter(|run| run.pages > 0) {
        let last = first + run.pages - 1;
        let gap = if text.is_empty() { "" } else { " " };
        let _ = if first == last {
            write!(text, "{gap}{first}:{}", run.node)
        } else {
            write!(text, "{gap}{first}-{last}:{}", run.node)
        };
        first = last + 1;
    }
    text
}
