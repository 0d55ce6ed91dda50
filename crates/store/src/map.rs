//! The aggregated map of a large profile as one value of its file, so that a report need not read every counter.
//!
//! Form 1: unsigned LEB128 numbers. The number of cells, then for each cell: area minus that of the cell before, first granule,
//! shift, home, granules, number of accessors, and for each accessor thread, node, reads, writes, upgrades, write-backs.

use crate::rows::Failure;
use olifant_opium::map::{GranuleMap, MapCell};
use olifant_opium::profile::Accesses;

/// The form's number.
pub(crate) const FORM: u32 = 1;
/// Shifts of a cell; larger ones are damage.
const LARGEST_SHIFT: u32 = 63;

/// The map in form 1.
pub(crate) fn encode(map: &GranuleMap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(map.counters() * 8);
    number(&mut bytes, map.cells.len() as u64);
    let mut area = 0;
    for cell in &map.cells {
        number(&mut bytes, u64::from(cell.area - area));
        area = cell.area;
        number(&mut bytes, cell.first);
        number(&mut bytes, u64::from(cell.shift));
        number(&mut bytes, u64::from(cell.home));
        number(&mut bytes, cell.granules);
        number(&mut bytes, cell.by.len() as u64);
        for by in &cell.by {
            number(&mut bytes, u64::from(by.thread));
            number(&mut bytes, u64::from(by.node));
            for count in [by.reads, by.writes, by.upgrades, by.write_backs] {
                number(&mut bytes, count);
            }
        }
    }
    bytes
}

/// A map out of form 1, of a profile with so many areas; its laws are checked.
pub(crate) fn decode(bytes: &[u8], areas: usize) -> Result<GranuleMap, Failure> {
    let mut reader = Reader { rest: bytes };
    let mut map = GranuleMap::default();
    let mut area: u32 = 0;
    for _ in 0..reader.number()? {
        area = area.checked_add(reader.small()?).ok_or_else(damaged)?;
        let first = reader.number()?;
        let shift = reader.small()?;
        if area as usize >= areas
            || shift > LARGEST_SHIFT
            || first.checked_add((1_u64 << shift) - 1).is_none()
        {
            return Err(damaged());
        }
        let (home, granules) = (reader.small()?, reader.number()?);
        let mut cell = MapCell { area, first, shift, home, granules, by: Vec::new() };
        for _ in 0..reader.number()? {
            cell.by.push(Accesses {
                thread: reader.small()?,
                node: reader.small()?,
                reads: reader.number()?,
                writes: reader.number()?,
                upgrades: reader.number()?,
                write_backs: reader.number()?,
            });
        }
        let key = |cell: &MapCell| (cell.area, cell.first, cell.home);
        if map.cells.last().is_some_and(|last| key(last) >= key(&cell)) {
            return Err(damaged());
        }
        map.cells.push(cell);
    }
    if reader.rest.is_empty() { Ok(map) } else { Err(damaged()) }
}

fn damaged() -> Failure {
    Failure::Contradiction("the granule map is not in its form".to_owned())
}

fn number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

struct Reader<'b> {
    rest: &'b [u8],
}

impl Reader<'_> {
    fn number(&mut self) -> Result<u64, Failure> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or_else(damaged)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    /// A number of a smaller type.
    fn small<T: TryFrom<u64>>(&mut self) -> Result<T, Failure> {
        T::try_from(self.number()?).map_err(|_| damaged())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;
    use proptest::sample::Index;

    const AREAS: u32 = 5;

    fn any_map() -> impl Strategy<Value = GranuleMap> {
        let by = btree_map(any::<(u16, u16)>(), any::<[u64; 4]>(), 0..4);
        let key = (0..AREAS, 0..1_u64 << 50, any::<u16>());
        btree_map(key, (0..12_u32, any::<u64>(), by), 0..8).prop_map(|cells| GranuleMap {
            cells: cells
                .into_iter()
                .map(|((area, first, home), (shift, granules, by))| {
                    let accesses =
                        |((thread, node), [reads, writes, upgrades, write_backs]): ((u16, u16), [u64; 4])| {
                            Accesses { thread, node, reads, writes, upgrades, write_backs }
                        };
                    MapCell { area, first, shift, home, granules, by: by.into_iter().map(accesses).collect() }
                })
                .collect(),
        })
    }

    proptest! {
        #[test]
        fn a_map_comes_back_equal(map in any_map()) {
            prop_assert_eq!(decode(&encode(&map), AREAS as usize).ok(), Some(map));
        }

        #[test]
        fn damage_is_an_error_or_another_lawful_map(
            map in any_map(),
            flips in vec((any::<Index>(), 1..=u8::MAX), 0..4),
            cut in any::<Index>(),
        ) {
            let mut bytes = encode(&map);
            for (place, mask) in flips {
                let place = place.index(bytes.len());
                bytes[place] ^= mask;
            }
            bytes.truncate(cut.index(bytes.len() + 1));
            if let Ok(map) = decode(&bytes, AREAS as usize) {
                prop_assert!(map.cells.iter().all(|cell| cell.area < AREAS && cell.last() >= cell.first));
                prop_assert!(map.cells.is_sorted_by(|a, b| (a.area, a.first, a.home) < (b.area, b.first, b.home)));
            }
        }
    }
}
