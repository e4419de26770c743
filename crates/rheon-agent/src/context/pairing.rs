//! Repairs imported conversations: every tool call gets a result, and every result has a call.

use std::collections::HashSet;
use std::sync::Arc;

use rheon_types::{
    AgentMessage, Content, History, Message, StopReason, Timestamp, ToolCall, ToolCallId, ToolResultMessage,
};

/// What the model reads in place of a missing result.
const LOST_RESULT: &str =
    "The result of this call was lost; it may or may not have run. Check before doing it again.";

/// `history` with a result for every call and without results that answer no call.
pub(crate) fn repair_calls(history: &History, now: Timestamp) -> History {
    let mut repaired = History::new();
    let mut due = PendingCalls::default();
    for message in history.iter() {
        match message.as_llm() {
            Some(Message::ToolResult(result)) if !due.open.remove(&result.tool_call_id) => continue,
            Some(Message::ToolResult(_)) | None => {}
            Some(Message::User(_)) => due.settle(&mut repaired, now),
            Some(Message::Assistant(answer)) if answer.stop_reason == StopReason::Error => {}
            Some(Message::Assistant(answer)) => {
                due.settle(&mut repaired, now);
                due.calls = answer.tool_calls().cloned().collect();
                due.open = due.calls.iter().map(|call| call.id.clone()).collect();
            }
        }
        repaired.push(Arc::clone(message));
    }
    due.settle(&mut repaired, now);
    repaired
}

/// The calls of the last answer that have no result yet.
#[derive(Default)]
struct PendingCalls {
    calls: Vec<ToolCall>,
    open: HashSet<ToolCallId>,
}

impl PendingCalls {
    /// Adds the missing results.
    fn settle(&mut self, history: &mut History, now: Timestamp) {
        for call in self.calls.drain(..).filter(|call| self.open.remove(&call.id)) {
            history.push(lost_result(&call, now));
        }
    }
}

fn lost_result(call: &ToolCall, timestamp: Timestamp) -> Arc<AgentMessage> {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: call.id.clone(),
        tool_name: call.name.clone(),
        content: vec![Content::text(LOST_RESULT)],
        is_error: true,
        timestamp,
    });
    Arc::new(message.into())
}
