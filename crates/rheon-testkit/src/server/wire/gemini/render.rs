//! Responses of Gemini.

use serde_json::{Value, json};

use crate::server::answer::Answer;
use crate::server::event::Event;
use crate::server::reply::{ReplyBlock, ReplyStop};
use crate::server::wire::pieces::{Counts, pieces};

/// The events of a stream. The last one has the finish reason.
pub(in crate::server::wire) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut parts: Vec<Vec<Value>> = Vec::new();
    for block in &answer.blocks {
        parts.extend(streamed(answer, block).into_iter().map(|part| vec![part]));
    }
    let last = parts.pop().unwrap_or_else(|| vec![json!({"text": ""})]);
    let mut events: Vec<Event> =
        parts.into_iter().map(|parts| Event::new("", &body(answer, parts, None))).collect();
    events.push(Event::new("", &body(answer, last, Some(stop_word(answer)))));
    events
}

/// The response as one body.
pub(in crate::server::wire) fn whole(answer: &Answer<'_>) -> Value {
    let parts = answer.blocks.iter().filter_map(part).collect();
    body(answer, parts, Some(stop_word(answer)))
}

/// A text delta.
pub(in crate::server::wire) fn text_event(text: &str) -> Event {
    Event::new(
        "",
        &json!({"candidates": [{"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}]}),
    )
}

fn body(answer: &Answer<'_>, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let (Some(candidate), Some(finish)) = (candidate.as_object_mut(), finish) {
        candidate.insert("finishReason".into(), json!(finish));
    }
    let mut body = json!({
        "candidates": [candidate],
        "modelVersion": answer.request_info.model,
        "responseId": answer.id("response", 0),
    });
    if let (Some(body), Some(counts)) = (body.as_object_mut(), Counts::of(&answer.usage)) {
        body.insert("usageMetadata".into(), usage(&counts, finish.is_some()));
    }
    body
}

fn usage(counts: &Counts, is_last: bool) -> Value {
    let mut usage = json!({
        "promptTokenCount": counts.prompt,
        "totalTokenCount": counts.total,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": counts.prompt}],
    });
    let Some(fields) = usage.as_object_mut() else { return usage };
    if counts.cache_read != json!(0) {
        fields.insert("cachedContentTokenCount".into(), counts.cache_read.clone());
    }
    if is_last {
        fields.insert("candidatesTokenCount".into(), counts.spoken.clone());
        if counts.thinking != json!(0) {
            fields.insert("thoughtsTokenCount".into(), counts.thinking.clone());
        }
    }
    usage
}

/// The parts in which a block is streamed: text in pieces, calls whole, a signature with the last piece.
fn streamed(answer: &Answer<'_>, block: &ReplyBlock) -> Vec<Value> {
    let chars = answer.style.delta_chars;
    let (text, thought, signature) = match block {
        ReplyBlock::Thinking { text, signature } => (text, true, signature),
        ReplyBlock::Text { text, signature } => (text, false, signature),
        ReplyBlock::Redacted { .. } | ReplyBlock::Call { .. } | ReplyBlock::AnyCall => {
            return part(block).into_iter().collect();
        }
    };
    let mut parts: Vec<Value> =
        pieces(text, chars).into_iter().map(|piece| text_part(piece, thought, None)).collect();
    if let Some(signature) = signature {
        match parts.last_mut().and_then(Value::as_object_mut) {
            Some(last) => {
                last.insert("thoughtSignature".into(), json!(signature));
            }
            None => parts.push(text_part("", thought, Some(signature))),
        }
    }
    parts
}

/// The block as one part; `None` if Gemini does not send it.
fn part(block: &ReplyBlock) -> Option<Value> {
    match block {
        ReplyBlock::Thinking { text, signature } => Some(text_part(text, true, signature.as_deref())),
        ReplyBlock::Redacted { data } => Some(text_part("", false, Some(data))),
        ReplyBlock::Text { text, signature } => Some(text_part(text, false, signature.as_deref())),
        ReplyBlock::Call { id, name, arguments, signature } => {
            let arguments: Value = serde_json::from_str(arguments).ok().filter(Value::is_object)?;
            let mut call = json!({"name": name, "args": arguments});
            if let (Some(call), Some(id)) = (call.as_object_mut(), id) {
                call.insert("id".into(), json!(id));
            }
            let mut part = json!({"functionCall": call});
            if let (Some(part), Some(signature)) = (part.as_object_mut(), signature) {
                part.insert("thoughtSignature".into(), json!(signature));
            }
            Some(part)
        }
        ReplyBlock::AnyCall => None,
    }
}

fn text_part(text: &str, thought: bool, signature: Option<&str>) -> Value {
    let mut part = json!({"text": text});
    if let Some(part) = part.as_object_mut() {
        if thought {
            part.insert("thought".into(), json!(true));
        }
        if let Some(signature) = signature {
            part.insert("thoughtSignature".into(), json!(signature));
        }
    }
    part
}

/// Gemini has the same finish reason with and without tool calls, and a separate one for malformed calls.
fn stop_word<'a>(answer: &'a Answer<'_>) -> &'a str {
    let is_bad = |block: &ReplyBlock| matches!(block, ReplyBlock::Call { .. }) && part(block).is_none();
    match &answer.stop {
        ReplyStop::Natural | ReplyStop::End | ReplyStop::ToolUse if answer.blocks.iter().any(is_bad) => {
            "MALFORMED_FUNCTION_CALL"
        }
        ReplyStop::Natural | ReplyStop::End | ReplyStop::ToolUse => "STOP",
        ReplyStop::Length => "MAX_TOKENS",
        ReplyStop::Refusal => "SAFETY",
        ReplyStop::Word(word) => word,
    }
}
