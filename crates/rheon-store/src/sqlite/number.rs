//! Counts as the database stores them: its whole numbers are signed.

/// The largest count that is kept; two of them can be added without overflow.
pub(super) const COUNT_MAX: u64 = 1 << 62;

/// A count for the database; an absurd one is cut to the largest that is kept.
pub(super) fn stored(count: u64) -> i64 {
    count.min(COUNT_MAX).cast_signed()
}

/// A count from the database; one below zero was not written by us and reads as zero.
pub(super) fn read(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A length or a limit for the database.
pub(super) fn limit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
