//! Files of other versions.

use std::sync::Arc;

use rheon_types::{
    AgentEvent, AssistantMessage, ChildEvent, Content, Effect, Message, RunEnd, RunId, StopReason, Timestamp,
    ToolCall, ToolEvent, Usage,
};
use serde_json::{Value, json};

use super::{Extras, LOOP_KEYS, ReadFault, SESSION_KEYS, read, write};
use crate::tree::fixtures::{RecorderFixture, call_done, end, start};
use crate::tree::{
    LoopEvent, LoopFact, LoopRecord, Session, SessionFormation, SessionRecorderConfig, SpawnRef,
};

fn full_session() -> Session {
    let mut fixture = RecorderFixture::new(SessionRecorderConfig::default());
    fixture.write("s.c.0", start("agent", Some("r.c.0"), Some(json!({ "a": 1 }))));
    fixture.write("s.c.0", call_done("call", Some("k.c.0")));
    fixture.write(
        "s.c.0",
        rheon_types::AgentEvent::Child(ChildEvent::ParallelEnd {
            selected_run_id: "s.c.0".into(),
            selected_index: 0,
            evaluation_usage: rheon_types::Usage::default(),
        }),
    );
    fixture.write("s.c.0", end(RunEnd::Rejected { rejection: "no".into() }, 1, 1));
    let mut session = fixture.recorder.drain_completed().remove(0);
    session.formation = SessionFormation::InactivityTimeout { secs: 1, previous_session_id: "r".into() };
    session.parent_spawn_ref = Some(SpawnRef {
        parent_session_id: "p".into(),
        parent_loop_id: "p.c.0".into(),
        tool_call_id: Some("call".into()),
        tool_name: Some("task".into()),
    });
    session
}

fn text(session: &Session, extras: Extras) -> Vec<u8> {
    let mut text = Vec::new();
    write(&mut text, session, extras).unwrap();
    text
}

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn every_key_that_is_written_is_known() {
    let value: Value = serde_json::from_slice(&text(&full_session(), Extras::default())).unwrap();
    let mut known = SESSION_KEYS.to_vec();
    known.sort_unstable();
    assert_eq!(keys(&value["session"]), known);
    let mut known = LOOP_KEYS.to_vec();
    known.sort_unstable();
    assert_eq!(keys(&value["session"]["loops"][0]), known);
}

#[test]
fn fields_of_a_later_version_survive_a_rewrite() {
    let session = full_session();
    let mut value: Value = serde_json::from_slice(&text(&session, Extras::default())).unwrap();
    value["writer"] = json!("later");
    value["session"]["mood"] = json!({ "is": "good" });
    value["session"]["loops"][0]["color"] = json!(1.5);
    value["session"]["loops"][0]["usage"]["thinking"] = json!(9);
    let added = json!({ "seq": 9, "at": 1, "kind": { "type": "moon.rises", "phase": "full" } });
    value["session"]["loops"][0]["events"].as_array_mut().unwrap().push(added.clone());
    let later = serde_json::to_vec_pretty(&value).unwrap();
    let loaded = read(&later).unwrap();
    assert!(matches!(loaded.loops[0].events.last(), Some(LoopEvent::Unknown(_))));
    assert_eq!(loaded.loops[0].events.last().and_then(LoopEvent::fact), None);
    let rewritten: Value = serde_json::from_slice(&text(&loaded, Extras::of(&later).unwrap())).unwrap();
    // Only fields deeper than a loop are lost.
    value["session"]["loops"][0]["usage"].as_object_mut().unwrap().remove("thinking");
    assert_eq!(rewritten, value);
}

#[test]
fn the_extras_of_a_removed_loop_are_removed() {
    let mut session = full_session();
    let mut value: Value = serde_json::from_slice(&text(&session, Extras::default())).unwrap();
    value["session"]["loops"][0]["color"] = json!("red");
    let extras = Extras::of(&serde_json::to_vec(&value).unwrap()).unwrap();
    let id = RunId::from("s.c.1");
    session.loops = vec![LoopRecord { loop_id: id, ..session.loops[0].clone() }];
    let rewritten = text(&session, extras);
    assert!(!String::from_utf8(rewritten.clone()).unwrap().contains("color"));
    assert_eq!(read(&rewritten).unwrap(), session);
}

#[test]
fn a_later_format_is_not_read() {
    let text = br#"{ "session": [], "version": 7 }"#;
    assert_eq!(read(text), Err(ReadFault::Newer { found: 7 }));
    assert_eq!(Extras::of(text), Err(ReadFault::Newer { found: 7 }));
}

#[test]
fn any_valid_tool_call_can_be_read_back() {
    let nested = |depth: usize| -> Value {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        serde_json::from_str(&text).unwrap()
    };
    // As deep as arguments can be. Brackets in texts do not count.
    let mut arguments = json!({ "deep": nested(126), "brackets": "[\"[[\\".repeat(400) });
    let mut session = full_session();
    for _ in 0..2 {
        let call = ToolCall {
            id: "call".into(),
            name: "t".into(),
            arguments: Arc::new(arguments.clone()),
            malformed: None,
            key_order: None,
        };
        let message = Message::Assistant(AssistantMessage {
            content: vec![Content::ToolCall(call)],
            stop_reason: StopReason::ToolUse,
            model: String::new(),
            provider: String::new(),
            usage: Usage::default(),
            timestamp: Timestamp::default(),
            error_message: None,
        });
        session.loops[0].messages = vec![Arc::new(message.into())];
        let args = Arc::new(arguments.clone());
        let kind = AgentEvent::Tool(ToolEvent::Start {
            call_id: "call".into(),
            name: "t".into(),
            args,
            effect: Effect::Pure,
            grant: None,
        });
        let fact = LoopFact { seq: 9, at: Timestamp::default(), kind };
        session.loops[0].events = vec![LoopEvent::Known(fact)];
        let text = text(&session, Extras::default());
        if arguments.get("deeper").is_none() {
            assert_eq!(read(&text).unwrap(), session);
        } else {
            let problem = "nested more than 256 levels deep".to_owned();
            assert_eq!(read(&text), Err(ReadFault::Broken { problem }));
        }
        // An app can build what no parser accepts.
        arguments["deeper"] =
            (0..3).fold(nested(120), |value, _| (0..60).fold(value, |value, _| json!([value])));
    }
}
