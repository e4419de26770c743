//! Settings of logs of before, and of logs that know more.

use serde_json::json;

use super::*;
use crate::event::{AgentEvent, RunEvent};

const BEFORE: &str = r#"{"retries_max":3,"tools_together":32,"tool_calls_max":256,"hooks":1}"#;

#[test]
fn old_settings_without_a_window_roundtrip() {
    let settings: RunSettings = serde_json::from_str(BEFORE).unwrap();
    let expected = RunSettings {
        retries_max: 3,
        tools_together: 32,
        tool_calls_max: 256,
        hooks: 1,
        ..RunSettings::default()
    };
    assert_eq!(settings, expected);
    let written = serde_json::to_value(&settings).unwrap();
    assert_eq!(written.get("window"), None);
}

#[test]
fn an_older_reader_ignores_unknown_fields() {
    let mut newer = serde_json::to_value(RunSettings {
        window: Some(RunWindow { tokens_max: Some(200_000), compact_percent: 90, ..RunWindow::default() }),
        ..RunSettings::default()
    })
    .unwrap();
    newer["something_later"] = json!({ "a": 1 });
    newer["window"]["something_later"] = json!([1]);
    let read: RunSettings = serde_json::from_value(newer).unwrap();
    let window = read.window.unwrap();
    assert_eq!((window.tokens_max, window.compact_percent), (Some(200_000), 90));
    let sparse: RunWindow = serde_json::from_value(json!({})).unwrap();
    assert_eq!(sparse, RunWindow::default());
}

#[test]
fn an_old_run_without_cuts_has_none() {
    let line = r#"{"type":"agent.start","agent_id":"a","model":"m","history":[]}"#;
    let AgentEvent::Run(RunEvent::Start { cuts, history, .. }) = serde_json::from_str(line).unwrap() else {
        panic!()
    };
    assert_eq!((cuts, history.map(|history| history.len())), (Vec::new(), Some(0)));
}
