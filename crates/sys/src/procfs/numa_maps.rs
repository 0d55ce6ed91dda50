//! /proc/PID/numa_maps: the policy of each mapping and its pages by node.
//!
//! Source: proc_pid_numa_maps(5), Linux 2.6.14; kernelpagesize_kB since 3.19. The kernel walks the page tables of the
//! process while it is read, so a large process takes milliseconds. A kernel without NUMA has no such file.

use super::directory;
use crate::{Pid, ReadError, Root};
use olifant_machine::NodeId;

/// The pages of one mapping.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NumaMap {
    /// First address.
    pub start: usize,
    /// Policy, as the kernel writes it: `default`, `bind:0-1`.
    pub policy: String,
    /// File, or `heap`, `stack`; empty for other anonymous memory. Blanks in a path are written as `\040`.
    pub name: String,
    /// Pages in memory by node, ascending, in units of `page_bytes`.
    pub pages: Vec<(NodeId, u64)>,
    /// Size of its pages; 0 where the kernel does not tell.
    pub page_bytes: u64,
    /// Pages without a file behind them.
    pub anonymous_pages: u64,
    /// Whether its pages come from the reserved pool of huge pages.
    pub is_huge: bool,
}

/// The mappings of a process with pages by node, ascending.
/// # Errors  [`ReadError`]; `is_gone` if there is no such process, or no such file.
pub fn numa_maps(root: &Root, process: Pid) -> Result<Vec<NumaMap>, ReadError> {
    let file = format!("{}/numa_maps", directory(process));
    let text = root.text(&file)?;
    numa_maps_of_text(&text).map_err(|line| root.malformed(&file, line, "not a mapping with its policy"))
}

/// The mappings that a text of this form lists.
/// # Errors  The number of the first line that is not one, from 1.
pub fn numa_maps_of_text(text: &str) -> Result<Vec<NumaMap>, usize> {
    text.lines().enumerate().map(|(index, line)| parse(line).ok_or(index + 1)).collect()
}

fn parse(line: &str) -> Option<NumaMap> {
    let mut words = line.split(' ');
    let start = usize::from_str_radix(words.next()?, 16).ok()?;
    let mut policy = words.next()?.to_owned();
    let mut map = NumaMap { start, ..NumaMap::default() };
    for word in words {
        match word.split_once('=') {
            Some(("file", name)) => map.name = name.to_owned(),
            Some(("kernelpagesize_kB", kilobytes)) => map.page_bytes = kilobytes.parse::<u64>().ok()? * 1024,
            Some(("anon", pages)) => map.anonymous_pages = pages.parse().ok()?,
            Some((key, pages)) => {
                if let Some(node) = key.strip_prefix('N').and_then(|node| node.parse().ok()) {
                    map.pages.push((NodeId(node), pages.parse().ok()?));
                }
            }
            None if word == "heap" || word == "stack" => map.name = word.to_owned(),
            None if word == "huge" => map.is_huge = true,
            // `prefer (many):0-1` and `weighted interleave:0-1` are policies of two words.
            None if map.pages.is_empty() && is_second_word(word) => policy = format!("{policy} {word}"),
            None => {}
        }
    }
    map.policy = policy;
    Some(map)
}

fn is_second_word(word: &str) -> bool {
    word.starts_with("(many)") || word == "interleave" || word.starts_with("interleave:")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mapping, MappingOptions, page_size};

    #[test]
    fn touched_pages_are_counted() {
        let options = MappingOptions { huge_pages: crate::HugePages::Never, ..MappingOptions::new(1 << 20) };
        let mut mapping = Mapping::anonymous(&options).unwrap();
        mapping.touch();
        // Neighbouring mappings of equal rights are one for the kernel: at least these pages are there.
        let maps = match numa_maps(&Root::default(), Pid::CALLING) {
            Ok(maps) => maps,
            Err(error) if error.is_gone() => {
                eprintln!("skipped: {error}; needs a kernel with NUMA");
                return;
            }
            Err(error) => panic!("{error}"),
        };
        let map = maps.iter().rev().find(|map| map.start <= mapping.range().start).unwrap();
        let pages: u64 = map.pages.iter().map(|&(_, pages)| pages).sum();
        assert!(pages >= ((1 << 20) / page_size()) as u64, "{map:?}");
    }

    #[test]
    fn lines_of_all_kinds_are_read() {
        let text = "55d0 bind:0,2 file=/usr/a\\040b mapped=2 active=0 N0=1 N2=1 kernelpagesize_kB=4\n\
                    7f00 prefer (many):0-1 anon=3 dirty=3 N1=3 kernelpagesize_kB=4\n\
                    7f10 weighted interleave:0-1 anon=1 N0=1 kernelpagesize_kB=4\n\
                    7f20 default heap anon=2 N0=2 kernelpagesize_kB=4\n\
                    7f30 default file=/anon_hugepage\\040(deleted) huge anon=1 N3=1 kernelpagesize_kB=2048\n";
        let maps = numa_maps_of_text(text).unwrap();
        assert_eq!(maps[0].pages, [(NodeId(0), 1), (NodeId(2), 1)]);
        assert_eq!(maps[0].name, "/usr/a\\040b");
        assert_eq!(maps[1].policy, "prefer (many):0-1");
        assert_eq!(maps[2].policy, "weighted interleave:0-1");
        assert_eq!((maps[3].name.as_str(), maps[3].anonymous_pages), ("heap", 2));
        assert_eq!((maps[4].is_huge, maps[4].page_bytes), (true, 2 << 20));
        assert_eq!(numa_maps_of_text("7f00 default\nxyz default"), Err(2));
    }
}
