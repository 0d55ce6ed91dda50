//! Joins what the card counted by address with the areas of the run.
//!
//! A granule belongs to the area that covers most of it. What no area covers goes to one area of kind `Other`, "elsewhere":
//! libraries' data and what the C library keeps for itself.

use crate::areas::{Index, own_area};
use olifant_opium::Card;
use olifant_opium::profile::{Accesses, Area, AreaKind, ContestedLine, Granule, LineAccesses, Sharing};
use std::collections::BTreeMap;

/// Contested lines that a profile keeps.
const MOST_LINES: usize = 10_000;
/// A thread with less than one such part of the busiest thread's transactions with a line only passes by.
const PASSING: u64 = 20;
/// Size of the area "elsewhere": all addresses of a program.
const EVERYWHERE: u64 = 1 << 47;

/// The profile's granules and contested lines. Adds the area "elsewhere" if it is needed.
pub fn join(card: &Card, areas: &mut Vec<Area>) -> (Vec<Granule>, Vec<ContestedLine>) {
    let index = Index::new(areas);
    let granule_bytes = card.granule_bytes();
    let mut elsewhere = None;
    let mut area_of = |start: u64, bytes: u64, areas: &mut Vec<Area>| {
        index.covering(start, start + bytes).unwrap_or_else(|| {
            *elsewhere.get_or_insert_with(|| {
                areas.push(own_area(AreaKind::Other, "elsewhere".into(), 0, EVERYWHERE, 0, 0));
                areas.len() as u32 - 1
            })
        })
    };
    let mut granules: BTreeMap<(u32, u64), Granule> = BTreeMap::new();
    for counted in card.granules() {
        let area = area_of(counted.address, granule_bytes, areas);
        let first = areas[area as usize].start / granule_bytes;
        let index = counted.address / granule_bytes - first.min(counted.address / granule_bytes);
        let granule = granules.entry((area, index)).or_insert_with(|| Granule {
            area,
            index,
            home: counted.home,
            by: Vec::new(),
        });
        // A page that was given back and used again has several histories; the home is that of the last.
        granule.home = counted.home;
        for by in counted.by {
            let (reads, writes) = (u64::from(by.reads), u64::from(by.writes));
            let (upgrades, write_backs) = (u64::from(by.upgrades), u64::from(by.write_backs));
            match granule.by.binary_search_by_key(&(by.thread, by.node), |known| (known.thread, known.node)) {
                Ok(at) => {
                    let known = &mut granule.by[at];
                    known.reads += reads;
                    known.writes += writes;
                    known.upgrades += upgrades;
                    known.write_backs += write_backs;
                }
                Err(at) => granule.by.insert(
                    at,
                    Accesses { thread: by.thread, node: by.node, reads, writes, upgrades, write_backs },
                ),
            }
        }
    }
    let contested = card
        .contests()
        .into_iter()
        .take(MOST_LINES)
        .map(|line| {
            let area = area_of(line.address, line.bytes, areas);
            let by: Vec<LineAccesses> = line
                .by
                .iter()
                .map(|by| LineAccesses {
                    thread: by.thread,
                    reads: by.reads.into(),
                    writes: by.writes.into(),
                    read_mask: by.read_mask,
                    write_mask: by.write_mask,
                    code: crate::modules::translate(by.code).unwrap_or(0),
                })
                .collect();
            ContestedLine {
                area,
                offset: line.address.wrapping_sub(areas[area as usize].start) as i64,
                bytes: line.bytes as u32,
                transfers: line.transfers,
                sharing: sharing(&by),
                fields: Vec::new(),
                by,
            }
        })
        .collect();
    (granules.into_values().collect(), contested)
}

/// What the threads of a line do with each other's parts of it.
fn sharing(by: &[LineAccesses]) -> Sharing {
    // Who came by once, to start a counter or to read its end, does not make the class.
    let most = by.iter().map(|by| by.reads + by.writes).max().unwrap_or(0);
    let by: Vec<&LineAccesses> = by.iter().filter(|by| (by.reads + by.writes) * PASSING >= most).collect();
    let mut is_true = false;
    let mut is_false = false;
    for (number, one) in by.iter().enumerate() {
        for other in &by[number + 1..] {
            let (one_all, other_all) = (one.read_mask | one.write_mask, other.read_mask | other.write_mask);
            if (one.write_mask & other_all) | (other.write_mask & one_all) != 0 {
                is_true = true;
            } else if one.write_mask | other.write_mask != 0 {
                is_false = true;
            }
        }
    }
    let writers = by.iter().filter(|by| by.write_mask != 0).count();
    match (is_true, is_false) {
        _ if writers == 0 => Sharing::ReadOnly,
        (true, true) => Sharing::Mixed,
        (false, true) => Sharing::False,
        _ if writers == 1 => Sharing::ProducerConsumer,
        // Everybody changes the same words: one thread's result is the next one's input.
        _ if by.iter().fold(u64::MAX, |common, by| common & by.write_mask) != 0 => Sharing::Migratory,
        _ => Sharing::True,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(masks: &[(u64, u64)]) -> Sharing {
        let by: Vec<LineAccesses> = masks
            .iter()
            .zip(0..)
            .map(|(&(read_mask, write_mask), thread)| LineAccesses {
                thread,
                reads: 1,
                writes: 1,
                read_mask,
                write_mask,
                code: 0,
            })
            .collect();
        sharing(&by)
    }

    #[test]
    fn the_class_follows_from_who_writes_which_words() {
        assert_eq!(line(&[(0xff, 0), (0xff, 0)]), Sharing::ReadOnly);
        assert_eq!(line(&[(0x0f, 0x0f), (0xf0, 0xf0)]), Sharing::False);
        assert_eq!(line(&[(0x0f, 0x0f), (0x0f, 0), (0xff, 0)]), Sharing::ProducerConsumer);
        assert_eq!(line(&[(0x0f, 0x0f), (0, 0x0f), (0x0f, 0x0f)]), Sharing::Migratory);
        assert_eq!(line(&[(0, 0x0f), (0, 0x0f), (0x0f, 0)]), Sharing::True);
        assert_eq!(line(&[(0, 0x0f), (0, 0xff), (0, 0xf0)]), Sharing::Mixed);
    }
}
