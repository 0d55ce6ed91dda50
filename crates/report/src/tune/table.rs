//! The comparison for a person: the verdict in one line, the figures side by side, then the areas that mattered most,
//! each with its line of source and what was done.

use super::{AreaRow, TuneReport, Verdict};
use crate::grid::{Column, Grid};
use crate::number::{change, factor, grouped, measure, megabytes_per_second, percent, size};
use crate::run::seconds_name;
use crate::text::{base_name, cut, elide, wrap};
use crate::{RunRow, Style};

/// A count of a run.
type Count = fn(&RunRow) -> u64;

/// Where the text under an area's row begins.
const INDENT: &str = "     ";

impl TuneReport {
    /// As text, with the `top` areas that mattered most.
    pub fn table(&self, style: Style, top: usize) -> String {
        let mut lines = self.heading(style.width);
        lines.push(String::new());
        lines.extend(self.figures(style.width));
        lines.push(String::new());
        lines.extend(self.area_lines(style.width, top));
        let threads = self.thread_plan.as_ref().map(|cpus| format!("threads in order on cpus {cpus}"));
        let plan = self.plan.as_ref().map(|path| format!("plan: {path}"));
        if threads.is_some() || plan.is_some() {
            lines.push(String::new());
        }
        let room = style.width.saturating_sub(1);
        for said in threads.iter().chain(&plan) {
            lines.extend(wrap(said, room).iter().map(|line| format!(" {line}")));
        }
        lines.join("\n") + "\n"
    }

    fn heading(&self, width: usize) -> Vec<String> {
        let words: Vec<&str> =
            std::iter::once(base_name(&self.program)).chain(self.args.iter().map(String::as_str)).collect();
        let place = format!(
            " on {} {}, {} threads, seed {}",
            self.machine, self.configuration, self.threads, self.seed
        );
        let room = width.saturating_sub(place.chars().count() + 1).max(20);
        let verdict = match (self.verdict, &self.tuned) {
            (Verdict::Tuned, Some(tuned)) => {
                let packets = change(self.untuned.packets() as f64, tuned.packets() as f64);
                format!(
                    "tuned: {} times faster, network packets {packets}",
                    factor(self.untuned.seconds / tuned.seconds)
                )
            }
            (verdict, _) => format!("{}: {}", verdict.word(), self.because),
        };
        let mut lines = vec![format!(" {}{place}", elide(&words.join(" "), room))];
        lines.extend(wrap(&verdict, width.saturating_sub(1)).iter().map(|line| format!(" {line}")));
        lines
    }

    fn figures(&self, width: usize) -> Vec<String> {
        let runs: Vec<&RunRow> = std::iter::once(&self.untuned).chain(&self.tuned).collect();
        let mut columns = vec![("", Column::Text), ("untuned", Column::FlexibleNumber)];
        if self.tuned.is_some() {
            columns.extend([("tuned", Column::FlexibleNumber), ("", Column::Text)]);
        }
        let mut grid = Grid::new(columns);
        let mut row =
            |name: &str, shown: &dyn Fn(&RunRow) -> String, value: Option<&dyn Fn(&RunRow) -> f64>| {
                let mut cells = vec![name.to_owned()];
                cells.extend(runs.iter().map(|run| shown(run)));
                if let [untuned, tuned] = runs[..] {
                    cells.push(value.map_or(String::new(), |value| change(value(untuned), value(tuned))));
                }
                grid.row(cells);
            };
        row("placement", &|run| run.placement.clone(), None);
        row(seconds_name(self.untuned.evidence), &|run| measure(run.seconds), Some(&|run| run.seconds));
        if let Some(single) = &self.single {
            let speed_up = |run: &RunRow| single.seconds / run.seconds;
            row("speed-up over 1 cpu", &|run| factor(speed_up(run)), Some(&speed_up));
        }
        let counts: [(&str, Count); 7] = [
            ("accesses", |run| run.accesses),
            ("L1 misses", |run| run.l1_misses),
            ("L2 misses", |run| run.l2_misses),
            ("remote transactions", |run| run.remote_transactions),
            ("request packets", |run| run.request_packets),
            ("response packets", |run| run.response_packets),
            ("packets in all", RunRow::packets),
        ];
        for (name, count) in counts {
            row(name, &|run| grouped(count(run)), Some(&|run| count(run) as f64));
        }
        let rate = RunRow::network_bytes_per_s;
        row("MB/s on the links", &|run| megabytes_per_second(rate(run)), Some(&rate));
        for (index, (name, ..)) in self.untuned.busiest().into_iter().enumerate() {
            let shown = |run: &RunRow| {
                let (_, busiest, utilisation) = run.busiest()[index];
                if busiest.is_empty() {
                    "-".to_owned()
                } else {
                    format!("{busiest}  {}", percent(utilisation))
                }
            };
            row(name, &shown, Some(&|run| run.busiest()[index].2));
        }
        grid.lines(width)
    }

    fn area_lines(&self, width: usize, top: usize) -> Vec<String> {
        let shown = &self.areas[..top.min(self.areas.len())];
        if shown.is_empty() {
            return vec![" No area was reached from another node.".to_owned()];
        }
        let mut columns = vec![
            ("", Column::Number),
            ("area", Column::Flexible),
            ("size", Column::Number),
            ("remote untuned", Column::Number),
        ];
        if self.tuned.is_some() {
            columns.extend([("tuned", Column::Number), ("", Column::Text)]);
        }
        let mut grid = Grid::new(columns);
        for (index, area) in shown.iter().enumerate() {
            let mut cells =
                vec![(index + 1).to_string(), title(area), size(area.bytes), grouped(area.remote_before)];
            if let (Some(_), Some(after)) = (&self.tuned, area.remote_after) {
                cells.extend([grouped(after), change(area.remote_before as f64, after as f64)]);
            }
            grid.row(cells);
        }
        let mut table = grid.lines(width).into_iter();
        let mut lines: Vec<String> = table.by_ref().take(2).collect();
        for (row, area) in table.zip(shown) {
            lines.push(row);
            lines.extend(details(area, width));
        }
        let hidden = self.areas.len() - shown.len();
        if hidden > 0 {
            let remote: u64 = self.areas[shown.len()..].iter().map(|area| area.remote_before).sum();
            lines.push(format!(" and {hidden} more with {} remote transactions", grouped(remote)));
        }
        lines
    }
}

/// The name of a row.
fn title(area: &AreaRow) -> String {
    match area.count {
        1 => area.name.clone(),
        count => format!("{count} × {}", area.name),
    }
}

/// The source line, the decision and its reason, under the row.
fn details(area: &AreaRow, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(text), Some(line)) = (&area.source_line, area.line) {
        let number = format!("{INDENT}{line} │ ");
        let room = width.saturating_sub(number.chars().count()).max(20);
        lines.push(number + &cut(text, room));
    }
    let mut said = vec![area.decision.clone()];
    said.extend((!area.reason.is_empty()).then(|| area.reason.clone()));
    let room = width.saturating_sub(INDENT.len() + 2).max(20);
    for (index, line) in wrap(&said.join("; "), room).iter().enumerate() {
        let mark = if index == 0 { "→" } else { " " };
        lines.push(format!("{INDENT}{mark} {line}"));
    }
    lines
}
