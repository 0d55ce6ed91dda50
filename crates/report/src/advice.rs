//! Advice for a reader: what a plan would do with each area and why, what is expected of it, and what only the
//! programmer can change.
//!
//! The plan itself, as TOML, is for the next run; here it is told, as a table, JSON or CSV.

use crate::grid::{Column, Grid};
use crate::number::{change, grouped, percent, size};
use crate::text::{base_name, wrap};
use crate::{Style, csv, decision};
use olifant_advisor::{Advice, Verdict};
use olifant_placement::{AreaMatch, AreaPlan};
use serde::Serialize;

/// Advice as it is shown. Fields may be added, none is renamed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdviceReport {
    /// The program's file name.
    pub program: String,
    /// Name of the machine.
    pub machine: String,
    /// The configuration, as `4N4`.
    pub configuration: String,
    /// `tune` or `leave it alone`.
    pub verdict: &'static str,
    /// Why it is to be left alone; empty otherwise.
    pub because: String,
    /// Accesses that left their node.
    pub remote_before: u64,
    /// The same as expected with the plan.
    pub remote_after: u64,
    /// Expected time as a share of the time before.
    pub time_ratio: f64,
    /// Thread i runs on this cpu; empty leaves threads alone.
    pub threads: Vec<u16>,
    /// What goes where, the weightiest first.
    pub areas: Vec<AdviceRow>,
    /// What placement cannot mend, as sentences.
    pub findings: Vec<String>,
}

/// The decision for one entry of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AdviceRow {
    /// A symbol, or `function (file:line)`.
    pub name: String,
    /// Size in bytes, if the entry is for one size.
    pub bytes: Option<u64>,
    /// 0-based ordinal among the allocations of this site and size, if the entry is for one.
    pub ordinal: Option<u32>,
    /// Accesses that left their node.
    pub remote_before: u64,
    /// The same as expected.
    pub remote_after: u64,
    /// What is to be done.
    pub decision: String,
    /// Why.
    pub reason: String,
}

impl AdviceReport {
    /// The report of `advice`.
    pub fn new(advice: &Advice) -> Self {
        let (verdict, because) = match &advice.verdict {
            Verdict::Tune => ("tune", String::new()),
            Verdict::LeaveAlone { reason } => (crate::Verdict::LeaveItAlone.word(), reason.clone()),
        };
        AdviceReport {
            program: advice.plan.program.clone(),
            machine: advice.plan.machine.clone(),
            configuration: advice.plan.configuration.clone(),
            verdict,
            because,
            remote_before: advice.effect.remote_before,
            remote_after: advice.effect.remote_after,
            time_ratio: advice.effect.time_ratio,
            threads: advice.plan.threads.iter().map(|cpu| cpu.0).collect(),
            areas: advice.plan.areas.iter().map(row).collect(),
            findings: advice.findings.iter().map(ToString::to_string).collect(),
        }
    }

    /// As one JSON object.
    pub fn json(&self) -> String {
        crate::json(self)
    }

    /// As a header and a row for each area.
    pub fn csv(&self) -> String {
        let mut text =
            csv::line(["area", "bytes", "ordinal", "remote_before", "remote_after", "decision", "reason"]);
        for area in &self.areas {
            text += &csv::line([
                area.name.clone(),
                area.bytes.map_or(String::new(), |bytes| bytes.to_string()),
                area.ordinal.map_or(String::new(), |ordinal| ordinal.to_string()),
                area.remote_before.to_string(),
                area.remote_after.to_string(),
                area.decision.clone(),
                area.reason.clone(),
            ]);
        }
        text
    }

    /// As text, with the `top` areas that matter most.
    pub fn table(&self, style: Style, top: usize) -> String {
        let paragraph = |text: &str| -> Vec<String> {
            wrap(text, style.width.saturating_sub(1)).iter().map(|line| format!(" {line}")).collect()
        };
        let mut lines = vec![format!(" {} on {} {}", self.program, self.machine, self.configuration)];
        lines.extend(paragraph(&self.expectation()));
        if !self.threads.is_empty() {
            let cpus: Vec<String> = self.threads.iter().map(u16::to_string).collect();
            lines.extend(paragraph(&format!("threads on cpus {}", cpus.join(" "))));
        }
        if !self.areas.is_empty() {
            lines.push(String::new());
            lines.extend(self.area_lines(style.width, top));
        }
        if !self.findings.is_empty() {
            lines.push(String::new());
            lines.push(" For the programmer:".to_owned());
            for finding in &self.findings {
                for (index, line) in wrap(finding, style.width.saturating_sub(3)).iter().enumerate() {
                    lines.push(format!(" {} {line}", if index == 0 { "-" } else { " " }));
                }
            }
        }
        lines.join("\n") + "\n"
    }

