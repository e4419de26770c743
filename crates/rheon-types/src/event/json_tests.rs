//! Events of this version, of earlier ones and of newer ones read back.

use serde_json::json;

use crate::event::{AgentEvent, Event, SessionEvent, TurnEvent};
use crate::{RunId, TurnTrigger};

#[test]
fn the_type_may_be_anywhere_in_the_object() {
    let first = r#"{"type":"turn.start","turn_index":1,"triggered_by":"user"}"#;
    let last = r#"{"turn_index":1,"triggered_by":"user","type":"turn.start"}"#;
    let event = AgentEvent::Turn(TurnEvent::Start { turn_index: 1, triggered_by: TurnTrigger::User });
    assert_eq!(serde_json::from_str::<AgentEvent>(first).unwrap(), event);
    assert_eq!(serde_json::from_str::<AgentEvent>(last).unwrap(), event);
    assert_eq!(serde_json::from_value::<AgentEvent>(serde_json::from_str(last).unwrap()).unwrap(), event);
    assert_eq!(serde_json::to_string(&event).unwrap(), first);
}

#[test]
fn an_event_of_a_newer_version_is_preserved() {
    let text =
        r#"{"seq":3,"at":5,"session_id":"s","kind":{"type":"tool.sparkle","a":[1,{"b":null}],"c":"d"}}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    assert_eq!(event.run_id, None);
    assert_eq!(event.kind.name(), "tool.sparkle");
    assert!(event.kind.is_durable());
    assert_eq!(serde_json::to_string(&event).unwrap(), text);
}

#[test]
fn an_event_of_an_earlier_version_reads_under_its_new_name() {
    let old = json!({ "seq": 1, "at": 0, "session_id": "s", "loop_id": "s.c.1",
        "kind": { "type": "mode.changed", "mode": "plan" } });
    let event: Event = serde_json::from_value(old).unwrap();
    assert_eq!(event.run_id, Some(RunId::from("s.c.1")));
    assert_eq!(event.kind.name(), "session.mode");
    assert!(matches!(event.kind, AgentEvent::Session(SessionEvent::Mode { .. })));
}

#[test]
fn what_is_not_an_event_is_an_error() {
    let problem = |text: &str| serde_json::from_str::<AgentEvent>(text).unwrap_err().to_string();
    assert_eq!(problem("{}"), "missing field `type` at line 1 column 2");
    assert_eq!(problem(r#"{"a":1}"#), "missing field `type` at line 1 column 7");
    assert_eq!(
        problem("[]"),
        "invalid type: sequence, expected an event: an object with a \"type\" at line 1 column 0"
    );
    assert!(problem(r#"{"type":"turn.start"}"#).starts_with("missing field `turn_index`"));
}
