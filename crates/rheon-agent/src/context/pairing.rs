//! Every tool call has its result: mends a conversation that came from outside.

use std::sync::Arc;

use rheon_types::{
    AgentMessage, Content, History, Message, Timestamp, ToolCall, ToolResultMessage, unanswered_calls,
};

/// What the model reads where a result is missing.
const LOST_RESULT: &str =
    "The result of this call was lost; it may or may not have run. Check before doing it again.";

/// `history` with a result for every call that lacks one; the same history if none does.
pub(crate) fn answer_all_calls(history: History, now: Timestamp) -> History {
    let mut missing = unanswered_calls(&history).into_iter().peekable();
    if missing.peek().is_none() {
        return history;
    }
    let mut mended = History::new();
    for (index, message) in history.iter().enumerate() {
        while let Some((_, call)) = missing.next_if(|(due, _)| *due == index) {
            mended.push(lost_result(&call, now));
        }
        mended.push(Arc::clone(message));
    }
    mended.extend(missing.map(|(_, call)| lost_result(&call, now)));
    mended
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
