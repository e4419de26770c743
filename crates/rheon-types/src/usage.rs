//! Token usage and cost.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Token counts of one or more model calls. A service that reports nothing leaves zeros.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(default)]
pub struct Usage {
    /// Prompt tokens processed, without those of the cache.
    pub input: u64,
    /// Tokens the model wrote.
    pub output: u64,
    /// Prompt tokens served from the cache.
    pub cache_read: u64,
    /// Prompt tokens written to the cache.
    pub cache_write: u64,
    /// The service's own total, or the sum of the parts; 0 if it reports nothing.
    pub total_tokens: u64,
}

impl Usage {
    /// The share of the prompt that came from the cache, between 0 and 1; 0 for an empty prompt.
    pub fn cache_hit_rate(&self) -> f64 {
        let prompt = u128::from(self.input) + u128::from(self.cache_read) + u128::from(self.cache_write);
        if prompt == 0 { 0.0 } else { self.cache_read as f64 / prompt as f64 }
    }

    /// The tokens that count against a token limit: all of them, but those of the cache only at their price, in percent of
    /// the price of other prompt tokens.
    pub fn billed(&self, cache_read_percent: u8) -> u64 {
        let percent = u64::from(cache_read_percent.min(100));
        let read = self.cache_read.min(self.total());
        let counted = u128::from(read) * u128::from(percent) / 100;
        self.total().saturating_sub(read).saturating_add(u64::try_from(counted).unwrap_or(u64::MAX))
    }

    /// All tokens of the call: the reported sum, or the sum of the parts where none is reported.
    pub fn total(&self) -> u64 {
        if self.total_tokens > 0 {
            return self.total_tokens;
        }
        self.parts()
    }

    /// The sum of the parts, whatever total the service reports.
    pub fn parts(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}

/// Saturates, so that an absurd report cannot overflow. `total_tokens` becomes the sum of the totals.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let total = self.total().saturating_add(other.total());
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.total_tokens = total;
    }
}

/// Money in millionths of a US dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(proptest_derive::Arbitrary))]
#[serde(transparent)]
pub struct MicroUsd(pub u64);

impl MicroUsd {
    /// The sum, or `None` on overflow.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }
}

impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}
