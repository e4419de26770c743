//! Figures in words, at every place where the unit changes.

use super::{ago, bytes, count, dollars, duration, elapsed, grouped, money, tokens};

#[test]
fn numbers() {
    assert_eq!(
        [0, 999, 1_000, 1_234_567, u64::MAX].map(grouped),
        ["0", "999", "1,000", "1,234,567", "18,446,744,073,709,551,615"]
    );
    assert_eq!([0, 1, 1_000].map(|number| count(number, "turn")), ["0 turns", "1 turn", "1,000 turns"]);
}

#[test]
fn sizes() {
    assert_eq!(
        [0, 1, 999, 1_000, 12_345, 4_000_000].map(bytes),
        ["0 bytes", "1 byte", "999 bytes", "1.0 kB", "12.3 kB", "4.0 MB"]
    );
    assert_eq!(
        [0, 999, 1_000, 200_000, 999_999, 1_048_576].map(tokens),
        ["0", "999", "1k", "200k", "999k", "1.0M"]
    );
}

#[test]
fn durations() {
    assert_eq!(
        [0, 999, 1_000, 1_250, 59_999, 60_000, 125_999].map(duration),
        ["0 ms", "999 ms", "1.0 s", "1.2 s", "59.9 s", "1 min 0 s", "2 min 5 s"]
    );
    assert_eq!([0, 999, 59_999, 125_999].map(elapsed), ["0 s", "0 s", "59 s", "2 min 5 s"]);
    assert_eq!(
        [59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000].map(ago),
        ["just now", "1 min ago", "59 min ago", "1 h ago", "23 h ago", "1 d ago"]
    );
}

#[test]
fn sums() {
    let cases = [
        (0, "$0.0000"),
        (1, "$0.000001"),
        (150, "$0.00015"),
        (600, "$0.0006"),
        (999, "$0.000999"),
        (1_001, "$0.0011"),
        (12_300, "$0.0123"),
        (999_999, "$1.0000"),
        (1_000_000, "$1.00"),
        (12_340_001, "$12.35"),
    ];
    for (micro_usd, text) in cases {
        assert_eq!(money(micro_usd), text);
    }
    assert_eq!([0, 1, 300_000, 15_000_000, 10_000_000].map(dollars), ["0", "0.000001", "0.3", "15", "10"]);
}
