//! Tests of the last line.

use rheon_types::{AgentOutput, LimitKind, MicroUsd, RunEnd, Timestamp, Usage};

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
    summary.set_budget(MicroUsd(1));
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
    summary.set_budget(MicroUsd(1_000_000));
    expect_test::expect![[r#"
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.4000 · 1 min 5 s · $0.6000 of $1.00 left
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.7000 · 1 min 5 s · $0.0000 of $1.00 left
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · cost unknown · 1 min 5 s · unknown how much of $1.00 remains
        2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.000001 · 1 min 5 s · unknown how much of $1.00 remains"#]].assert_eq(&lines(&mut summary, &[Some(400_000), Some(700_000), None, Some(1)]));
    let mut summary = Summary::default();
    summary.set_tokens_max(Some(50_000));
    expect_test::expect!["2 turns · 1 tool · 46,000 in (34,000 cached) / 900 out tokens · $0.000001 · 1 min 5 s · 3,100 of 50,000 tokens left"].assert_eq(&lines(&mut summary, &[Some(1)]));
}
