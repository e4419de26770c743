//! Compiles a turn into a flat list of stream operations, with text split into deltas. Pure.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rheon_types::{Chunk, DeltaText, ProviderError, Signature, SignatureKind, StopReason, ToolName};
use serde_json::Value;

use super::scenario::{Arguments, CallStep, Chunking, Step, Turn};

/// One operation of a stream. A list that does not end in `Done` is a cut stream.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Op {
    Chunk(Chunk),
    /// Yield the start of a tool call whose id depends on the request.
    StartCall {
        index: u32,
        name: ToolName,
    },
    Delay(Duration),
    /// Yield this error and end.
    Fail(ProviderError),
    /// Wait until cancelled.
    Hang,
}

/// The parts of the request that a turn may quote.
#[derive(Debug, Default)]
pub(super) struct QuotedRequest {
    pub(super) last_tool_result: String,
    pub(super) last_text: String,
}

/// A placeholder without its opening braces, and its value.
type Placeholder = (&'static str, fn(&QuotedRequest) -> &str);

const PLACEHOLDERS: [Placeholder; 2] = [
    ("last_tool_result}}", |quoted_request| &quoted_request.last_tool_result),
    ("last_text}}", |quoted_request| &quoted_request.last_text),
];

/// A signature for the preceding thinking.
fn proof(data: &str) -> Chunk {
    let (data, origin) = (data.to_owned(), "scripted".to_owned());
    Chunk::Signature { signature: Box::new(Signature { data, kind: SignatureKind::Proof, id: None, origin }) }
}

/// The operations of `turn`, with placeholders filled in.
pub(super) fn compile(model: &str, turn: &Turn, quoted_request: &QuotedRequest) -> Arc<[Op]> {
    let mut ops = vec![Op::Chunk(Chunk::Model { model: model.to_owned() })];
    let mut calls = 0;
    for step in &turn.steps {
        match step {
            Step::Text { text, chunking } => {
                let deltas = split(&fill(text, quoted_request), *chunking);
                ops.extend(deltas.into_iter().map(|delta| Op::Chunk(Chunk::Text { delta })));
            }
            Step::Thinking { text, signature, chunking } => {
                let deltas = split(&fill(text, quoted_request), *chunking);
                ops.extend(deltas.into_iter().map(|delta| Op::Chunk(Chunk::Thinking { delta })));
                ops.extend(signature.iter().map(|data| Op::Chunk(proof(data))));
            }
            Step::ToolCall(call) => {
                compile_call(&mut ops, calls, call, quoted_request);
                calls += 1;
            }
            Step::Delay(duration) => ops.push(Op::Delay(*duration)),
            Step::Error(error) => {
                ops.push(Op::Fail(error.clone()));
                return ops.into();
            }
            Step::Cut => return ops.into(),
            Step::Hang => {
                ops.push(Op::Hang);
                return ops.into();
            }
        }
    }
    ops.extend(turn.usage.map(|usage| Op::Chunk(Chunk::Usage { usage })));
    let usual = if calls > 0 { StopReason::ToolUse } else { StopReason::Stop };
    ops.push(Op::Chunk(Chunk::Done { stop_reason: turn.stop.unwrap_or(usual) }));
    ops.into()
}

fn compile_call(ops: &mut Vec<Op>, index: u32, call: &CallStep, quoted_request: &QuotedRequest) {
    let name = call.name.clone();
    ops.push(match &call.id {
        Some(id) => Op::Chunk(Chunk::ToolCallStart { index, id: id.clone(), name }),
        None => Op::StartCall { index, name },
    });
    let json = match &call.arguments {
        Arguments::Json(arguments) => fill_json(arguments, quoted_request).to_string(),
        Arguments::Raw(raw) => raw.clone(),
    };
    // Services that send no arguments do not send a delta either.
    if !json.is_empty() {
        let deltas = split(&json, call.chunking);
        ops.extend(deltas.into_iter().map(|delta| Op::Chunk(Chunk::ToolCallDelta { index, delta })));
    }
    if !call.partial {
        ops.push(Op::Chunk(Chunk::ToolCallEnd { index }));
    }
}

/// Whether a turn quotes the request, so that it cannot be compiled in advance.
pub(super) fn quotes_request(turn: &Turn) -> bool {
    turn.steps.iter().any(|step| match step {
        Step::Text { text, .. } | Step::Thinking { text, .. } => has_placeholder(text),
        Step::ToolCall(CallStep { arguments: Arguments::Json(arguments), .. }) => {
            any_string(arguments, &has_placeholder)
        }
        Step::ToolCall(CallStep { arguments: Arguments::Raw(_), .. })
        | Step::Delay(_)
        | Step::Error(_)
        | Step::Cut
        | Step::Hang => false,
    })
}

fn any_string(value: &Value, holds: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, holds)),
        Value::Object(members) => members.values().any(|member| any_string(member, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn has_placeholder(text: &str) -> bool {
    PLACEHOLDERS.iter().any(|(name, _)| text.contains(&format!("{{{{{name}")))
}

/// Fills in the placeholders of `text` once: quoted text is not searched for placeholders.
fn fill<'a>(text: &'a str, quoted_request: &QuotedRequest) -> Cow<'a, str> {
    if !has_placeholder(text) {
        return Cow::Borrowed(text);
    }
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let quoted = PLACEHOLDERS.iter().find_map(|(name, quote)| {
            after.strip_prefix(name).map(|rest_after| (quote(quoted_request), rest_after))
        });
        match quoted {
            Some((quote, rest_after)) => {
                filled.push_str(quote);
                rest = rest_after;
            }
            // Skip only one brace: the other may open a placeholder.
            None => {
                filled.push('{');
                rest = rest.strip_prefix(before).and_then(|rest| rest.strip_prefix('{')).unwrap_or(after);
            }
        }
    }
    filled.push_str(rest);
    Cow::Owned(filled)
}

fn fill_json(value: &Value, quoted_request: &QuotedRequest) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, quoted_request).into_owned()),
        Value::Array(items) => items.iter().map(|item| fill_json(item, quoted_request)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| (key.clone(), fill_json(member, quoted_request))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Splits `text` into at least one delta; an empty text is one empty delta.
pub(super) fn split(text: &str, chunking: Chunking) -> Vec<DeltaText> {
    let limit = match chunking {
        Chunking::Whole => return vec![text.into()],
        Chunking::Words => usize::MAX,
        Chunking::Chars(chars) => chars.get(),
    };
    let by_word = chunking == Chunking::Words;
    let mut deltas = Vec::new();
    let mut delta = DeltaText::default();
    let (mut chars, mut after_space) = (0, false);
    for character in text.chars() {
        if chars == limit || (by_word && after_space && !character.is_whitespace()) {
            deltas.push(std::mem::take(&mut delta));
            chars = 0;
        }
        delta.push(character);
        chars += 1;
        after_space = character.is_whitespace();
    }
    deltas.push(delta);
    deltas
}
