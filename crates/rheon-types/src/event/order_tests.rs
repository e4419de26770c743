//! The order checker: a good run passes, and each way to leave the order is seen.

use std::sync::Arc;

use serde_json::json;

use super::{AgentEvent, Event, MessageEvent, ModelEvent, OrderChecker, RunEvent, ToolEvent, TurnEvent};
use crate::fixtures::{answer, result, user};
use crate::*;

fn tool_start(call_id: &str, name: ToolName) -> AgentEvent {
    let (args, effect) = (Arc::new(json!({})), crate::Effect::Pure);
    AgentEvent::Tool(ToolEvent::Start { call_id: call_id.into(), name, args, effect, grant: None })
}

/// A word about messages and tools.
fn message_or_tool(name: &str, argument: &str) -> AgentEvent {
    let calls: Vec<&str> = argument.split(',').filter(|id| !id.is_empty()).collect();
    let name_of_tool = ToolName::from("t");
    match name {
        "user" => AgentEvent::Message(MessageEvent::Start { message: user("hi") }),
        "/user" => AgentEvent::Message(MessageEvent::End { message: user("hi") }),
        "answer" => AgentEvent::Message(MessageEvent::Start { message: answer(&[], StopReason::Stop) }),
        "/answer" => AgentEvent::Message(MessageEvent::End { message: answer(&calls, StopReason::Stop) }),
        "/failed" => AgentEvent::Message(MessageEvent::End { message: answer(&calls, StopReason::Error) }),
        "result" => AgentEvent::Message(MessageEvent::Start { message: result(argument) }),
        "/result" => AgentEvent::Message(MessageEvent::End { message: result(argument) }),
        "tools" => AgentEvent::Context(ContextEvent::Tools { set: Arc::default() }),
        "delta" => AgentEvent::Message(MessageEvent::TextDelta { delta: "x".into() }),
        "tool" => tool_start(argument, name_of_tool),
        "progress" => AgentEvent::Tool(ToolEvent::Progress {
            call_id: argument.into(),
            name: name_of_tool,
            text: String::new(),
        }),
        "/tool" => AgentEvent::Tool(ToolEvent::End {
            call_id: argument.into(),
            name: name_of_tool,
            result: Arc::new(ToolResult::default()),
            is_error: false,
            duration_ms: 0,
            child_run_id: None,
        }),
        "blocked" => AgentEvent::Tool(ToolEvent::Blocked {
            call_id: argument.into(),
            name: name_of_tool,
            reason: String::new(),
        }),
        other => panic!("no such word: {other}"),
    }
}

/// One word of the small language in which these tests write logs.
fn event(word: &str) -> AgentEvent {
    let (name, argument) = word.split_once(':').unwrap_or((word, ""));
    match name {
        "run" => AgentEvent::Run(RunEvent::Start {
            agent_id: "a".into(),
            parent_run_id: None,
            continuation: None,
            model: "m".into(),
            metadata: None,
            settings: None,
            history: None,
            cuts: Vec::new(),
        }),
        "end" => AgentEvent::Run(RunEvent::End { output: Arc::new(AgentOutput::new(RunEnd::Completed)) }),
        "turn" => AgentEvent::Turn(TurnEvent::Start {
            turn_index: argument.parse().unwrap(),
            triggered_by: TurnTrigger::User,
        }),
        "/turn" => AgentEvent::Turn(TurnEvent::End {
            turn_index: 0,
            message: None,
            tool_results: Vec::new(),
            usage: Usage::default(),
        }),
        "llm" => {
            AgentEvent::Model(ModelEvent::Start { model: "m".into(), tokens_estimate: 0, reserved: None })
        }
        "/llm" => AgentEvent::Model(ModelEvent::End {
            usage: Usage::default(),
            stop_reason: StopReason::Stop,
            cost: None,
            first_token_ms: None,
            duration_ms: 0,
            estimated: None,
        }),
        "retry" => AgentEvent::Model(ModelEvent::Retry {
            attempt: 1,
            attempts_max: 3,
            delay_ms: 0,
            cause: String::new(),
        }),
        "rejected" => AgentEvent::Run(RunEvent::InputRejected { reason: String::new() }),
        name => message_or_tool(name, argument),
    }
}

