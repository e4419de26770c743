//! Converts counts to SQLite's signed integers and back.

/// Larger counts are clamped, so that two of them can be added without overflow.
pub(super) const COUNT_MAX: u64 = 1 << 62;

pub(super) fn stored(count: u64) -> i64 {
    count.min(COUNT_MAX).cast_signed()
}

/// Rheon never stores negative counts; they read as zero.
pub(super) fn read(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(super) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
