//! The bytes of a request, cut into the pieces that a service caches, in the order in which it does: tools, system prompt,
//! conversation. Reads only as much JSON as it must: a session of thousands of requests goes through it.
#![allow(clippy::string_slice, reason = "every cut is beside a sign of JSON, which is ASCII")]

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use rheon_providers::wire::WireKind;
use serde_json::Value;

/// One piece of a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// What tells it from others; marks for the cache are no part of it.
    pub(crate) hash: u64,
    /// How many bytes it has, with what stands around it.
    pub(crate) bytes: usize,
    /// Whether the service is asked to keep everything up to here.
    pub(crate) is_marked: bool,
    /// Whether the model said it.
    pub(crate) is_models: bool,
    /// The calls in it.
    pub(crate) calls: Vec<String>,
    /// The calls whose results are in it.
    pub(crate) results: Vec<String>,
    /// Which of the texts that are looked for stand in it.
    pub(crate) holds: Vec<bool>,
}

/// Cuts requests of one wire into pieces. What stood in the same place of the request before is not read again.
pub(crate) struct Cutter {
    wire: WireKind,
    /// Texts that are looked for.
    wanted: Vec<String>,
    /// The request before.
    before: String,
    /// Where its messages, tools and sections began and ended, and what they were made of.
    known: HashMap<usize, (usize, Arc<[Piece]>)>,
}

