//! Recovers tool calls that a model wrote as text. Pure.
//!
//! Reads from left to right, so that a verdict on the start of a text never changes when more arrives. In doubt it is
//! text: an unknown tool, an unknown key or a word after the call, and nothing is recovered.

use std::collections::BTreeMap;

use rheon_types::{ToolDefinition, ToolName};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::json::leading_value;
use crate::tool_name::ToolNameRule;

/// A recovered call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecoveredCall {
    /// A tool that the request offers.
    pub(crate) name: ToolName,
    /// A JSON object.
    pub(crate) arguments: String,
}

/// Whether the response is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseState {
    Open,
    Complete,
}

/// What a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Calls and nothing else; only for a complete response.
    Calls(Vec<RecoveredCall>),
    /// It may still become calls.
    More,
    /// Text, at least up to this offset, no matter what follows.
    Text(usize),
}

/// The tags that start calls after prose.
pub(super) const TAGS: [&str; 4] = [TOOL_CALL, FUNCTION, TOOL_CALLS, PYTHON_TAG];

const TOOL_CALL: &str = "<tool_call>";
const FUNCTION: &str = "<function=";
const TOOL_CALLS: &str = "[TOOL_CALLS]";
const PYTHON_TAG: &str = "<|python_tag|>";
const FENCE: &str = "```";

const NAME_KEYS: [&str; 3] = ["name", "tool", "function"];
const ARGUMENT_KEYS: [&str; 2] = ["arguments", "parameters"];
/// Keys that do not describe the call itself.
const OTHER_KEYS: [&str; 3] = ["id", "type", "index"];
/// Allowed words after the opening fence.
const FENCE_WORDS: [&str; 3] = ["", "json", "tool_call"];
/// A longer name is not a tool name.
const NAME_BYTES_MAX: usize = 256;

/// Calls without a tag, which must be the whole response: JSON objects, an array of them, or fenced blocks of either.
pub(super) fn whole(text: &str, offered: &[ToolDefinition], answer: ResponseState) -> Verdict {
    Cursor { text, at: 0, offered, answer }.verdict(Cursor::untagged)
}

/// Calls after a tag at the start of `text`.
pub(super) fn tagged(text: &str, offered: &[ToolDefinition], answer: ResponseState) -> Verdict {
    Cursor { text, at: 0, offered, answer }.verdict(Cursor::tagged)
}

/// Why reading stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// End of the available text.
    More,
    /// Something that is not part of a call.
    Text,
}

/// Whether a call needs arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Arguments {
    Optional,
    Required,
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
    offered: &'a [ToolDefinition],
    answer: ResponseState,
}

impl<'a> Cursor<'a> {
    fn verdict(
        mut self,
        form: impl FnOnce(&mut Self, &mut Vec<RecoveredCall>) -> Result<(), Stop>,
    ) -> Verdict {
        let mut calls = Vec::new();
        match form(&mut self, &mut calls) {
            Ok(()) if self.answer == ResponseState::Complete && !calls.is_empty() => Verdict::Calls(calls),
            Ok(()) => Verdict::More,
            Err(Stop::More) => Verdict::More,
            Err(Stop::Text) => Verdict::Text(self.at),
        }
    }

    fn untagged(&mut self, calls: &mut Vec<RecoveredCall>) -> Result<(), Stop> {
        self.skip_blank();
        if self.is_at_end() {
            return Ok(());
        }
        if !self.literal(FENCE)? {
            self.json_calls(calls, Arguments::Required)?;
            return if self.is_at_end() { Ok(()) } else { Err(Stop::Text) };
        }
        loop {
            self.fence_word()?;
            self.skip_blank();
            self.json_calls(calls, Arguments::Required)?;
            self.expect(FENCE)?;
            self.skip_blank();
            if self.is_at_end() {
                return Ok(());
            }
            self.expect(FENCE)?;
        }
    }

    fn tagged(&mut self, calls: &mut Vec<RecoveredCall>) -> Result<(), Stop> {
        loop {
            if self.literal(TOOL_CALL)? {
                self.skip_blank();
                let call = if self.rest().starts_with('<') {
                    self.function()?
                } else {
                    self.object(Arguments::Optional)?
                };
                calls.push(call);
                self.skip_blank();
                // Some models end the response in place of the closing tag.
                if !(self.is_at_end() && self.answer == ResponseState::Complete) {
                    self.expect("</tool_call>")?;
                }
            } else if self.literal(TOOL_CALLS)? {
                self.mistral(calls)?;
            } else if self.literal(PYTHON_TAG)? {
                self.skip_blank();
                self.json_calls(calls, Arguments::Optional)?;
                if !self.is_at_end() && !self.literal("<|eom_id|>")? {
                    self.expect("<|eot_id|>")?;
                }
            } else {
                calls.push(self.function()?);
            }
            self.skip_blank();
            if self.is_at_end() {
                return Ok(());
            }
        }
    }

