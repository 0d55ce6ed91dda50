//! Memory that is not where we put it: data of shared libraries, what the C library maps for itself, the stack that the
//! kernel made. Its addresses differ from run to run.
//!
//! The simulator gets a stand-in for each such page, numbered in the order of first use. The hooks compare true addresses, so
//! they never find these lines: each access takes the slow path. That is right and slower; it matters only for
//! programs whose own shared libraries hold much of their data.

use crate::areas::own_area;
use crate::layout::{FOREIGN, HOST_PAGE};
use crate::state::Runtime;
use olifant_opium::profile::AreaKind;
use std::collections::BTreeMap;

/// Addresses from here on are not ours.
const FIRST: u64 = 1 << 41;

/// Stand-ins by page.
#[derive(Default)]
pub struct Foreign {
    pages: BTreeMap<u64, u64>,
    area: Option<u32>,
}

/// The address by which the simulator knows `address`.
#[inline]
pub fn stand_in(runtime: &mut Runtime, address: u64) -> u64 {
    if address < FIRST { address } else { look_up(runtime, address) }
}

fn look_up(runtime: &mut Runtime, address: u64) -> u64 {
    let page_bytes = HOST_PAGE as u64;
    let known = runtime.foreign.pages.len() as u64;
    let stand_in = *runtime.foreign.pages.entry(address / page_bytes).or_insert(known);
    let area = *runtime.foreign.area.get_or_insert_with(|| {
        let name = "memory of shared libraries".to_string();
        runtime.areas.add(own_area(AreaKind::Other, name, FOREIGN.start as u64, 0, 0, 0))
    });
    let bytes = &mut runtime.areas.list[area as usize].bytes;
    *bytes = (*bytes).max((stand_in + 1) * page_bytes);
    FOREIGN.start as u64 + stand_in * page_bytes + address % page_bytes
}
