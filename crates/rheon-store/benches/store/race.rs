//! Times several ways to do the same thing in turns, so that other load affects all of them.

use std::time::{Duration, Instant};

/// One way to do it. It returns its own time, so that setup and cleanup do not count.
pub(crate) struct Way<'a> {
    name: String,
    run: Box<dyn FnMut() -> Duration + 'a>,
}

/// A way that measures itself.
pub(crate) fn way<'a>(name: impl Into<String>, run: impl FnMut() -> Duration + 'a) -> Way<'a> {
    Way { name: name.into(), run: Box::new(run) }
}

/// A way that is measured as a whole.
pub(crate) fn whole<'a>(name: impl Into<String>, mut run: impl FnMut() + 'a) -> Way<'a> {
    way(name, move || {
        let start = Instant::now();
        run();
        start.elapsed()
    })
}

/// Runs all ways `rounds` times in turns, after a warm-up, and reports the shortest time of each divided by `units`:
/// other load can only add time. Returns the times in nanoseconds, in the order of the ways.
pub(crate) fn race<'a>(rounds: usize, units: f64, ways: impl IntoIterator<Item = Way<'a>>) -> Vec<f64> {
    let mut ways: Vec<_> = ways.into_iter().map(|way| (way, Duration::MAX)).collect();
    for (way, _) in &mut ways {
        (way.run)();
    }
    for _ in 0..rounds {
        for (way, best) in &mut ways {
            *best = (way.run)().min(*best);
        }
    }
    let nanos = |best: &Duration| best.as_secs_f64() * 1e9 / units;
    for (way, best) in &ways {
        crate::report(&way.name, nanos(best));
    }
    ways.iter().map(|(_, best)| nanos(best)).collect()
}
