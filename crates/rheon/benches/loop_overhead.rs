//! Time: what each case takes, by criterion. `cargo xtask bench loop` turns the results into a table.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that does not do its work must stop, not report a time"
)]

mod support;

use std::time::Duration;

use criterion::{BatchSize, BenchmarkId, Criterion, SamplingMode};

fn main() {
    let runtime = support::runtime();
    // Many short samples: on a busy machine, some of them fall between the others' work.
    let mut criterion = Criterion::default()
        .sample_size(100)
        .nresamples(1_000)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .configure_from_args();
    for case in support::cases() {
        let mut group = criterion.benchmark_group(&case.name);
        group.sampling_mode(SamplingMode::Flat);
        for units in [case.few, case.many] {
            group.bench_function(BenchmarkId::from_parameter(units), |bencher| {
                let measured = |job| runtime.block_on(job);
                bencher.iter_batched(|| case.prepare(units), measured, BatchSize::PerIteration);
            });
        }
        group.finish();
    }
    criterion.final_summary();
}