/// What `hash` makes of a value.
pub(crate) fn hashed(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

const ANTHROPIC_MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

impl Cutter {
    pub(crate) fn new(wire: WireKind, wanted: &[&str]) -> Self {
        Self {
            wire,
            wanted: wanted.iter().map(|text| (*text).to_owned()).collect(),
            before: String::new(),
            known: HashMap::new(),
        }
    }

    /// The pieces of a body.
    pub(crate) fn pieces(&mut self, body: &str) -> Vec<Arc<[Piece]>> {
        let order: &[&str] = match self.wire {
            WireKind::Anthropic => &["tools", "system", "messages"],
            WireKind::Chat => &["tools", "messages"],
            WireKind::Responses => &["tools", "instructions", "input"],
            WireKind::Gemini => &["tools", "systemInstruction", "contents"],
            WireKind::Bedrock => &["toolConfig", "system", "messages"],
        };
        let same = same_bytes(self.before.as_bytes(), body.as_bytes());
        self.known.retain(|_, (end, _)| *end < same);
        let mut found: Vec<Vec<Arc<[Piece]>>> = vec![Vec::new(); order.len()];
        let mut at = 1;
        while body.as_bytes()[at] == b'"' {
            let key_end = end_of_string(body, at);
            let place = order.iter().position(|name| *name == &body[at + 1..key_end - 1]);
            at = key_end + 1;
            let mut pieces = Vec::new();
            at = match place {
                Some(_) if body.as_bytes()[at] == b'[' => {
                    at += 1;
                    while body.as_bytes()[at] != b']' {
                        at = self.whole(body, at, &mut pieces);
                        at += usize::from(body.as_bytes()[at] == b',');
                    }
                    at + 1
                }
                Some(_) => self.whole(body, at, &mut pieces),
                None => end_of_value(body, at),
            };
            if let Some(place) = place {
                found[place] = pieces;
            }
            at = (at + 1).min(body.len() - 1);
        }
        body.clone_into(&mut self.before);
        found.concat()
    }

    /// Takes in the message, tool or section that begins at `at`; returns where it ends.
    fn whole(&mut self, body: &str, at: usize, pieces: &mut Vec<Arc<[Piece]>>) -> usize {
        if let Some((end, known)) = self.known.get(&at) {
            pieces.push(Arc::clone(known));
            return *end;
        }
        let end = end_of_value(body, at);
        let made = self.message(&body[at..end]);
        pieces.push(Arc::clone(&made));
        self.known.insert(at, (end, made));
        end
    }

    /// The pieces of one message, tool or section.
    fn message(&self, text: &str) -> Arc<[Piece]> {
        let fields = if text.starts_with('{') { fields(text) } else { Vec::new() };
        let field = |name: &str| fields.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let role = field("role").unwrap_or_default();
        let inner = match self.wire {
            WireKind::Anthropic | WireKind::Bedrock => field("content"),
            WireKind::Gemini => field("parts"),
            // Here services keep whole messages or nothing of them.
            WireKind::Chat | WireKind::Responses => None,
        };
        let blocks = match inner.filter(|inner| inner.starts_with('[')) {
            Some(inner) if !role.is_empty() => items(inner),
            Some(_) | None => vec![text],
        };
        let mut pieces: Vec<Piece> = Vec::new();
        for block in blocks {
            match pieces.last_mut() {
                Some(before) if block == r#"{"cachePoint":{"type":"default"}}"# => before.is_marked = true,
                Some(_) | None => pieces.push(self.piece(role, block)),
            }
        }
        // What stands around the pieces belongs to the last; marks belong to none.
        let marks = text.matches(ANTHROPIC_MARK).count() * ANTHROPIC_MARK.len();
        let inside: usize = pieces.iter().map(|piece| piece.bytes).sum();
        if let Some(last) = pieces.last_mut() {
            last.bytes += text.len() - marks - inside.min(text.len() - marks);
        }
        pieces.into()
    }

    fn piece(&self, role: &str, block: &str) -> Piece {
        let plain = block.replace(ANTHROPIC_MARK, "");
        let value: Value = serde_json::from_str(&plain).unwrap();
        let (calls, results) = (calls(self.wire, &value), results(self.wire, &value));
        let texts = texts(&value);
        Piece {
            hash: hashed((role, &plain)),
            bytes: plain.len(),
            is_marked: plain.len() < block.len(),
            is_models: !calls.is_empty()
                || ["\"assistant\"", "\"model\""].contains(&role)
                || value["type"] == "reasoning",
            calls,
            results,
            holds: self.wanted.iter().map(|wanted| texts.contains(wanted.as_str())).collect(),
        }
    }
}

/// The calls in a block. Gemini's older models give them no id, so there the name stands for it.
fn calls(wire: WireKind, block: &Value) -> Vec<String> {
    let id = |id: &Value| vec![id.as_str().unwrap().to_owned()];
    match wire {
        WireKind::Anthropic if block["type"] == "tool_use" => id(&block["id"]),
        WireKind::Responses if block["type"] == "function_call" => id(&block["call_id"]),
        WireKind::Bedrock if block["toolUse"].is_object() => id(&block["toolUse"]["toolUseId"]),
        WireKind::Gemini if block["functionCall"].is_object() => named(&block["functionCall"]),
        WireKind::Chat => {
            let calls = block["tool_calls"].as_array().into_iter().flatten();
            calls.flat_map(|call| id(&call["id"])).collect()
        }
        WireKind::Anthropic | WireKind::Responses | WireKind::Bedrock | WireKind::Gemini => Vec::new(),
    }
}

/// The calls whose results are in a block.
fn results(wire: WireKind, block: &Value) -> Vec<String> {
    let id = |id: &Value| vec![id.as_str().unwrap().to_owned()];
    match wire {
        WireKind::Anthropic if block["type"] == "tool_result" => id(&block["tool_use_id"]),
        WireKind::Responses if block["type"] == "function_call_output" => id(&block["call_id"]),
        WireKind::Bedrock if block["toolResult"].is_object() => id(&block["toolResult"]["toolUseId"]),
        WireKind::Gemini if block["functionResponse"].is_object() => named(&block["functionResponse"]),
        WireKind::Chat if block["role"] == "tool" => id(&block["tool_call_id"]),
        WireKind::Anthropic | WireKind::Responses | WireKind::Bedrock | WireKind::Gemini | WireKind::Chat => {
            Vec::new()
        }
    }
}

fn named(call: &Value) -> Vec<String> {
    let id = call["id"].as_str().or_else(|| call["name"].as_str());
    vec![id.unwrap().to_owned()]
}

/// All texts in a value.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(fields) => fields.values().map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// How many bytes two texts begin with alike.
fn same_bytes(one: &[u8], other: &[u8]) -> usize {
    const STEP: usize = 1_024;
    let length = one.len().min(other.len());
    let mut same = 0;
    while same + STEP <= length && one[same..same + STEP] == other[same..same + STEP] {
        same += STEP;
    }
    same + one[same..length].iter().zip(&other[same..length]).take_while(|(one, other)| one == other).count()
}

/// The fields of an object that is written without blanks.
fn fields(object: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut at = 1;
    while object.as_bytes()[at] == b'"' {
        let key_end = end_of_value(object, at);
        let value_end = end_of_value(object, key_end + 1);
        found.push((&object[at + 1..key_end - 1], &object[key_end + 1..value_end]));
        at = (value_end + 1).min(object.len() - 1);
    }
    found
}

/// The items of an array that is written without blanks.
fn items(array: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 1;
    while at < array.len() && array.as_bytes()[at] != b']' {
        let end = end_of_value(array, at);
        found.push(&array[at..end]);
        at = end + 1;
    }
    found
}

/// Where the value that begins at `at` ends.
fn end_of_value(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0_usize;
    loop {
        match bytes[at] {
            b'"' => at = end_of_string(text, at),
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            _ => at += 1,
        }
        if depth == 0 && bytes.get(at).is_none_or(|byte| b",:]}".contains(byte)) {
            return at;
        }
    }
}

/// Where the string that begins at `at` ends: behind the first quote that nothing escapes.
fn end_of_string(text: &str, at: usize) -> usize {
    let mut end = at + 1;
    loop {
        end += text[end..].find('"').unwrap() + 1;
        let before = &text[at + 1..end - 1];
        if (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2) {
            return end;
        }
    }
}

#[test]
fn a_body_falls_into_what_a_service_keeps_and_marks_are_no_part_of_it() {
    let body = r#"{"model":"m","system":[{"type":"text","text":"A \"rule\"\\"}],"tools":[{"name":"t"}],"messages":[
        {"role":"user","content":[{"type":"text","text":"Go."}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{"a":[1,"]"]}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"x","cache_control":{"type":"ephemeral"}},{"type":"text","text":"Go on."}]}]}"#;
    let body: String = body.lines().map(str::trim).collect();
    let mut cutter = Cutter::new(WireKind::Anthropic, &["A \"rule\"\\", "Go."]);
    let pieces: Vec<Piece> = cutter.pieces(&body).iter().flat_map(|pieces| pieces.iter().cloned()).collect();
    let seen: Vec<_> = pieces
        .iter()
        .map(|piece| (piece.calls.concat(), piece.results.concat(), piece.is_marked, piece.holds.clone()))
        .collect();
    let none = || (String::new(), String::new(), false, vec![false, false]);
    assert_eq!(
        seen,
        [
            none(),
            (String::new(), String::new(), false, vec![true, false]),
            (String::new(), String::new(), false, vec![false, true]),
            ("1".into(), String::new(), false, vec![false, false]),
            (String::new(), "1".into(), true, vec![false, false]),
            none(),
        ]
    );
    let unmarked = body.replace(ANTHROPIC_MARK, "");
    let plain = cutter.pieces(&unmarked);
    let hashes = |pieces: &[Arc<[Piece]>]| -> Vec<(u64, usize)> {
        pieces.iter().flat_map(|pieces| pieces.iter()).map(|piece| (piece.hash, piece.bytes)).collect()
    };
    let marked = cutter.pieces(&body);
    assert_eq!(hashes(&plain), hashes(&marked));
}
