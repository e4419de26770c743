//! Alternatives for the same task, timed alternately, so that other load affects all of them.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// An alternative, and its best time so far.
pub(crate) struct Way<'a, T> {
    name: &'a str,
    run: Box<dyn FnMut() -> T + 'a>,
}

/// The result of an alternative.
pub(crate) struct BenchResult<'a, T> {
    pub(crate) name: &'a str,
    /// Other load can only add to a time, so the shortest time is the reproducible one.
    pub(crate) best: Duration,
    /// Its output, the same each time.
    pub(crate) made: T,
}

pub(crate) fn way<'a, T>(name: &'a str, run: impl FnMut() -> T + 'a) -> Way<'a, T> {
    Way { name, run: Box::new(run) }
}

/// Runs all alternatives `rounds` times, alternating.
pub(crate) fn race<'a, T>(
    rounds: usize,
    ways: impl IntoIterator<Item = Way<'a, T>>,
) -> Vec<BenchResult<'a, T>> {
    let mut ways: Vec<_> = ways.into_iter().map(|way| (way, None)).collect();
    for _ in 0..rounds {
        for (way, ran) in &mut ways {
            let start = Instant::now();
            let made = black_box((way.run)());
            let time = start.elapsed();
            let best = ran.as_ref().map_or(time, |before: &BenchResult<'_, T>| before.best.min(time));
            *ran = Some(BenchResult { name: way.name, best, made });
        }
    }
    ways.into_iter().filter_map(|(_, ran)| ran).collect()
}

/// Megabytes per second.
pub(crate) fn rate(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / 1e6 / time.as_secs_f64()
}
