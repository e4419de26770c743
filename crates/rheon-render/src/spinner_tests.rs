//! Tests of the spinner.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, Event, MessageEvent, ModelEvent, StopReason, Timestamp, ToolEvent, ToolResult, TurnEvent,
    Usage,
};
use serde_json::json;

use super::Spinner;

fn event(at_ms: u64, kind: AgentEvent) -> Event {
    Event {
        seq: 1,
        at: Timestamp::from_millis(at_ms),
        session_id: "s".into(),
        run_id: Some("l".into()),
        kind,
    }
}

fn llm_start() -> AgentEvent {
    AgentEvent::Model(ModelEvent::Start { model: "m".into(), tokens_estimate: 0, reserved: None })
}

fn llm_end() -> AgentEvent {
    AgentEvent::Model(ModelEvent::End {
        usage: Usage { input: 1_200, output: 34, ..Usage::default() },
        stop_reason: StopReason::ToolUse,
        cost: None,
        first_token_ms: None,
        duration_ms: 1,
        estimated: None,
    })
}

fn tool_start(command: &str) -> AgentEvent {
    AgentEvent::Tool(ToolEvent::Start {
        call_id: "c".into(),
        name: "bash".into(),
        args: Arc::new(json!({ "command": command })),
        effect: Default::default(),
        grant: None,
    })
}

#[test]
fn it_tells_what_is_waited_for_how_long_and_what_it_used() {
    let mut spinner = Spinner::new(40);
    let mut shown = Vec::new();
    let mut look = |spinner: &Spinner, now: u64| {
        shown.push(spinner.line(Timestamp::from_millis(now)).unwrap_or_else(|| "nothing".into()));
    };
    look(&spinner, 0);
    spinner.observe(&event(1_000, llm_start()));
    look(&spinner, 1_000);
    look(&spinner, 1_150);
    look(&spinner, 500);
    spinner.observe(&event(
        2_000,
        AgentEvent::Message(MessageEvent::ThinkingDelta { delta: "thinking about it".into() }),
    ));
    look(&spinner, 3_000);
    spinner.observe(&event(4_000, llm_end()));
    look(&spinner, 4_000);
    spinner.observe(&event(5_000, tool_start("cargo test\x1b[2J --workspace --all-targets")));
    look(&spinner, 5_000);
    look(&spinner, 130_000);
    spinner.observe(&event(
        5_000,
        AgentEvent::Turn(TurnEvent::End {
            turn_index: 0,
            message: None,
            tool_results: vec![],
            usage: Usage::default(),
        }),
    ));
    look(&spinner, 5_000);
    spinner.observe(&event(5_000, tool_start(&"漢字".repeat(50))));
    look(&spinner, 130_000);
    expect_test::expect![[r#"
        nothing
        ⠋ waiting for the model · 0 s
        ⠙ waiting for the model · 0 s
        ⠋ waiting for the model · 0 s
        ⠋ waiting for the mo… · 2 s · ~4 tokens
        nothing
        ⠋ bash cargo test… · 0 s · 1,234 tokens
        ⠋ bash carg… · 2 min 5 s · 1,234 tokens
        nothing
        ⠋ bash 漢字… · 2 min 5 s · 1,234 tokens"#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn it_fits_every_terminal() {
    for columns in 0..60 {
        let mut spinner = Spinner::new(columns);
        spinner.observe(&event(0, tool_start("some command")));
        let frame = spinner.line(Timestamp::from_millis(u64::MAX)).unwrap();
        assert!(super::super::text::width(&frame) <= columns.max(2), "{columns}: {frame}");
    }
}

#[test]
fn what_is_typed_meanwhile_is_shown_and_of_what_is_long_the_end() {
    let mut spinner = Spinner::new(20);
    spinner.observe(&event(0, llm_start()));
    spinner.set_draft("and then");
    assert_eq!(spinner.line(Timestamp::from_millis(0)).unwrap(), "⠋ › and then");
    spinner.set_draft("a long text that does not fit");
    assert_eq!(spinner.line(Timestamp::from_millis(0)).unwrap(), "⠋ › t does not fit");
    spinner.set_draft("");
    assert!(spinner.line(Timestamp::from_millis(0)).unwrap().contains("waiting"));
}

fn output(text: &str) -> AgentEvent {
    let partial = Arc::new(ToolResult::text(text));
    AgentEvent::Tool(ToolEvent::Update { call_id: "c".into(), name: "bash".into(), partial })
}

#[test]
fn the_end_of_a_running_commands_output_is_above_it() {
    let mut spinner = Spinner::new(30);
    spinner.observe(&event(0, tool_start("make")));
    let frame = |spinner: &Spinner| spinner.frame(Timestamp::from_millis(0)).join("\n");
    let mut shown = vec![frame(&spinner)];
    spinner.observe(&event(
        0,
        output("one\n\ntwo\nthree\n10%\r50%\r90%\n\x1b[2Ja long line that does not fit here\n"),
    ));
    shown.push(frame(&spinner));
    let end = ToolEvent::Blocked { call_id: "c".into(), name: "bash".into(), reason: String::new() };
    spinner.observe(&event(0, AgentEvent::Tool(end)));
    shown.push(frame(&spinner));
    expect_test::expect![[r#"
        ⠋ bash make · 0 s
        --
          ╎ three
          ╎ 90%
          ╎ \u{1b}[2Ja long line tha…
        ⠋ bash make · 0 s
        --
    "#]]
    .assert_eq(&shown.join("\n--\n"));
    let mut narrow = Spinner::new(10);
    narrow.observe(&event(0, tool_start("make")));
    narrow.observe(&event(0, output("one\n")));
    assert_eq!(narrow.frame(Timestamp::from_millis(0)).len(), 1);
}
