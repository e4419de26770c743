//! Tests of a screen on which something moves.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, Event, MessageEvent, ModelEvent, Timestamp, ToolCallId, ToolEvent, ToolName, ToolResult,
};

use super::super::page::TextStyle;
use super::super::renderer::{Layout, Renderer};
use super::{RenderedText, Screen, Spinner};

const STYLE: TextStyle = TextStyle { colors: true, columns: 40, wraps: true, formats: true };

fn event(at_ms: u64, kind: AgentEvent) -> Event {
    Event {
        seq: 1,
        at: Timestamp::from_millis(at_ms),
        session_id: "s".into(),
        run_id: Some("l".into()),
        kind,
    }
}

fn say(text: &str) -> AgentEvent {
    AgentEvent::Message(MessageEvent::TextDelta { delta: text.into() })
}

fn visible(rendered: &RenderedText) -> String {
    let pieces: Vec<String> =
        rendered.pieces().map(|(stream, text)| format!("{stream:?} {text:?}")).collect();
    pieces.join(", ").replace("\\u{1b}", "␛")
}

#[test]
fn the_spinner_makes_room_for_text() {
    let mut screen =
        Screen::new(Renderer::new(Layout::Split { out: STYLE, err: STYLE })).with_spinner(Spinner::new(40));
    let start =
        AgentEvent::Model(ModelEvent::Start { model: "m".into(), tokens_estimate: 0, reserved: None });
    let now = Timestamp::from_millis;
    let steps = [
        screen.event(&event(0, start)),
        screen.tick(now(100)),
        screen.tick(now(200)),
        screen.event(&event(300, say("One two"))),
        screen.tick(now(400)),
        screen.event(&event(500, say(" three.\n\n"))),
        screen.tick(now(600)),
        screen.event(&event(700, say("**held"))),
        screen.tick(now(800)),
        screen.close(),
        screen.tick(now(900)),
    ];
    let shown: Vec<String> = steps.iter().map(visible).collect();
    expect_test::expect![[r#"

        Stderr "\r␛[K␛[2m⠙ waiting for the model · 0 s␛[0m"
        Stderr "\r␛[K␛[2m⠹ waiting for the model · 0 s␛[0m"
        Stderr "\r␛[K", Stdout "One"

        Stdout " two three.\n"
        Stderr "\r␛[K␛[2m⠦ waiting for the mo… · 0 s · ~4 tokens␛[0m"
        Stderr "\r␛[K", Stdout "\n"
        Stderr "\r␛[K␛[2m⠇ waiting for the mo… · 0 s · ~5 tokens␛[0m"
        Stderr "\r␛[K", Stdout "**held\n"
    "#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn lines_of_output_are_drawn_over_and_erased() {
    let mut screen = Screen::new(Renderer::new(Layout::Conversation(STYLE))).with_spinner(Spinner::new(40));
    let (call_id, name) = (ToolCallId::from("c"), ToolName::from("bash"));
    let (args, effect) = (Default::default(), Default::default());
    let update = |text: &str| {
        let partial = Arc::new(ToolResult::text(text));
        AgentEvent::Tool(ToolEvent::Update { call_id: "c".into(), name: "bash".into(), partial })
    };
    let start = AgentEvent::Tool(ToolEvent::Start { call_id, name, args, effect, grant: None });
    let now = Timestamp::from_millis;
    let steps = [
        screen.event(&event(0, start)),
        screen.tick(now(0)),
        screen.event(&event(0, update("one\n"))),
        screen.tick(now(0)),
        screen.event(&event(0, update("one\ntwo\n"))),
        screen.tick(now(0)),
        screen.notice("something else"),
        screen.close(),
    ];
    let shown: Vec<String> = steps.iter().map(visible).collect();
    expect_test::expect![[r#"
        Stdout "␛[36m●␛[0m␛[1m bash␛[0m\n"
        Stderr "\r␛[K␛[2m⠋ bash  · 0 s␛[0m"

        Stderr "\r␛[J␛[2m  ╎ one\r\n⠋ bash  · 0 s␛[0m"

        Stderr "␛[1A\r␛[J␛[2m  ╎ one\r\n  ╎ two\r\n⠋ bash  · 0 s␛[0m"
        Stderr "␛[2A\r␛[J", Stdout "␛[2msomething else␛[0m\n"
    "#]]
    .assert_eq(&shown.join("\n"));
}
