//! Findings: contested lines by area, with who uses which bytes and from where, and data worth a copy per node.

use crate::advice::{Contention, Finding, LineUser};
use crate::options::{CONTESTED_SHARE, LEAST_TRANSFERS};
use crate::reason::threads;
use core::fmt;
use olifant_opium::profile::{ContestedLine, Profile, Sharing};
use std::collections::BTreeMap;

/// Users of a line named in a sentence; the rest are counted.
const NAMED_USERS: usize = 4;

/// Findings from contested lines, the most transfers first.
pub(crate) fn contention(profile: &Profile) -> Vec<Finding> {
    let mut groups: BTreeMap<(u32, bool), Vec<&ContestedLine>> = BTreeMap::new();
    for line in &profile.contested {
        groups.entry((line.area, !is_false(line.sharing))).or_default().push(line);
    }
    let all = (profile.totals.l2_misses + profile.totals.upgrades) as f64;
    let mut found: Vec<Finding> = groups
        .into_iter()
        .filter_map(|((_, is_true), lines)| {
            let contention = gather(profile, &lines)?;
            let matters = contention.transfers >= LEAST_TRANSFERS
                && contention.transfers as f64 >= CONTESTED_SHARE * all;
            let finding = if is_true { Finding::TrueSharing } else { Finding::FalseSharing };
            matters.then_some(finding(contention))
        })
        .collect();
    found.sort_by_key(|finding| core::cmp::Reverse(finding.transfers()));
    found
}

/// Whether padding would end the sharing, or part of it.
pub(crate) fn is_false(sharing: Sharing) -> bool {
    matches!(sharing, Sharing::False | Sharing::Mixed)
}

/// The areas that padding would help, as indices, in the order of the profile's lines.
pub(crate) fn areas_to_pad(profile: &Profile, findings: &[Finding]) -> Vec<usize> {
    let mut areas = Vec::new();
    for line in profile.contested.iter().filter(|line| is_false(line.sharing)) {
        let area = line.area as usize;
        let name = profile.areas.get(area).map(|area| &area.name);
        let is_found = findings.iter().any(
            |finding| matches!(finding, Finding::FalseSharing(contention) if Some(&contention.area) == name),
        );
        if is_found && !areas.contains(&area) {
            areas.push(area);
        }
    }
    areas
}

impl Finding {
    fn transfers(&self) -> u64 {
        match self {
            Finding::FalseSharing(contention) | Finding::TrueSharing(contention) => contention.transfers,
            Finding::ReadOnly { .. } => 0,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::FalseSharing(contention) => {
                contention.describe(f, "threads use different bytes of")?;
                let bytes = contention.line_bytes;
                write!(f, "; give each thread's data a line of its own (pad and align to {bytes} bytes)")?;
                if contention.is_mixed {
                    f.write_str("; some words are shared besides, and padding will not help those")?;
                }
                Ok(())
            }
            Finding::TrueSharing(contention) => {
                contention.describe(f, "threads contend for the same bytes of")?;
                f.write_str(
                    "; no placement ends that: use it less often, or keep a copy per thread and combine",
                )
            }
            Finding::ReadOnly { area, bytes_per_node, remote } => write!(
                f,
                "{area}: only read, {remote} times from other nodes; a copy per node would cost {bytes_per_node} bytes each"
            ),
        }
    }
}

impl Contention {
    fn describe(&self, f: &mut fmt::Formatter<'_>, what: &str) -> fmt::Result {
        let lines = if self.lines == 1 { "1 line".to_owned() } else { format!("{} lines", self.lines) };
        write!(f, "{}: {what} {lines} ({} transfers); at offset {}", self.area, self.transfers, self.offset)?;
        for (index, user) in self.users.iter().take(NAMED_USERS).enumerate() {
            let gap = if index == 0 { ' ' } else { ',' };
            let space = if index == 0 { "" } else { " " };
            write!(f, "{gap}{space}thread {} {user}", user.thread)?;
        }
        if self.users.len() > NAMED_USERS {
            let rest: Vec<u16> = self.users[NAMED_USERS..].iter().map(|user| user.thread).collect();
            write!(f, " and {}", threads(&rest))?;
        }
        Ok(())
    }
}

impl fmt::Display for LineUser {
    /// `writes bytes 0-7 at worker (count.c:12)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, ranges) =
            if self.writes.is_empty() { ("reads", &self.reads) } else { ("writes", &self.writes) };
        write!(f, "{verb} bytes {}", list(ranges))?;
        if self.code.is_empty() { Ok(()) } else { write!(f, " at {}", self.code) }
    }
}

/// One area's lines; the worst is described.
fn gather(profile: &Profile, lines: &[&ContestedLine]) -> Option<Contention> {
    let worst = lines.iter().max_by_key(|line| (line.transfers, core::cmp::Reverse(line.offset)))?;
    Some(Contention {
        area: profile.areas.get(worst.area as usize)?.name.clone(),
        lines: lines.len(),
        transfers: lines.iter().map(|line| line.transfers).sum(),
        offset: worst.offset,
        line_bytes: worst.bytes,
        users: worst
            .by
            .iter()
            .map(|by| LineUser {
                thread: by.thread,
                reads: ranges(by.read_mask, worst.bytes),
                writes: ranges(by.write_mask, worst.bytes),
                code: place(profile, by.code),
            })
            .collect(),
        is_mixed: worst.sharing == Sharing::Mixed,
    })
}

/// The byte ranges of a mask; a bit stands for `line / 64` bytes, at least 1.
fn ranges(mask: u64, line_bytes: u32) -> Vec<(u32, u32)> {
    let group = (line_bytes / 64).max(1);
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for bit in (0..64).filter(|bit| mask >> bit & 1 == 1) {
        let (first, last) = (bit * group, bit * group + group - 1);
        match ranges.last_mut() {
            Some(range) if range.1 + 1 == first => range.1 = last,
            _ => ranges.push((first, last)),
        }
    }
    ranges
}

fn list(ranges: &[(u32, u32)]) -> String {
    let texts = ranges.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    texts.collect::<Vec<_>>().join(",")
}

/// A code address for a person; empty if there is none.
fn place(profile: &Profile, code: u64) -> String {
    if code == 0 {
        return String::new();
    }
    let of_site = profile
        .sites
        .iter()
        .find(|site| site.path.first() == Some(&code))
        .and_then(|site| site.frames.first());
    if let Some(frame) = of_site {
        return format!("{} ({}:{})", frame.function, frame.file, frame.line);
    }
    match profile.modules.iter().find(|module| (module.start..module.end).contains(&code)) {
        Some(module) => {
            let name = module.path.rsplit('/').next().unwrap_or(&module.path);
            format!("{name}+{:#x}", code.wrapping_sub(module.bias))
        }
        None => format!("{code:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_becomes_byte_ranges() {
        assert_eq!(ranges(0b1111_0000_1111, 32), [(0, 3), (8, 11)]);
        assert_eq!(ranges(0b101, 128), [(0, 1), (4, 5)]);
        assert_eq!(ranges(0, 64), []);
    }
}
