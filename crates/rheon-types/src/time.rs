//! `Timestamp`: a wall-clock time, read from a `Clock`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(transparent)]
pub struct Timestamp(u64);

impl Timestamp {
    /// The moment `millis` milliseconds after the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }
}

/// RFC 3339 in UTC. A time beyond the calendar prints as a number.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match i64::try_from(self.0).ok().and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok()) {
            Some(moment) => moment.fmt(f),
            None => write!(f, "{} ms", self.0),
        }
    }
}
