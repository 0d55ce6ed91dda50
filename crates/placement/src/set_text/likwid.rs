//! likwid's thread domains: cpus by their place within a part of the machine.
//!
//! Source: likwid-pin(1), "CPU EXPRESSION", of likwid 5. A domain is `N` (all), `S0` (package), `D0` (die, taken as the
//! package), `C0` (last-level cache), `M0` (node). `S0:0-3` are places in a list with one cpu of each core first, then
//! the second ones; `E:S0:4:1:2` four cpus from the list core by core, one of every two; `S:scatter` one place of each
//! domain in turn; parts joined by `@` follow each other. An order results; a set forgets it.

use super::SetTextError;
use super::scanner::Scanner;
use crate::{Hierarchy, Level};
use olifant_machine::{CpuId, CpuSet};

/// Whether a text starts like a domain: a capital, digits, a colon.
pub(super) fn is_domain(text: &str) -> bool {
    let mut characters = text.chars();
    let is_letter = characters.next().is_some_and(|letter| "NSDCME".contains(letter));
    is_letter && characters.find(|character| !character.is_ascii_digit()) == Some(':')
}

/// Reads domains for one machine.
pub(super) struct Reader<'h> {
    hierarchy: &'h Hierarchy,
}

impl<'h> Reader<'h> {
    pub fn new(hierarchy: &'h Hierarchy) -> Self {
        Reader { hierarchy }
    }

    /// Reads to the end; a cpu that occurs again keeps its first place.
    pub fn read(&self, mut scanner: Scanner<'_>) -> Result<Vec<CpuId>, SetTextError> {
        let mut order = Vec::new();
        loop {
            let part = self.part(&mut scanner)?;
            order.extend(part);
            if !scanner.take("@") {
                break;
            }
        }
        scanner.skip_blanks();
        scanner.expect_end()?;
        let mut seen = CpuSet::new();
        order.retain(|&cpu| seen.insert(cpu));
        Ok(order)
    }

    fn part(&self, scanner: &mut Scanner<'_>) -> Result<Vec<CpuId>, SetTextError> {
        if scanner.take("E:") {
            return self.expression(scanner);
        }
        let start = scanner.clone();
        let level = domain_level(scanner)?;
        if scanner.take(":scatter") {
            return self.scatter(&start, &level);
        }
        let domain = self.domain(scanner, &start, level)?;
        expect_colon(scanner)?;
        let list = cores_first(&self.cores(&domain));
        self.places(scanner, &list)
    }

    /// A domain's number and its cpus.
    fn domain(
        &self,
        scanner: &mut Scanner<'_>,
        start: &Scanner<'_>,
        level: Level,
    ) -> Result<CpuSet, SetTextError> {
        if level == Level::System {
            return Ok(self.hierarchy.system().cpus.clone());
        }
        let number = usize::from(scanner.number(&format!("which {level}"))?);
        let domains = self.domains(&level);
        domains.get(number).cloned().ok_or_else(|| {
            start.error(format!("this machine has {} {level} domains, counted from 0", domains.len()))
        })
    }

    fn domains(&self, level: &Level) -> Vec<CpuSet> {
        let sets = self.hierarchy.sets(level).iter();
        sets.map(|set| set.cpus.clone()).filter(|cpus| !cpus.is_empty()).collect()
    }

    /// `E:DOMAIN:COUNT` or `E:DOMAIN:COUNT:CHUNK:STRIDE`, after the `E:`.
    fn expression(&self, scanner: &mut Scanner<'_>) -> Result<Vec<CpuId>, SetTextError> {
        let start = scanner.clone();
        let level = domain_level(scanner)?;
        let domain = self.domain(scanner, &start, level)?;
        expect_colon(scanner)?;
        let count_at = scanner.clone();
        let count = usize::from(scanner.number("how many cpus")?);
        let (mut chunk, mut stride) = (1, 1);
        if scanner.take(":") {
            let chunk_at = scanner.clone();
            chunk = usize::from(scanner.number("the size of a chunk")?);
            expect_colon(scanner)?;
            stride = usize::from(scanner.number("from chunk to chunk")?);
            if chunk == 0 || stride < chunk {
                return Err(chunk_at.error("a chunk is at least 1, and a stride at least the chunk"));
            }
        }
        let by_core: Vec<CpuId> = self.cores(&domain).concat();
        let picked = by_core.chunks(stride).flat_map(|run| run.iter().take(chunk).copied());
        let order: Vec<CpuId> = picked.take(count).collect();
        if order.len() < count || count == 0 {
            return Err(count_at
                .error(format!("{count} cpus were asked for, the expression reaches {}", order.len())));
        }
        Ok(order)
    }

    /// The first cpu of each domain, then the second of each, and so on.
    fn scatter(&self, start: &Scanner<'_>, level: &Level) -> Result<Vec<CpuId>, SetTextError> {
        let lists: Vec<Vec<CpuId>> =
            self.domains(level).iter().map(|domain| cores_first(&self.cores(domain))).collect();
        if lists.is_empty() {
            return Err(start.error(format!("this machine does not tell its {level}s")));
        }
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
        Ok((0..longest)
            .flat_map(|place| lists.iter().filter_map(move |list| list.get(place).copied()))
            .collect())
    }

    /// Places in a list, `0-3,6`.
    fn places(&self, scanner: &mut Scanner<'_>, list: &[CpuId]) -> Result<Vec<CpuId>, SetTextError> {
        let mut order = Vec::new();
        loop {
            let start = scanner.clone();
            let first = usize::from(scanner.number("a place in the domain")?);
            let last = if scanner.take("-") { usize::from(scanner.number("the last place")?) } else { first };
            if last < first {
                return Err(start.error("the range ends before it starts"));
            }
            let run = list
                .get(first..=last)
                .ok_or_else(|| start.error(format!("the domain has {} cpus, counted from 0", list.len())))?;
            order.extend_from_slice(run);
            if !scanner.take(",") {
                return Ok(order);
            }
        }
    }

    /// The cpus of a domain core by core.
    fn cores(&self, domain: &CpuSet) -> Vec<Vec<CpuId>> {
        let set = self.hierarchy.with_local_memory(domain.clone());
        self.hierarchy.cores_of(&set).iter().map(|core| core.iter().collect()).collect()
    }
}

fn domain_level(scanner: &mut Scanner<'_>) -> Result<Level, SetTextError> {
    for (letter, level) in [
        ("N", Level::System),
        ("S", Level::Package),
        ("D", Level::Package),
        ("C", Level::LastLevelCache),
        ("M", Level::Node),
    ] {
        if scanner.take(letter) {
            return Ok(level);
        }
    }
    Err(scanner.error("expected a domain: N, S0, D0, C0 or M0"))
}

fn expect_colon(scanner: &mut Scanner<'_>) -> Result<(), SetTextError> {
    if scanner.take(":") { Ok(()) } else { Err(scanner.error("expected a colon")) }
}

/// The first cpu of each core, then the second of each, and so on.
fn cores_first(cores: &[Vec<CpuId>]) -> Vec<CpuId> {
    let threads = cores.iter().map(Vec::len).max().unwrap_or(0);
    (0..threads).flat_map(|thread| cores.iter().filter_map(move |core| core.get(thread).copied())).collect()
}
