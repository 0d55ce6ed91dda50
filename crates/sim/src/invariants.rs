//! The simulator's laws as a walk over its whole state. Costly: tests call it, and debug builds now and then.

use crate::cache::LineState;
use crate::directory::Holder;
use crate::engine::Engine;
use crate::level1::Found;
use crate::observer::Observer;
use std::collections::HashMap;
use std::ops::ControlFlow;

impl<O: Observer> Engine<O> {
    /// Walks all caches and the directory.
    /// # Errors  The first law found broken, as a sentence:
    /// one writer or many readers per line; every cached line is known to the directory; the first level holds only
    /// lines of the second, and may write only modified ones; packets and bytes that leave equal those that arrive.
    pub fn check_invariants(&self) -> Result<(), String> {
        let mut holders: HashMap<u32, Vec<(usize, LineState)>> = HashMap::new();
        for (number, cpu) in self.cpus.iter().enumerate() {
            let mut first_level_lines = 0;
            for (set, held) in cpu.level2.lines() {
                holders.entry(held.line).or_default().push((number, held.state));
                first_level_lines += self.check_first_level(number, set, held.line, held.state)?;
            }
            if first_level_lines != cpu.level1.lines_held() {
                return Err(format!(
                    "cpu {number}: {} first-level lines, {first_level_lines} of them in the second level",
                    cpu.level1.lines_held()
                ));
            }
        }
        for (line, held) in &holders {
            let owners = held.iter().filter(|(_, state)| *state != LineState::Shared).count();
            if owners > 0 && held.len() > 1 {
                return Err(format!("line {line:#x} has an owner and other holders: {held:?}"));
            }
            let mut known = Vec::new();
            self.directory.for_each(*line, |cpu| {
                known.push(usize::from(cpu));
                ControlFlow::Continue(())
            });
            if let Some((cpu, _)) = held.iter().find(|(cpu, _)| !known.contains(cpu)) {
                return Err(format!("cpu {cpu} holds line {line:#x} unknown to the directory"));
            }
            if owners > 0 && !matches!(self.directory.holder(*line), Holder::Owner(_)) {
                return Err(format!("line {line:#x} is owned but its directory entry says readers"));
            }
        }
        self.check_conservation()
    }

    /// Number of first-level lines of a second-level line; an error if they may be written though it is not modified.
    fn check_first_level(
        &self,
        cpu: usize,
        set: usize,
        line: u32,
        state: LineState,
    ) -> Result<usize, String> {
        let page = self.pages.page(line >> self.shape.page_line_bits);
        if self.shape.level2_set(page.translation.colour(), line) != set {
            return Err(format!(
                "cpu {cpu}: line {line:#x} stands in second-level set {set}, not in its own"
            ));
        }
        let address = self.address_of(line);
        let mut found = 0;
        for part in (address..address + (1 << self.shape.line_bits)).step_by(self.shape.level1_line) {
            match self.cpus[cpu].level1.peek(part) {
                Found::Miss => {}
                Found::Writable if state != LineState::Modified => {
                    return Err(format!("cpu {cpu} may write line {line:#x}, which is {state:?}"));
                }
                Found::Readable | Found::Writable => found += 1,
            }
        }
        Ok(found)
    }

    fn check_conservation(&self) -> Result<(), String> {
        let units: Vec<_> = (0..self.nodes()).map(|node| self.network.unit(node)).collect();
        let sum = |part: fn(&crate::UnitCounts) -> u64| units.iter().map(part).sum::<u64>();
        for (name, out, back) in [
            ("request packets", sum(|unit| unit.requests_out), sum(|unit| unit.requests_in)),
            ("response packets", sum(|unit| unit.responses_out), sum(|unit| unit.responses_in)),
            ("bytes", sum(|unit| unit.bytes_out), sum(|unit| unit.bytes_in)),
        ] {
            if out != back {
                return Err(format!("{out} {name} were sent, {back} arrived"));
            }
        }
        Ok(())
    }
}
