//! Token counts as services report them. Implausible values count as not reported.

use serde::{Deserialize, Deserializer};

/// More tokens than any call has; higher reports are ignored.
const COUNT_MAX: u64 = 1_000_000_000;

/// A reported count; 0 if it is absent, negative, fractional, implausible or not a number.
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
    fn invalid_counts_are_not_reported() {
        let counts = ["7", "null", "-1", "1.5", "1e400", "18446744073709551615", "\"9\"", "[]"]
            .map(|json| serde_json::from_str::<Count>(json).map(|count| count.0).ok());
        assert_eq!(counts, [Some(7), Some(0), Some(0), Some(0), None, Some(0), Some(0), Some(0)]);
    }
}
