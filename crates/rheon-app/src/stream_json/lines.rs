//! `Lines`: the lines of one event, each with the ids that every line has.

use rheon_store::claude::format_timestamp;
use rheon_types::{SessionId, Timestamp};
use serde_json::{Map, Value, json};

use super::ids::LineIds;
use super::view::ParentCall;

/// The lines of one event.
pub(super) struct Lines<'a> {
    ids: &'a mut LineIds,
    session_id: &'a SessionId,
    parent: Option<&'a ParentCall>,
    lines: Vec<String>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(
        ids: &'a mut LineIds,
        session_id: &'a SessionId,
        parent: Option<&'a ParentCall>,
    ) -> Self {
        Self { ids, session_id, parent, lines: Vec::new() }
    }

    pub(super) fn done(self) -> Vec<String> {
        self.lines
    }

    /// A line with its ids.
    pub(super) fn push(&mut self, line: Value) {
        let mut fields = object(line);
        fields.insert("session_id".to_owned(), json!(self.session_id));
        let id = Value::String(self.ids.next());
        // Messages of the client already have an id.
        fields.entry("uuid").or_insert(id);
        self.lines.push(Value::Object(fields).to_string());
    }

    /// A line that belongs to a run, perhaps of a sub-agent.
    pub(super) fn push_of_run(&mut self, line: Value) {
        let mut fields = object(line);
        let parent = self.parent;
        fields.insert(
            "parent_tool_use_id".to_owned(),
            json!(parent.and_then(|parent| parent.tool_use_id.as_ref())),
        );
        if let Some(parent) = parent {
            fields.insert("agent_id".to_owned(), json!(parent.agent_id));
            fields.insert("task_description".to_owned(), json!(parent.task));
        }
        self.push(Value::Object(fields));
    }

    /// A line that is the `nth` entry of its event in the transcript, and has its uuid.
    pub(super) fn push_entry(&mut self, at: Timestamp, nth: u64, line: Value) {
        let mut fields = object(line);
        let id = Value::String(self.ids.entry(nth));
        // Messages of the client already have an id.
        fields.entry("uuid").or_insert(id);
        self.push_at(at, Value::Object(fields));
    }

    pub(super) fn push_at(&mut self, at: Timestamp, line: Value) {
        let mut fields = object(line);
        fields.insert("timestamp".to_owned(), Value::String(format_timestamp(at)));
        self.push_of_run(Value::Object(fields));
    }

    pub(super) fn stream(&mut self, message_id: &str, events: impl IntoIterator<Item = Value>) {
        for event in events {
            self.push_of_run(json!({ "type": "stream_event", "event": event, "api_message_id": message_id }));
        }
    }

    pub(super) fn system(&mut self, subtype: &str, fields: Value) {
        let mut fields = object(fields);
        fields.insert("type".to_owned(), json!("system"));
        fields.insert("subtype".to_owned(), json!(subtype));
        self.push(Value::Object(fields));
    }
}

/// The fields of an object.
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}
