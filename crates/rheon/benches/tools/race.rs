//! Ways to do the same thing, timed in turns, so that whatever else the machine does disturbs all of them.

use std::time::{Duration, Instant};

/// One way. It returns how long it took, so that what it needs before and leaves behind is not counted.
pub(crate) struct Way<'a> {
    name: String,
    run: Box<dyn FnMut() -> Duration + 'a>,
    times: Vec<Duration>,
}

/// A way that measures itself.
pub(crate) fn way<'a>(name: impl Into<String>, run: impl FnMut() -> Duration + 'a) -> Way<'a> {
    Way { name: name.into(), run: Box::new(run), times: Vec::new() }
}

/// A way that is measured as a whole.
pub(crate) fn whole<'a>(name: impl Into<String>, mut run: impl FnMut() + 'a) -> Way<'a> {
    way(name, move || {
        let start = Instant::now();
        run();
        start.elapsed()
    })
}

/// What the rounds gave.
pub(crate) struct Times(Vec<(String, Vec<Duration>)>);

/// Runs all ways `rounds` times in turns, after one that is not counted.
pub(crate) fn race<'a>(rounds: usize, ways: impl IntoIterator<Item = Way<'a>>) -> Times {
    let mut ways: Vec<_> = ways.into_iter().collect();
    for way in &mut ways {
        (way.run)();
    }
    for _ in 0..rounds {
        for way in &mut ways {
            let time = (way.run)();
            way.times.push(time);
        }
    }
    Times(ways.into_iter().map(|way| (way.name, way.times)).collect())
}

impl Times {
    /// The shortest, in nanoseconds: whatever else a machine does can only add to a time.
    pub(crate) fn best(&self, name: &str) -> f64 {
        self.of(name).iter().min().expect("there is a round").as_secs_f64() * 1e9
    }

    /// The middle one, in nanoseconds.
    pub(crate) fn median(&self, name: &str) -> f64 {
        let mut times = self.of(name).to_vec();
        times.sort_unstable();
        times.get(times.len() / 2).expect("there is a round").as_secs_f64() * 1e9
    }

    fn of(&self, name: &str) -> &[Duration] {
        let found = self.0.iter().find(|(own, _)| own == name);
        &found.expect("the way took part").1
    }
}
