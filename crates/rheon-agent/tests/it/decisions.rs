//! The pure decisions: when to stop, and when to try again.

use std::time::Duration;

use expect_test::expect;
use proptest::prelude::*;
use rheon_agent::{ExecutionLimits, NextStep, RetryConfig, RunProgress, decide};
use rheon_types::{ProviderError, ProviderErrorKind, RunEnd, StopReason};

fn progress() -> RunProgress {
    RunProgress {
        turns: 3,
        tokens: 500,
        elapsed_ms: 1_000,
        expects_answer: true,
        queued: 0,
        last_stop: Some(StopReason::ToolUse),
    }
}

#[test]
fn what_comes_next() {
    let limits = ExecutionLimits {
        turns_max: Some(4),
        tokens_max: Some(501),
        duration_max: Some(Duration::from_millis(1_001)),
    };
    let cases = [
        ("tools answered", progress()),
        ("turns used up", RunProgress { turns: 4, ..progress() }),
        ("tokens used up", RunProgress { tokens: 501, ..progress() }),
        ("time used up", RunProgress { elapsed_ms: 1_001, ..progress() }),
        ("nothing to answer", RunProgress { expects_answer: false, ..progress() }),
        ("cut off", RunProgress { expects_answer: false, last_stop: Some(StopReason::Length), ..progress() }),
        ("something queued", RunProgress { expects_answer: false, queued: 1, ..progress() }),
        ("queued but used up", RunProgress { expects_answer: false, queued: 1, turns: 9, ..progress() }),
        ("done and used up", RunProgress { expects_answer: false, turns: 9, ..progress() }),
    ];
    let lines: Vec<String> = cases
        .iter()
        .map(|(name, progress)| {
            let next = match decide(progress, &limits) {
                NextStep::Turn => "turn".to_owned(),
                NextStep::Stop(RunEnd::Limit { limit, message }) => format!("stop {limit:?}: {message}"),
                NextStep::Stop(end) => format!("stop {end:?}"),
            };
            format!("{name}: {next}")
        })
        .collect();
    expect![[r#"
        tools answered: turn
        turns used up: stop Turns: the turn limit of 4 was reached
        tokens used up: stop Tokens: the token limit of 501 was reached (501 used)
        time used up: stop Duration: the time limit of 1.001 s was reached
        nothing to answer: stop Completed
        cut off: stop Truncated
        something queued: turn
        queued but used up: stop Turns: the turn limit of 4 was reached
        done and used up: stop Completed"#]]
    .assert_eq(&lines.join("\n"));
    assert_eq!(
        decide(&RunProgress { turns: u32::MAX, ..progress() }, &ExecutionLimits::default()),
        NextStep::Turn
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pauses_grow_within_their_bounds(attempt in 1u32..10_000, random: u64) {
        let config = RetryConfig::default();
        let own = config.initial_delay.as_secs_f64() * 2f64.powi(attempt as i32 - 1);
        let base = own.min(config.delay_max.as_secs_f64());
        let pause = config.delay_for_attempt(attempt, random).as_secs_f64();
        prop_assert!(pause >= base * 0.8 - 1e-6 && pause <= base * 1.2 + 1e-6, "{} for {}", pause, base);
    }

    #[test]
    fn a_requested_retry_delay_is_honored_and_bounded(asked: u64, attempt in 1u32..4, random: u64) {
        let config = RetryConfig::default();
        let error = ProviderError::new(ProviderErrorKind::RateLimited, "slow down").with_retry_after_ms(asked);
        let pause = config.pause_after(&error, attempt, random).unwrap();
        prop_assert!(pause <= config.retry_after_max);
        if (1..=120_000).contains(&asked) {
            prop_assert_eq!(pause, Duration::from_millis(asked));
        }
    }
}

#[test]
fn retries_end() {
    let config = RetryConfig::default();
    let error = |kind| ProviderError::new(kind, "x");
    assert!(config.pause_after(&error(ProviderErrorKind::Network), 3, 0).is_some());
    assert!(config.pause_after(&error(ProviderErrorKind::Network), 4, 0).is_none());
    assert!(config.pause_after(&error(ProviderErrorKind::Auth), 1, 0).is_none());
    assert!(RetryConfig::none().pause_after(&error(ProviderErrorKind::Network), 1, 0).is_none());
}