    /// One or more objects, or an array of them, and the whitespace after it.
    fn json_calls(&mut self, calls: &mut Vec<RecoveredCall>, arguments: Arguments) -> Result<(), Stop> {
        if self.rest().starts_with('[') {
            return self.array(calls, arguments);
        }
        loop {
            calls.push(self.object(arguments)?);
            self.skip_blank();
            if !self.rest().starts_with('{') {
                return Ok(());
            }
        }
    }

    fn array(&mut self, calls: &mut Vec<RecoveredCall>, arguments: Arguments) -> Result<(), Stop> {
        self.expect("[")?;
        loop {
            self.skip_blank();
            calls.push(self.object(arguments)?);
            self.skip_blank();
            if !self.literal(",")? {
                self.expect("]")?;
                self.skip_blank();
                return Ok(());
            }
        }
    }

    /// `[{..}]`, `{..}` or `name[ARGS]{..}`, after the tag.
    fn mistral(&mut self, calls: &mut Vec<RecoveredCall>) -> Result<(), Stop> {
        self.skip_blank();
        if self.rest().starts_with(['[', '{']) {
            return self.json_calls(calls, Arguments::Optional);
        }
        let name = self.up_to("[", NAME_BYTES_MAX)?;
        let name = self.known(name.trim())?;
        if self.literal("[CALL_ID]")? {
            self.up_to("[", NAME_BYTES_MAX)?;
        }
        self.expect("[ARGS]")?;
        self.skip_blank();
        let arguments = self.plain_object()?.to_owned();
        calls.push(RecoveredCall { name, arguments });
        Ok(())
    }

    /// `<function=name>`, then parameters or a JSON object, then `</function>`. Some models write the object into the
    /// tag (`<function=name{..}`), with or without parentheses.
    fn function(&mut self) -> Result<RecoveredCall, Stop> {
        self.expect(FUNCTION)?;
        let name = self.up_to(['>', '{', '('], NAME_BYTES_MAX)?;
        let name = self.known(name.trim())?;
        let is_in_tag = !self.rest().starts_with('>');
        let has_parenthesis = self.literal("(")?;
        if !is_in_tag {
            self.expect(">")?;
        }
        self.skip_blank();
        if self.rest().starts_with('{') {
            let arguments = self.plain_object()?.to_owned();
            self.skip_blank();
            if has_parenthesis {
                self.expect(")")?;
                self.skip_blank();
            }
            if is_in_tag {
                self.literal(">")?;
            }
            self.expect("</function>")?;
            return Ok(RecoveredCall { name, arguments });
        }
        if is_in_tag {
            return Err(if self.is_at_end() { Stop::More } else { Stop::Text });
        }
        let mut arguments = Map::new();
        while !self.literal("</function>")? {
            self.expect("<parameter=")?;
            let key = self.up_to(">", NAME_BYTES_MAX)?.trim().to_owned();
            self.expect(">")?;
            let text = self.up_to("</parameter>", usize::MAX)?;
            self.expect("</parameter>")?;
            self.skip_blank();
            let text = text.strip_prefix('\n').unwrap_or(text);
            let text = text.strip_suffix('\n').unwrap_or(text);
            let value = self.typed(&name, &key, text);
            arguments.insert(key, value);
        }
        Ok(RecoveredCall { name, arguments: Value::Object(arguments).to_string() })
    }

