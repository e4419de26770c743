//! Tests of the last line.

use std::sync::Arc;

use rheon_types::event::Meter;
use rheon_types::{
    AgentMessage, AgentOutput, AssistantMessage, Content, LimitKind, Message, MicroUsd, RunEnd, StopReason,
    Timestamp, Usage,
};

use super::Summary;

fn output(cost: Option<u64>) -> AgentOutput {
    let usage = Usage { input: 12_000, output: 900, cache_read: 34_000, ..Usage::default() };
    AgentOutput { usage, turns: 2, cost: cost.map(MicroUsd), ..AgentOutput::new(RunEnd::Completed) }
}

fn lines(summary: &mut Summary, costs: &[Option<u64>]) -> String {
    let mut lines = Vec::new();
    for cost in costs {
        summary.begin(Timestamp::from_millis(1_000));
        summary.count_tool();
        lines.push(summary.end(&output(*cost), Timestamp::from_millis(66_000)));
    }
    lines.join("\n")
}

#[test]
fn what_a_run_took() {
    expect_test::expect![[r#"
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · cost unknown · 1 min 5 s
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.0000 · 1 min 5 s
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.0124 · 1 min 5 s
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $3.22 · 1 min 5 s"#]]
    .assert_eq(&lines(&mut Summary::default(), &[None, Some(0), Some(12_345), Some(3_210_001)]));
}

#[test]
fn a_budget_of_less_than_a_cent_that_covers_no_call() {
    let mut summary = Summary::default();
    summary.set_budget(Meter { cap: Some(1), ..Meter::default() });
    let end = RunEnd::Limit { limit: LimitKind::Budget, message: String::new() };
    let output = AgentOutput { turns: 1, ..AgentOutput::new(end) };
    expect_test::expect![
        "0 turns · 0 tools · 0 in / 0 out tokens · $0.0000 · 0 ms · $0.000001 of $0.000001 left"
    ]
    .assert_eq(&summary.end(&output, Timestamp::from_millis(1)));
}

#[test]
fn what_is_left_of_the_budget() {
    let mut summary = Summary::default();
    summary.set_budget(Meter { cap: Some(1_000_000), ..Meter::default() });
    expect_test::expect![[r#"
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.4000 · 1 min 5 s · $0.6000 of $1.00 left
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.7000 · 1 min 5 s · $0.0000 of $1.00 left
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · cost unknown · 1 min 5 s · unknown how much of $1.00 remains
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.000001 · 1 min 5 s · unknown how much of $1.00 remains"#]].assert_eq(&lines(&mut summary, &[Some(400_000), Some(700_000), None, Some(1)]));
    let mut summary = Summary::default();
    summary.set_tokens_max(Some(50_000));
    expect_test::expect!["2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.000001 · 1 min 5 s · 3,100 of 50,000 tokens left"].assert_eq(&lines(&mut summary, &[Some(1)]));
}

#[test]
fn what_earlier_runs_of_the_session_spent_is_not_left() {
    let mut summary = Summary::default();
    summary.set_budget(Meter { spent: 500_000, cap: Some(1_000_000), ..Meter::default() });
    expect_test::expect!["2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.4000 · 1 min 5 s · $0.1000 of $1.00 left"].assert_eq(&lines(&mut summary, &[Some(400_000)]));
}

#[test]
fn tokens_that_were_not_reported_are_unknown() {
    let answer = |total: u64| {
        Arc::new(AgentMessage::from(Message::Assistant(AssistantMessage {
            content: vec![Content::text("Hi.")],
            stop_reason: StopReason::Stop,
            model: "m".into(),
            provider: "p".into(),
            usage: Usage { output: total, ..Usage::default() },
            timestamp: Timestamp::default(),
            error_message: None,
        })))
    };
    let line = |totals: &[u64]| {
        let messages = totals.iter().map(|total| answer(*total)).collect();
        let usage = Usage { output: totals.iter().sum(), ..Usage::default() };
        let output = AgentOutput { messages, usage, turns: 2, ..AgentOutput::new(RunEnd::Completed) };
        Summary::default().end(&output, Timestamp::default())
    };
    expect_test::expect![[r#"
        2 turns · 0 tools · tokens unknown · cost unknown · 0 ms
        2 turns · 0 tools · at least 0 in / 7 out tokens · cost unknown · 0 ms
        2 turns · 0 tools · 0 in / 7 out tokens · cost unknown · 0 ms"#]]
    .assert_eq(&[line(&[0, 0]), line(&[7, 0]), line(&[7])].join("\n"));
}
