//! numactl's grammar of nodes and cpus, with its traps closed.
//!
//! Source: numactl(8) and numa_parse_nodestring(3) of numactl 2.0.16: `N,N`, `N-N`, a leading `!` for all but these, a
//! leading `+` for numbers counted within the allowed ones, `all`, and devices. Two traps are closed. numactl reads
//! numbers as C does, so that `010` is node 8 and `0x10` node 16: both are refused here with the two readings named.
//! And it takes an empty text for no nodes, which then means all: refused too. `same`, the previous list, is known only
//! to whoever reads several options: see [`SetReader::numactl_nodes`].

use super::scanner::Scanner;
use super::{DEVICES, SetReader, SetTextError};
use olifant_machine::{CpuSet, IdSet, NodeSet, SetMember};

impl SetReader<'_> {
    /// The nodes that an option of numactl means; `same` is `previous`, the list of the option before.
    /// # Errors  [`SetTextError`] points at the first character in doubt; a node that is not there or not allowed is
    /// an error, as in numactl.
    pub fn numactl_nodes(&self, text: &str, previous: Option<&NodeSet>) -> Result<NodeSet, SetTextError> {
        match same(text, previous)? {
            Some(nodes) => Ok(nodes),
            None => self.nodes_from(Scanner::new(text)),
        }
    }

    /// The cpus that an option of numactl means.
    /// # Errors  As [`SetReader::numactl_nodes`].
    pub fn numactl_cpus(&self, text: &str, previous: Option<&CpuSet>) -> Result<CpuSet, SetTextError> {
        match same(text, previous)? {
            Some(cpus) => Ok(cpus),
            None => self.cpus_from(Scanner::new(text)),
        }
    }

    pub(super) fn nodes_from(&self, mut scanner: Scanner<'_>) -> Result<NodeSet, SetTextError> {
        for (prefix, kind) in DEVICES {
            if prefix.ends_with(':') && scanner.take(prefix) {
                return self.device(&mut scanner, kind);
            }
        }
        let has: NodeSet = self.hierarchy.nodes().iter().map(|node| node.id).collect();
        // Nodes without memory are never among the allowed ones, and yet can be run on: what the machine has counts,
        // less what has memory and is forbidden.
        let forbidden = self.hierarchy.system().nodes.difference(&self.allowed.nodes);
        list(scanner, &has.difference(&forbidden), &has)
    }

    pub(super) fn cpus_from(&self, scanner: Scanner<'_>) -> Result<CpuSet, SetTextError> {
        list(scanner, &self.allowed.cpus, &self.hierarchy.system().cpus)
    }
}

fn same<M: SetMember>(text: &str, previous: Option<&IdSet<M>>) -> Result<Option<IdSet<M>>, SetTextError> {
    match (text, previous) {
        ("same", Some(previous)) => Ok(Some(previous.clone())),
        ("same", None) => {
            Err(Scanner::new(text).error("`same` repeats the list of an option before; there is none"))
        }
        _ => Ok(None),
    }
}

/// What the numbers of a list may be.
struct Numbers<'s, M> {
    allowed: &'s IdSet<M>,
    has: &'s IdSet<M>,
    /// The allowed ones in order, where numbers count within them.
    order: Option<Vec<M>>,
}

impl<M: SetMember> Numbers<'_, M> {
    fn member(&self, scanner: &mut Scanner<'_>) -> Result<M, SetTextError> {
        let start = scanner.clone();
        let number = plain_number(scanner, M::NOUN)?;
        let Some(order) = &self.order else { return Ok(M::from_number(number)) };
        order.get(usize::from(number)).copied().ok_or_else(|| {
            start.error(format!("{number} counts beyond the {} allowed {}s", order.len(), M::NOUN))
        })
    }

    /// A number or a range.
    fn part(&self, scanner: &mut Scanner<'_>, set: &mut IdSet<M>) -> Result<(), SetTextError> {
        let start = scanner.clone();
        let first = self.member(scanner)?;
        let mut last = first;
        if scanner.take("-") {
            let last_at = scanner.clone();
            last = self.member(scanner)?;
            if last < first {
                return Err(last_at.error("the range ends before it starts"));
            }
        }
        for number in first.number()..=last.number() {
            let member = M::from_number(number);
            if self.order.is_some() && !self.allowed.contains(member) {
                continue;
            }
            if !self.has.contains(member) {
                return Err(start.error(format!(
                    "this machine has no {} {number}; it has {}",
                    M::NOUN,
                    self.has
                )));
            }
            if !self.allowed.contains(member) {
                let noun = M::NOUN;
                return Err(
                    start.error(format!("{noun} {number} is not allowed here; allowed: {}", self.allowed))
                );
            }
            set.insert(member);
        }
        Ok(())
    }
}

fn list<M: SetMember>(
    mut scanner: Scanner<'_>,
    allowed: &IdSet<M>,
    has: &IdSet<M>,
) -> Result<IdSet<M>, SetTextError> {
    if scanner.rest().trim_end().is_empty() {
        return Err(scanner.error(format!("expected {}s, found nothing", M::NOUN)));
    }
    let is_inverted = scanner.take("!");
    let order = scanner.take("+").then(|| allowed.iter().collect());
    let mut set = IdSet::new();
    if scanner.take("all") {
        set = allowed.clone();
    } else {
        let numbers = Numbers { allowed, has, order };
        numbers.part(&mut scanner, &mut set)?;
        while scanner.take(",") {
            numbers.part(&mut scanner, &mut set)?;
        }
    }
    scanner.skip_blanks();
    if !scanner.is_at_end() {
        return Err(scanner.error("expected a comma or the end"));
    }
    Ok(if is_inverted { allowed.difference(&set) } else { set })
}

/// A number that everybody reads alike.
fn plain_number(scanner: &mut Scanner<'_>, noun: &str) -> Result<u16, SetTextError> {
    let rest = scanner.rest();
    let word_end = rest.find(|character: char| !character.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let word = &rest[..word_end];
    let lower = word.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x").filter(|digits| !digits.is_empty()) {
        let hint = u16::from_str_radix(digits, 16).map_or(String::new(), |value| format!("; write {value}"));
        return Err(scanner.error(format!("{word} is hexadecimal to numactl and nothing to Linux{hint}")));
    }
    if let Some(digits) = word.strip_prefix('0').filter(|digits| !digits.is_empty()) {
        let octal = u16::from_str_radix(digits, 8);
        if let (Ok(octal), Ok(decimal)) = (octal, word.parse::<u16>()) {
            return Err(scanner.error(format!(
                "{word} is octal to numactl ({octal}) and decimal to Linux ({decimal}); write {octal} or {decimal}"
            )));
        }
    }
    scanner.number(&format!("a {noun}"))
}
