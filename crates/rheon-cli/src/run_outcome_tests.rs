//! What is said at the end of a run that went wrong, and what can be done then.

use std::sync::Arc;

use expect_test::expect;
use rheon_types::event::{Ledger, Meter};
use rheon_types::protocol::ConfigFacts;
use rheon_types::{
    AgentEvent, AgentOutput, BudgetEvent, Event, LimitKind, ProviderError, ProviderErrorKind, RunEnd,
    RunEvent, RunFailure, RunId, SessionId, Timestamp, Usage,
};

use super::RunOutcome;

fn event(kind: AgentEvent) -> Event {
    Event { seq: 1, at: Timestamp::default(), session_id: "s".into(), run_id: Some(RunId::from("l")), kind }
}

/// What is said of a run that ended so, in a session that is kept.
fn said(end: RunEnd) -> String {
    let mut outcome = RunOutcome::default();
    outcome.observe(&event(AgentEvent::Run(RunEvent::End { output: Arc::new(output(end)) })));
    outcome.problem(Some(&SessionId::from("01890a5d"))).unwrap()
}

fn output(end: RunEnd) -> AgentOutput {
    AgentOutput {
        messages: Vec::new(),
        text: String::new(),
        usage: Usage::default(),
        cost: None,
        turns: 1,
        end,
        structured: None,
        unfinished: None,
    }
}

fn failed(kind: ProviderErrorKind, message: &str) -> RunEnd {
    RunEnd::Failed { failure: RunFailure::Provider { error: ProviderError::new(kind, message) } }
}

#[test]
fn every_limit_names_its_flag_and_how_to_go_on() {
    let limits = [LimitKind::Turns, LimitKind::Duration, LimitKind::Tokens, LimitKind::Budget];
    let ends = limits.map(|limit| RunEnd::Limit { limit, message: "the limit was reached".into() });
    let lines: Vec<String> = ends.into_iter().chain([RunEnd::Truncated]).map(said).collect();
    expect![[r#"
        stopped: the limit was reached; allow more with --max-turns, or resume with rheon -r 01890a5d
        stopped: the limit was reached; allow more with --max-minutes, or resume with rheon -r 01890a5d
        stopped: the limit was reached; allow more with --max-tokens, or resume with rheon -r 01890a5d
        stopped: the limit was reached; allow more with --max-budget-usd, or resume with rheon -r 01890a5d
        the last answer reached its token limit; raise limits.output_tokens_max in your settings, or resume with rheon -r 01890a5d"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn a_budget_that_covers_no_call_is_not_called_spent() {
    let mut outcome = RunOutcome::default();
    let meter = Meter { spent: 0, cap: Some(10), ..Meter::default() };
    let ledger = Arc::new(Ledger { micro_usd: meter, ..Ledger::default() });
    outcome.observe(&event(AgentEvent::Budget(BudgetEvent::Exceeded { ledger })));
    let end = RunEnd::Limit { limit: LimitKind::Budget, message: "the budget is spent".into() };
    outcome.observe(&event(AgentEvent::Run(RunEvent::End { output: Arc::new(output(end)) })));
    let problem = outcome.problem(None).unwrap();
    assert_eq!(problem, "stopped: the budget does not cover the next call; allow more with --max-budget-usd");
}

#[test]
fn a_budget_names_the_flag_of_what_ran_out() {
    let meter = |spent, cap| Meter { spent, cap, ..Meter::default() };
    let flag = |tokens, micro_usd| {
        let mut outcome = RunOutcome::default();
        let ledger = Arc::new(Ledger { tokens, micro_usd, ..Ledger::default() });
        outcome.observe(&event(AgentEvent::Budget(BudgetEvent::Exceeded { ledger })));
        named(outcome)
    };
    let both = (meter(1, Some(300)), meter(1, Some(10)));
    assert_eq!(flag(meter(0, Some(300)), meter(0, None)), "--max-tokens");
    assert_eq!(flag(meter(0, None), meter(0, Some(10))), "--max-budget-usd");
    assert_eq!(flag(both.0, meter(10, Some(10))), "--max-budget-usd");
    assert_eq!(flag(meter(300, Some(300)), both.1), "--max-tokens");
    assert_eq!(flag(both.0, both.1), "--max-tokens or --max-budget-usd");
    // A last answer that is cut short by the budget leaves no ledger.
    let limits = ConfigFacts { tokens_max: Some(5_000), ..ConfigFacts::default() };
    assert_eq!(named(RunOutcome::within(&limits)), "--max-tokens");
}

/// The flag that is named when the budget ends a run.
fn named(mut outcome: RunOutcome) -> String {
    let end = RunEnd::Limit { limit: LimitKind::Budget, message: "the budget is spent".into() };
    outcome.observe(&event(AgentEvent::Run(RunEvent::End { output: Arc::new(output(end)) })));
    outcome.problem(None).unwrap().split_once("allow more with ").unwrap().1.to_owned()
}

#[test]
fn every_failure_of_a_service_has_a_next_step() {
    let refused =
        "cannot connect to http://127.0.0.1:1: tcp connect error: Connection refused (os error 111)";
    let unknown_host = "cannot connect to http://nowhere: dns error; check the base URL and the network";
    let lines: Vec<String> = [
        failed(ProviderErrorKind::Network, refused),
        failed(ProviderErrorKind::Network, unknown_host),
        failed(ProviderErrorKind::Timeout, "https://api.example did not answer within 60 s"),
        failed(ProviderErrorKind::Auth, "401 authentication_error: invalid x-api-key"),
        failed(ProviderErrorKind::InvalidRequest, "404 not_found_error: model: claude-9"),
        failed(ProviderErrorKind::ContextOverflow, "400 prompt is too long"),
        RunEnd::Failed { failure: RunFailure::Window { message: "nothing can be left out".into() } },
    ]
    .into_iter()
    .map(said)
    .collect();
    expect![[r#"
        the model call failed: cannot connect to http://127.0.0.1:1: tcp connect error: Connection refused (os error 111); is the server running? Check with `rheon doctor --online`
        the model call failed: cannot connect to http://nowhere: dns error; check the base URL and the network
        the model call failed: https://api.example did not answer within 60 s; retry, or check the connection with `rheon doctor --online`
        the model call failed: 401 authentication_error: invalid x-api-key; check the API key of this service and the permissions of its account
        the model call failed: 404 not_found_error: model: claude-9; list known models with `rheon models`
        the model call failed: 400 prompt is too long; start a new session, or use a model with a larger context window
        the window is full: nothing can be left out; start a new session, or use a model with a larger context window"#]].assert_eq(&lines.join("\n"));
}
