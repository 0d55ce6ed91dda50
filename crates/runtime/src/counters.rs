//! `olifant_read_counters`: the machine's counters for the program itself, as the papers' programs read those of their
//! processors. A program reads them where its timed part begins and ends; the difference is what that part did.
//!
//! The order of the values is part of the contract with `programs/common/counters.h`.

use crate::state::with;
use core::ffi::c_int;
use olifant_opium::collect;

/// Writes the first `count` counters, sums over the machine up to now, and returns how many there are: accesses, first-level
/// misses, second-level misses, upgrades, write-backs, transactions with a home on another node, request packets, response
/// packets, bytes on the network, TLB misses. Costs the program nothing in simulated time.
///
/// # Safety
/// `values` has room for `count` values.
#[unsafe(no_mangle)]
unsafe extern "C" fn olifant_read_counters(values: *mut u64, count: usize) -> c_int {
    let totals = with(|runtime| collect(&mut runtime.system, &runtime.spec.machine).totals);
    let counters = [
        totals.reads + totals.writes,
        totals.l1_misses,
        totals.l2_misses,
        totals.upgrades,
        totals.write_backs,
        totals.remote_transactions,
        totals.request_packets,
        totals.response_packets,
        totals.network_bytes,
        totals.tlb_misses,
    ];
    for (index, counter) in counters.into_iter().enumerate().take(count) {
        // SAFETY: the caller vouches for `count` values.
        unsafe { values.add(index).write(counter) };
    }
    counters.len() as c_int
}
