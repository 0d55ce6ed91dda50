//! What the engine costs behind a first-level miss, in nanoseconds of host time per access; each benchmark verifies the
//! counts of what it ran.
//!
//! Shows one host core with the engine's data in its caches as far as they fit. Does not show: hooks, the scheduler,
//! a program's own work.

#[allow(dead_code, reason = "one of two benchmarks that share it")]
mod paths;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use paths::{Crowd, PATHS, Runner};

const ACCESSES: u64 = 1 << 16;

fn single_paths(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("per access");
    group.throughput(Throughput::Elements(ACCESSES));
    for path in PATHS {
        let mut runner = Runner::new(path);
        group.bench_function(format!("{path:?}"), |bencher| bencher.iter(|| runner.run(ACCESSES)));
        runner.verify();
    }
    group.finish();
}

fn crowds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("contended, per access");
    for processors in [16, 64, 512] {
        let mut crowd = Crowd::new(processors);
        group.throughput(Throughput::Elements(crowd.accesses()));
        group.bench_function(format!("{processors} processors"), |bencher| bencher.iter(|| crowd.round()));
        let (level1, level2) = crowd.verify();
        eprintln!(
            "{processors} processors: {level1:.3} first-level and {level2:.3} second-level misses per access"
        );
    }
    group.finish();
}

criterion_group!(benches, single_paths, crowds);
criterion_main!(benches);
