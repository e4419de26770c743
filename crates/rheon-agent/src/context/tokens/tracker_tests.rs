//! What is believed of reports, and when the service is asked.

use proptest::prelude::*;
use rheon_types::Usage;

use super::{ContextTracker, CountMode, Overflow};

fn usage(input: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input, cache_read, cache_write, output: 50, total_tokens: 0 }
}

#[test]
fn without_reports_the_estimate_is_used() {
    assert_eq!(ContextTracker::default().tokens(12_345), 12_345);
}

#[test]
fn only_text_since_the_last_report_is_estimated() {
    let mut tracker = ContextTracker::default();
    tracker.reported(10_000, &usage(500, 11_000, 500));
    assert_eq!(tracker.tokens(10_000), 12_000);
    assert_eq!(tracker.tokens(11_000), 13_200);
    // A prompt that became shorter is another prompt.
    assert_eq!(tracker.tokens(5_000), 6_000);
}

#[test]
fn after_a_rewrite_only_the_factor_is_left() {
    let mut tracker = ContextTracker::default();
    tracker.reported(10_000, &usage(12_000, 0, 0));
    tracker.rewritten();
    assert_eq!(tracker.tokens(20_000), 24_000);
}

#[test]
fn a_size_for_so_many_tokens_has_no_more_of_them() {
    let mut tracker = ContextTracker::default();
    assert_eq!(tracker.size(5_000), 5_000);
    tracker.reported(10_000, &usage(12_340, 0, 0));
    tracker.rewritten();
    for tokens in [0, 1, 999, 5_000, 123_456] {
        assert!(tracker.tokens(tracker.size(tokens)) <= tokens, "{tokens}");
    }
    assert_eq!((tracker.tokens_of_new_text(1_000), tracker.size(u64::MAX) > 1 << 62), (1_234, true));
}

#[test]
fn reports_that_cannot_be_true_change_nothing() {
    let mut tracker = ContextTracker::default();
    tracker.reported(10_000, &usage(11_000, 0, 0));
    let before = tracker.clone();
    for report in [usage(0, 0, 0), usage(1, 0, 0), usage(u64::MAX, u64::MAX, 1), usage(50_000, 0, 0)] {
        tracker.reported(10_000, &report);
        assert_eq!(tracker, before);
    }
    tracker.reported(0, &usage(11_000, 0, 0));
    tracker.reported(10, &usage(12, 0, 0));
    assert_eq!(tracker, before);
}

#[test]
fn one_outlier_is_ignored_and_two_that_agree_are_accepted() {
    let mut tracker = ContextTracker::default();
    tracker.reported(10_000, &usage(10_000, 0, 0));
    tracker.reported(10_500, &usage(30_000, 0, 0));
    assert_eq!(tracker.tokens(10_500), 10_500);
    tracker.reported(11_000, &usage(11_000, 0, 0));
    assert_eq!(tracker.tokens(11_000), 11_000);
    tracker.reported(10_000, &usage(18_000, 0, 0));
    tracker.reported(10_000, &usage(18_200, 0, 0));
    assert_eq!(tracker.tokens(10_000), 18_200);
    // The factor follows slowly all the same.
    tracker.rewritten();
    assert_eq!(tracker.tokens(10_000), 11_000);
}

#[test]
fn the_service_is_asked_only_near_a_threshold_and_once() {
    let mut tracker = ContextTracker::default();
    let (window, thresholds) = (100_000, [75_000, 90_000]);
    assert_eq!(tracker.counting(20_000, window, &thresholds), CountMode::Estimate);
    assert_eq!(tracker.counting(80_000, window, &thresholds), CountMode::Service);
    tracker.counted(80_000, 82_000);
    assert_eq!(tracker.counting(80_000, window, &thresholds), CountMode::Estimate);
    assert_eq!(tracker.tokens(80_000), 82_000);
    // A few thousand tokens more are known well enough; a flood of them is not.
    assert_eq!(tracker.counting(87_500, window, &thresholds), CountMode::Estimate);
    tracker.rewritten();
    assert_eq!(tracker.counting(87_500, window, &thresholds), CountMode::Service);
}

#[test]
fn a_service_that_does_not_count_is_not_asked_again() {
    let mut tracker = ContextTracker::default();
    tracker.cannot_count();
    assert_eq!(tracker.counting(90_000, 100_000, &[90_000]), CountMode::Estimate);
}

#[test]
fn ordinary_turns_never_ask() {
    let mut tracker = ContextTracker::default();
    let mut size = 4_000;
    while size < 180_000 {
        tracker.reported(size, &usage(size + size / 10, 0, 0));
        size += 1_500;
        let asked = tracker.counting(size, 200_000, &[150_000, 180_000]);
        assert_eq!(asked, CountMode::Estimate, "at {size}");
    }
}

#[test]
fn a_refusal_makes_the_window_smaller_until_a_call_shows_otherwise() {
    let mut tracker = ContextTracker::default();
    assert_eq!(tracker.overflowed(8_000, 128_000), Overflow::Shorten { tokens_max: 7_200 });
    assert_eq!(tracker.window(128_000), 7_200);
    tracker.reported(9_000, &usage(9_000, 0, 0));
    assert_eq!(tracker.window(128_000), 128_000);
}

#[test]
fn overflow_on_an_almost_empty_window_gives_up_immediately() {
    let mut tracker = ContextTracker::default();
    assert_eq!(tracker.overflowed(900, 200_000), Overflow::Hopeless);
    assert_eq!(tracker.window(200_000), 200_000);
}

#[test]
fn a_service_that_refuses_everything_cannot_make_it_spin() {
    let mut tracker = ContextTracker::default();
    let mut size = 150_000;
    let mut refusals = 0;
    while let Overflow::Shorten { tokens_max } = tracker.overflowed(size, 200_000) {
        size = tokens_max;
        refusals += 1;
    }
    assert_eq!(refusals, 3);
}

proptest! {
    #[test]
    fn no_reports_move_the_factor_out_of_its_bounds(reports in prop::collection::vec((0u64..400_000, any::<u64>(), 0u64..900_000), 0..60)) {
        let mut tracker = ContextTracker::default();
        for (size, input, cache_read) in reports {
            tracker.reported(size, &usage(input, cache_read, 0));
            tracker.reported(size, &usage(cache_read, 0, 0));
        }
        tracker.rewritten();
        let tokens = tracker.tokens(100_000);
        prop_assert!((50_000..=200_000).contains(&tokens));
    }

    #[test]
    fn one_report_moves_the_factor_by_a_tenth_at_most(known in 5_000u64..20_000, outlier in any::<u64>()) {
        let mut tracker = ContextTracker::default();
        tracker.reported(10_000, &usage(known, 0, 0));
        tracker.rewritten();
        let before = tracker.tokens(100_000);
        tracker.reported(10_000, &usage(outlier, 0, 0));
        tracker.rewritten();
        prop_assert!(tracker.tokens(100_000).abs_diff(before) <= 10_000);
    }
}
