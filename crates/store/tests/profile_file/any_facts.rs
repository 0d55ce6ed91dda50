//! Arbitrary lawful facts for the random tests.

use olifant_opium::CardModel;
use olifant_opium::facts::*;
use olifant_opium::filter::By;
use olifant_opium::profile::Frame;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Facts of a profile with so many areas.
pub fn any_facts(area_count: usize) -> impl Strategy<Value = Facts> {
    let filters = (vec(any_filter(), 0..3), vec(any_secondary(), 0..3));
    let events = vec(any::<(Index, u64, u16, u64, u64)>(), 0..4);
    let phases = (vec(any_phase(), 0..4), any_cells(area_count));
    let locks = (vec(any_lock(area_count), 0..4), vec(any_touch(area_count), 0..4), any_places());
    (select(vec![CardModel::Unlimited, CardModel::Opium]), filters, events, phases, locks).prop_map(
        |(card, (filters, secondaries), events, (phases, cells), (locks, touches, places))| {
            let event = |(filter, address, accessor, count, time): (Index, u64, u16, u64, u64)| {
                (!filters.is_empty()).then(|| CardEvent {
                    filter: filter.index(filters.len()) as u32,
                    address,
                    accessor,
                    count,
                    time,
                })
            };
            let phase_cells = cells.into_iter().filter(|cell| (cell.phase as usize) < phases.len()).collect();
            Facts {
                card,
                events: events.into_iter().filter_map(event).collect(),
                filters,
                secondaries,
                phases,
                phase_cells,
                locks,
                first_touches: touches.into_iter().flatten().collect(),
                places,
            }
        },
    )
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z+=,]{0,8}", any::<String>()]
}

fn any_by() -> impl Strategy<Value = By> {
    select(vec![By::Node, By::Thread, By::Cpu])
}

fn any_filter() -> impl Strategy<Value = FilterRecord> {
    let texts = (any_text(), any_text(), any_text(), option::of(any_text()));
    let counts = btree_map(any::<(u64, u16)>(), any::<u64>(), 0..4);
    (texts, any::<[u64; 3]>(), any_by(), vec(any::<(u64, u64)>(), 0..3), counts).prop_map(
        |((name, text, kinds, refused), [granule_bytes, total, lost], by, ranges, counts)| FilterRecord {
            name,
            text,
            granule_bytes,
            kinds,
            by,
            ranges,
            total,
            lost,
            refused,
            counts: counts
                .into_iter()
                .map(|((address, accessor), count)| FilterCount { address, accessor, count })
                .collect(),
        },
    )
}

fn any_secondary() -> impl Strategy<Value = SecondaryRecord> {
    (any_text(), any_text(), any::<u64>()).prop_map(|(name, text, count)| SecondaryRecord {
        name,
        text,
        count,
    })
}

fn any_phase() -> impl Strategy<Value = Phase> {
    (any_text(), any::<u64>(), any::<u64>(), any::<u32>()).prop_map(|(name, begin, end, stretches)| Phase {
        name,
        begin,
        end,
        stretches,
    })
}

fn any_cells(area_count: usize) -> impl Strategy<Value = Vec<PhaseCell>> {
    let key = (0..4_u32, 0..area_count.max(1) as u32, 0..1_u64 << 50, any::<u16>());
    btree_map(key, any::<[u64; 3]>(), if area_count == 0 { 0..1 } else { 0..6 }).prop_map(|cells| {
        cells
            .into_iter()
            .map(|((phase, area, granule, node), [granules, local, remote])| PhaseCell {
                phase,
                area,
                granule,
                granules,
                node,
                local,
                remote,
            })
            .collect()
    })
}

fn any_area(area_count: usize) -> impl Strategy<Value = Option<u32>> {
    any::<Index>().prop_map(move |area| (area_count > 0).then(|| area.index(area_count) as u32))
}

fn any_lock(area_count: usize) -> impl Strategy<Value = Lock> {
    let kind = select(vec![LockKind::Mutex, LockKind::SpinLock, LockKind::AtomicSpin]);
    let by_node = vec(any::<(u16, u64)>(), 0..3);
    (kind, any::<[u64; 6]>(), any_area(area_count), any::<u16>(), by_node).prop_map(
        |(kind, counters, area, home, by_node)| {
            let [address, offset, acquisitions, contended, wait_cycles, transfers] = counters;
            Lock {
                kind,
                address,
                area,
                offset,
                home,
                acquisitions,
                contended,
                wait_cycles,
                transfers,
                by_node,
            }
        },
    )
}

fn any_touch(area_count: usize) -> impl Strategy<Value = Option<FirstTouches>> {
    (any_area(area_count), any::<u16>(), any::<u64>(), any::<u64>())
        .prop_map(|(area, thread, code, pages)| area.map(|area| FirstTouches { area, thread, code, pages }))
}

fn any_places() -> impl Strategy<Value = Vec<Place>> {
    btree_map(any::<u64>(), (any_text(), any_text(), any::<u32>()), 0..4).prop_map(|places| {
        places
            .into_iter()
            .map(|(code, (function, file, line))| Place { code, frame: Frame { function, file, line } })
            .collect()
    })
}