    fn expectation(&self) -> String {
        if !self.because.is_empty() {
            return format!("{}: {}", self.verdict, self.because);
        }
        format!(
            "{}: expected {} of the time, remote accesses {} ({} to {})",
            self.verdict,
            percent(self.time_ratio),
            change(self.remote_before as f64, self.remote_after as f64),
            grouped(self.remote_before),
            grouped(self.remote_after)
        )
    }

    fn area_lines(&self, width: usize, top: usize) -> Vec<String> {
        const INDENT: &str = "     ";
        let shown = &self.areas[..top.min(self.areas.len())];
        let mut grid = Grid::new([
            ("", Column::Number),
            ("area", Column::Flexible),
            ("size", Column::Number),
            ("remote", Column::Number),
            ("expected", Column::Number),
        ]);
        for (index, area) in shown.iter().enumerate() {
            grid.row([
                (index + 1).to_string(),
                area.name.clone(),
                area.bytes.map_or(String::new(), size),
                grouped(area.remote_before),
                grouped(area.remote_after),
            ]);
        }
        let mut table = grid.lines(width).into_iter();
        let mut lines: Vec<String> = table.by_ref().take(2).collect();
        for (line, area) in table.zip(shown) {
            lines.push(line);
            let room = width.saturating_sub(INDENT.len() + 2).max(20);
            for (index, line) in wrap(&format!("{}: {}", area.decision, area.reason), room).iter().enumerate()
            {
                lines.push(format!("{INDENT}{} {line}", if index == 0 { "→" } else { " " }));
            }
        }
        let hidden = self.areas.len() - shown.len();
        if hidden > 0 {
            lines.push(format!(" and {hidden} more; --top {} shows them", self.areas.len()));
        }
        lines
    }
}

fn row(entry: &AreaPlan) -> AdviceRow {
    let (name, bytes, ordinal) = match &entry.area {
        AreaMatch::Symbol(symbol) => (symbol.clone(), None, None),
        AreaMatch::Site { function, file, bytes, ordinal, .. } if file.is_empty() => {
            (function.clone(), *bytes, *ordinal)
        }
        AreaMatch::Site { function, file, line, bytes, ordinal } => {
            (format!("{function} ({}:{line})", base_name(file)), *bytes, *ordinal)
        }
    };
    AdviceRow {
        name,
        bytes,
        ordinal,
        remote_before: entry.remote_before,
        remote_after: entry.remote_after,
        decision: decision::words(&entry.decision),
        reason: entry.reason.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use olifant_advisor::Effect;
    use olifant_machine::{CpuId, NodeId};
    use olifant_placement::{Decision, MemoryPolicy, Plan};

    fn advice(verdict: Verdict) -> Advice {
        let area = AreaPlan {
            area: AreaMatch::Site {
                function: "main".to_owned(),
                file: "grid.c".to_owned(),
                line: 12,
                bytes: Some(1 << 20),
                ordinal: None,
            },
            decision: Decision::Policy(MemoryPolicy::Node(NodeId(1))),
            reason: "node 1 uses it most".to_owned(),
            remote_before: 1000,
            remote_after: 10,
        };
        Advice {
            plan: Plan {
                program: "grid".to_owned(),
                machine: "olifant".to_owned(),
                configuration: "4N4".to_owned(),
                threads: vec![CpuId(4), CpuId(0)],
                areas: vec![area],
                ..Plan::default()
            },
            verdict,
            effect: Effect {
                remote_before: 1000,
                remote_after: 10,
                packets_before: 2000,
                packets_after: 20,
                accesses: 5000,
                time_ratio: 0.5,
            },
            findings: Vec::new(),
        }
    }

    #[test]
    fn the_table_tells_expectation_decision_and_reason() {
        let expected = [
            " grid on olifant 4N4",
            " tune: expected 50 % of the time, remote accesses 100× less (1,000 to 10)",
            " threads on cpus 4 0",
            "",
            "    area                  size  remote  expected",
            "─────────────────────────────────────────────────",
            " 1  main (grid.c:12)  1.00 MiB   1,000        10",
            "     → node:1: node 1 uses it most",
        ];
        let table = AdviceReport::new(&advice(Verdict::Tune)).table(Style::default(), 5);
        assert_eq!(table.lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_program_to_be_left_alone_says_why() {
        let verdict = Verdict::LeaveAlone { reason: "no access left its node".to_owned() };
        let report = AdviceReport::new(&advice(verdict));
        assert!(report.table(Style::default(), 5).contains("leave it alone: no access left its node"));
        assert!(report.json().contains("\"verdict\": \"leave it alone\""));
    }

    #[test]
    fn the_csv_has_a_row_for_each_area() {
        let expected = "area,bytes,ordinal,remote_before,remote_after,decision,reason\n\
                        main (grid.c:12),1048576,,1000,10,node:1,node 1 uses it most\n";
        assert_eq!(AdviceReport::new(&advice(Verdict::Tune)).csv(), expected);
    }
}
