//! Operations on sets of 4,096 cpus and 1,024 nodes: each under a microsecond. Definition: median time of one call on
//! sets whose members are random with even chances, result dropped. Each answer is checked once before.

use criterion::{Criterion, criterion_group, criterion_main};
use olifant_machine::{CpuId, NodeId};
use olifant_placement::{Resource, ResourceSet};
use std::hint::black_box;

/// About half of all members, by a fixed multiplicative sequence.
fn half(seed: u64) -> ResourceSet {
    let mut state = seed;
    let mut coin = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 63 == 1
    };
    let cpus = (0..4096).filter(|_| coin()).map(CpuId).collect();
    let nodes = (0..1024).filter(|_| coin()).map(NodeId).collect();
    ResourceSet::new(cpus, nodes)
}

fn operations(criterion: &mut Criterion) {
    let (a, b) = (half(1), half(2));
    let all = a.union(&b);
    assert_eq!(a.difference(&b).union(&a.intersection(&b)), a);
    assert!(a.is_subset(&all) && !all.is_subset(&a));
    let mut group = criterion.benchmark_group("sets of 4096 cpus and 1024 nodes");
    group.bench_function("union", |bencher| bencher.iter(|| black_box(&a).union(black_box(&b))));
    group
        .bench_function("intersection", |bencher| bencher.iter(|| black_box(&a).intersection(black_box(&b))));
    group.bench_function("difference", |bencher| bencher.iter(|| black_box(&a).difference(black_box(&b))));
    group.bench_function("subset", |bencher| bencher.iter(|| black_box(&a).is_subset(black_box(&all))));
    group.bench_function("equal", |bencher| bencher.iter(|| black_box(&a) == black_box(&a)));
    group.bench_function("contains", |bencher| {
        bencher.iter(|| black_box(&a).contains(black_box(Resource::Cpu(CpuId(4000)))));
    });
    group.bench_function("size", |bencher| bencher.iter(|| black_box(&a).cpus.len()));
    group.bench_function("first", |bencher| bencher.iter(|| black_box(&a).cpus.first()));
    group.finish();
}

criterion_group!(benches, operations);
criterion_main!(benches);