/// The first violation in a log of words; `ok` if there is none.
fn check(log: &str) -> String {
    let mut checker = OrderChecker::new();
    let mut seq = 0;
    for word in log.split_whitespace() {
        let kind = event(word);
        seq += u64::from(kind.is_durable());
        let event =
            Event { seq, at: Timestamp::default(), session_id: "s".into(), run_id: Some("l".into()), kind };
        if let Err(violation) = checker.observe(&event) {
            return format!("{word}: {}", violation.problem);
        }
    }
    if checker.open_runs().is_empty() { "ok".into() } else { "the run is still open".into() }
}

const OPEN: &str = "run turn:0 user /user llm answer";

#[test]
fn good_runs_pass() {
    for log in [
        "end",
        "run end",
        "run rejected end",
        "run user /user end",
        "run turn:0 /turn end",
        "run turn:0 user /user llm answer delta delta /answer /llm /turn end",
        "run turn:0 user /user tools llm answer /answer /llm /turn turn:1 tools llm answer /answer /llm /turn end",
        "run turn:0 llm retry answer delta /failed:x retry answer /answer /llm /turn end",
        "run turn:0 llm answer /answer:a,b /llm tool:a tool:b progress:a /tool:b /tool:a \
         result:a /result:a result:b /result:b /turn turn:1 llm answer /answer /llm /turn user /user end",
        "run turn:0 llm answer /answer:a /llm blocked:a result:a /result:a /turn end",
    ] {
        assert_eq!(check(log), "ok", "{log}");
    }
}

#[test]
fn each_way_out_of_order_is_seen() {
    let open = |rest: &str| check(&format!("{OPEN} {rest}"));
    let tools = |rest: &str| check(&format!("{OPEN} /answer:a,b /llm {rest}"));
    let seen = [
        check("run"),
        check("run run"),
        check("run end end"),
        check("end run"),
        check("turn:0"),
        check("run turn:1"),
        check("run turn:0 turn:1"),
        check("run turn:0 end"),
        check("run turn:0 llm /llm"),
        check("run turn:0 delta"),
        check("run turn:0 answer"),
        check("run retry"),
        check("run tools"),
        open("/turn"),
        open("/user"),
        open("user"),
        open("/answer user"),
        tools("tool:c"),
        tools("tool:a tool:a"),
        tools("/tool:a"),
        tools("tools"),
        tools("progress:a"),
        tools("tool:a result:a"),
        tools("tool:a /tool:a result:a /result:a /turn"),
        tools("tool:a /tool:a blocked:b result:b /result:b result:a /result:a /turn"),
        tools("tool:a /tool:a result:a /result:a result:b /result:b /turn"),
        tools("tool:a /tool:a result:a /result:a tool:b"),
    ];
    expect_test::expect![[r#"
        the run is still open
        run: it came between turns
        end: it came after the run ended
        run: it came after the run ended
        turn:0: it came before the run began
        turn:1: the next turn is 0
        turn:1: it came before the model call
        end: it came before the model call
        /llm: the model call has no message
        delta: no answer is being written
        answer: it came before the model call
        retry: it came between turns
        tools: it came between turns
        /turn: a message (Assistant) is still open
        /user: no such message is open
        user: a message (Assistant) is still open
        user: it came during the model call
        tool:c: the answer has no tool call c
        tool:a: tool call a was already started or blocked
        /tool:a: tool call a is not running
        tools: it came after the model call
        progress:a: tool call a is not running
        result:a: tools are still running: {"a"}
        /turn: calls ["a", "b"] were answered by results ["a"]
        /turn: calls ["a", "b"] were answered by results ["b", "a"]
        /turn: of calls ["a", "b"] only {"a"} were started or blocked
        tool:b: it came among the tool results"#]]
    .assert_eq(&seen.join("\n"));
}

#[test]
fn durable_events_are_numbered_without_gaps() {
    let mut checker = OrderChecker::new();
    let mut observe = |seq: u64, word: &str| {
        let kind = event(word);
        let event =
            Event { seq, at: Timestamp::default(), session_id: "s".into(), run_id: Some("l".into()), kind };
        checker.observe(&event).map_err(|violation| violation.to_string())
    };
    assert_eq!(observe(5, "run"), Ok(()));
    assert_eq!(
        observe(7, "turn:0"),
        Err("event 7 (turn.start) of run l is out of order: expected number 6".into())
    );
}
