//! Token counts as services report them. Whatever cannot be a count is taken as not reported.

use serde::{Deserialize, Deserializer};

/// More tokens than any call has: a report above it is nonsense.
const COUNT_MAX: u64 = 1_000_000_000;

/// A count that was reported; 0 where it is absent, negative, fractional, absurd or not a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Self(value.as_u64().filter(|count| *count <= COUNT_MAX).unwrap_or(0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_counts_as_not_reported() {
        let counts = ["7", "null", "-1", "1.5", "1e400", "18446744073709551615", "\"9\"", "[]"]
            .map(|json| serde_json::from_str::<Count>(json).map(|count| count.0).ok());
        assert_eq!(counts, [Some(7), Some(0), Some(0), Some(0), None, Some(0), Some(0), Some(0)]);
    }
}
