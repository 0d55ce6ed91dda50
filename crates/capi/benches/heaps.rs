//! What a placed heap costs beside mimalloc itself: nanoseconds for 1,000 blocks of mixed small sizes got and freed, in
//! one thread and handed to another. The two are run interleaved by criterion; each block's ends are written and read.
#![allow(unsafe_code)]

use core::ffi::c_void;
use core::ptr::NonNull;
use criterion::{Criterion, criterion_group, criterion_main};
use rset::{Heap, SetPolicy, System};
use std::hint::black_box;

const BLOCKS: usize = 1000;

/// 16 to 1,023 bytes, by a fixed multiplicative sequence.
fn sizes() -> Vec<usize> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        16 + (state >> 22) as usize % 1008
    };
    (0..BLOCKS).map(|_| next()).collect()
}

fn round(
    sizes: &[usize],
    blocks: &mut [*mut c_void],
    get: impl Fn(usize) -> *mut c_void,
    free: impl Fn(*mut c_void),
) {
    for (place, &size) in blocks.iter_mut().zip(sizes) {
        *place = get(size);
        // SAFETY: the block has `size` bytes.
        unsafe { place.cast::<u8>().add(size - 1).write(7) };
    }
    for (place, &size) in blocks.iter().zip(sizes) {
        // SAFETY: as above; written a moment ago.
        assert_eq!(unsafe { place.cast::<u8>().add(size - 1).read() }, 7);
        free(*place);
    }
}

fn heaps(criterion: &mut Criterion) {
    let sizes = sizes();
    let mut blocks = vec![core::ptr::null_mut(); BLOCKS];
    let system = System::own().expect("a machine");
    let set = system.allowed().expect("an allowed set");
    let heap = Heap::new(system, &set, &SetPolicy::Any).expect("a heap");
    let mut group = criterion.benchmark_group("1000 blocks got and freed");
    group.bench_function("mimalloc", |bencher| {
        bencher.iter(|| {
            // SAFETY: plain calls of the allocator with its own blocks.
            round(
                black_box(&sizes),
                &mut blocks,
                |size| unsafe { libmimalloc_sys::mi_malloc(size) },
                |block| unsafe {
                    libmimalloc_sys::mi_free(block);
                },
            );
        });
    });
    group.bench_function("placed heap", |bencher| {
        bencher.iter(|| {
            let get =
                |size| heap.allocate(size, 1).map_or(core::ptr::null_mut(), |block| block.as_ptr().cast());
            let free = |block: *mut c_void| {
                // SAFETY: a block of the heap, freed once.
                unsafe { olifant_sys::heap::free(NonNull::new(block.cast()).expect("a block")) };
            };
            round(black_box(&sizes), &mut blocks, get, free);
        });
    });
    group.finish();
}

criterion_group!(benches, heaps);
criterion_main!(benches);