    /// A parameter's text as the type that the tool's schema declares; a string by default.
    fn typed(&self, name: &ToolName, key: &str, text: &str) -> Value {
        let tool = self.offered.iter().find(|tool| tool.name == *name);
        let kind = tool.and_then(|tool| tool.parameters.get("properties")?.get(key)?.get("type"));
        let wants_text = match kind {
            Some(Value::String(kind)) => kind == "string",
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "string"),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => true,
        };
        let parsed = if wants_text { None } else { serde_json::from_str(text.trim()).ok() };
        parsed.unwrap_or_else(|| Value::String(text.to_owned()))
    }

    /// A JSON object that is a call.
    fn object(&mut self, arguments: Arguments) -> Result<RecoveredCall, Stop> {
        let value = self.json_object()?;
        // Also if it is not a call: nothing inside it is one, and it is not read again.
        self.at += value.len();
        let call = call_of(value, arguments).ok_or(Stop::Text)?;
        let name = self.known(&call.name)?;
        Ok(RecoveredCall { name, arguments: call.arguments })
    }

    /// A JSON object with the arguments of a call.
    fn plain_object(&mut self) -> Result<&'a str, Stop> {
        let rest = self.rest();
        if !rest.is_empty() && !rest.starts_with('{') {
            return Err(Stop::Text);
        }
        let value = leading_value(rest).ok_or(Stop::More)?;
        self.at += value.len();
        serde_json::from_str::<BTreeMap<String, &RawValue>>(value).map_err(|_| Stop::Text)?;
        Ok(value)
    }

    /// The object at the cursor, unless its first key or name shows that it is not a call. The cursor stays.
    fn json_object(&mut self) -> Result<&'a str, Stop> {
        let start = self.at;
        let head = self.object_head();
        self.at = start;
        head?;
        leading_value(self.rest()).ok_or(Stop::More)
    }

    fn object_head(&mut self) -> Result<(), Stop> {
        self.expect("{")?;
        self.skip_blank();
        let key = self.string()?;
        let named = NAME_KEYS.contains(&key.as_str());
        if !named && !ARGUMENT_KEYS.contains(&key.as_str()) && !OTHER_KEYS.contains(&key.as_str()) {
            return Err(Stop::Text);
        }
        self.skip_blank();
        self.expect(":")?;
        self.skip_blank();
        if named && self.rest().starts_with('"') {
            let name = self.string()?;
            self.known(&name)?;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<String, Stop> {
        let rest = self.rest();
        if !rest.is_empty() && !rest.starts_with('"') {
            return Err(Stop::Text);
        }
        let token = leading_value(rest).ok_or(Stop::More)?;
        self.at += token.len();
        serde_json::from_str(token).map_err(|_| Stop::Text)
    }

    /// The rest of the line that opens a fenced block.
    fn fence_word(&mut self) -> Result<(), Stop> {
        let word = self.up_to("\n", 32)?;
        if FENCE_WORDS.contains(&word.trim()) { Ok(()) } else { Err(Stop::Text) }
    }

    fn known(&self, name: &str) -> Result<ToolName, Stop> {
        // The model may know the tool by its rewritten name.
        let sent = |tool: &ToolDefinition| ToolNameRule::Word64.apply(tool.name.as_str()) == name;
        let tool = self.offered.iter().find(|tool| tool.name.as_str() == name || sent(tool));
        tool.map(|tool| tool.name.clone()).ok_or(Stop::Text)
    }

    /// The text before `end`, which must come within `bytes_max`.
    fn up_to(&mut self, end: impl Pattern, bytes_max: usize) -> Result<&'a str, Stop> {
        let rest = self.rest();
        match end.find_in(rest) {
            Some(length) if length > bytes_max => Err(Stop::Text),
            None if rest.len() > bytes_max.saturating_add(end.bytes()) => Err(Stop::Text),
            Some(length) => {
                self.at += length;
                Ok(rest.get(..length).unwrap_or_default())
            }
            None => Err(Stop::More),
        }
    }

    fn expect(&mut self, literal: &str) -> Result<(), Stop> {
        match self.literal(literal) {
            Ok(true) => Ok(()),
            Ok(false) if self.is_at_end() => Err(Stop::More),
            Ok(false) => Err(Stop::Text),
            Err(stop) => Err(stop),
        }
    }

    /// Whether `literal` comes next; if so, the cursor moves past it.
    fn literal(&mut self, literal: &str) -> Result<bool, Stop> {
        let rest = self.rest();
        if rest.starts_with(literal) {
            self.at += literal.len();
            return Ok(true);
        }
        if literal.starts_with(rest) && (!rest.is_empty() || self.answer == ResponseState::Open) {
            return Err(Stop::More);
        }
        Ok(false)
    }

    fn skip_blank(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }
}

/// What ends a part of a call.
trait Pattern {
    fn find_in(&self, text: &str) -> Option<usize>;

    fn bytes(&self) -> usize;
}

impl Pattern for &str {
    fn find_in(&self, text: &str) -> Option<usize> {
        text.find(*self)
    }

    fn bytes(&self) -> usize {
        self.len()
    }
}

impl<const N: usize> Pattern for [char; N] {
    fn find_in(&self, text: &str) -> Option<usize> {
        text.find(self)
    }

    fn bytes(&self) -> usize {
        1
    }
}

struct WrittenCall {
    name: String,
    arguments: String,
}

/// Parses a JSON object as a call in any of the known formats.
fn call_of(object: &str, requirement: Arguments) -> Option<WrittenCall> {
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    if let Some(function) = fields.get("function").filter(|value| value.get().starts_with('{')) {
        let alone = fields.keys().all(|key| key == "function" || OTHER_KEYS.contains(&key.as_str()));
        return if alone { call_of(function.get(), requirement) } else { None };
    }
    let mut name: Option<String> = None;
    let mut arguments: Option<String> = None;
    for (key, value) in &fields {
        if NAME_KEYS.contains(&key.as_str()) && name.is_none() {
            name = Some(serde_json::from_str(value.get()).ok()?);
        } else if ARGUMENT_KEYS.contains(&key.as_str()) && arguments.is_none() {
            arguments = Some(arguments_of(value)?);
        } else if !OTHER_KEYS.contains(&key.as_str()) {
            return None;
        }
    }
    let arguments = match requirement {
        Arguments::Optional => arguments.unwrap_or_else(|| "{}".to_owned()),
        Arguments::Required => arguments?,
    };
    Some(WrittenCall { name: name?, arguments })
}

/// The arguments as JSON text: a plain object, or a JSON string.
fn arguments_of(value: &RawValue) -> Option<String> {
    let text = value.get();
    match text.as_bytes().first()? {
        b'{' => Some(text.to_owned()),
        b'"' => {
            let inner: String = serde_json::from_str(text).ok()?;
            serde_json::from_str::<Map<String, Value>>(&inner).ok()?;
            Some(inner)
        }
        b'n' => Some("{}".to_owned()),
        _ => None,
    }
}
