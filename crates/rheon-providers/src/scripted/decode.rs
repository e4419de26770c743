//! Decodes a document into a scenario; errors name the key.

use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use rheon_text::did_you_mean;
use rheon_types::{ProviderError, ProviderErrorKind, StopReason, Usage};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

use super::choose::Condition;
use super::fields::{Fault, Fields, KeyPath};
use super::scenario::{Arguments, CallStep, Chunking, Entry, Scenario, Step, Turn};

const TEXT: &str = "a string";
const FLAG: &str = "true or false";
const COUNT: &str = "a whole number";
const COUNT_FROM_1: &str = "a whole number from 1";
const MILLIS: &str = "a whole number of milliseconds";

/// A step type: its name, its keys besides `type`, and its reader.
struct StepForm {
    name: &'static str,
    keys: &'static [&'static str],
    read: fn(&mut Fields) -> Result<Step, Fault>,
}

const STEP_FORMS: [StepForm; 7] = [
    StepForm { name: "text", keys: &["type", "text", "chunk_chars"], read: text },
    StepForm { name: "thinking", keys: &["type", "text", "signature", "chunk_chars"], read: thinking },
    StepForm {
        name: "tool_call",
        keys: &["type", "name", "args", "id", "raw_args", "partial", "chunk_chars"],
        read: tool_call,
    },
    StepForm { name: "delay", keys: &["type", "ms"], read: delay },
    StepForm { name: "error", keys: &["type", "kind", "message", "retry_after_ms"], read: error },
    StepForm { name: "cut", keys: &["type"], read: |_| Ok(Step::Cut) },
    StepForm { name: "hang", keys: &["type"], read: |_| Ok(Step::Hang) },
];

/// Decodes a whole scenario.
pub(super) fn scenario(document: Value) -> Result<Scenario, Fault> {
    let mut fields = Fields::of(document, KeyPath::default())?;
    fields.only(&["name", "model", "turns"])?;
    Ok(Scenario {
        name: fields.take("name", TEXT)?,
        model: fields.take("model", TEXT)?,
        entries: fields.list("turns", turn)?.into_iter().map(Entry::Turn).collect(),
    })
}

/// From any format. Errors have no line, which only [`Scenario::from_toml`] and [`Scenario::from_json`] know.
impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        scenario(Value::deserialize(deserializer)?)
            .map_err(|fault| de::Error::custom(format!("{}: {}", fault.path, fault.problem)))
    }
}

fn turn(value: Value, path: KeyPath) -> Result<Turn, Fault> {
    let mut fields = Fields::of(value, path)?;
    fields.only(&["when", "repeat", "steps", "usage", "stop"])?;
    let turn = Turn {
        when: fields.table("when", condition)?.unwrap_or_default(),
        repeat: fields.take("repeat", FLAG)?.unwrap_or_default(),
        steps: fields.list("steps", step)?,
        usage: fields.table("usage", usage)?,
        stop: fields.take::<StopReason>("stop", "a stop reason")?,
    };
    check_last_step(&turn.steps, &fields.path().key("steps"))?;
    Ok(turn)
}

/// A step that ends the stream must be the last one; later steps would be ignored silently.
fn check_last_step(steps: &[Step], path: &KeyPath) -> Result<(), Fault> {
    let is_end = |step: &Step| match step {
        Step::Error(_) | Step::Cut | Step::Hang => true,
        Step::Text { .. } | Step::Thinking { .. } | Step::ToolCall(_) | Step::Delay(_) => false,
    };
    match steps.iter().position(is_end) {
        Some(end) if end + 1 < steps.len() => {
            let problem = "never played, because the step before it ends the stream; remove one of them";
            Err(path.index(end + 1).fault(problem))
        }
        Some(_) | None => Ok(()),
    }
}

fn condition(value: Value, path: KeyPath) -> Result<Condition, Fault> {
    let mut fields = Fields::of(value, path)?;
    fields.only(&[
        "last_text_contains",
        "tool",
        "tool_result_contains",
        "tool_result_is_error",
        "request",
    ])?;
    Ok(Condition {
        last_text_contains: fields.take("last_text_contains", TEXT)?,
        tool: fields.take("tool", "the name of a tool")?,
        tool_result_contains: fields.take("tool_result_contains", TEXT)?,
        tool_result_is_error: fields.take("tool_result_is_error", FLAG)?,
        request: fields.take::<NonZeroU64>("request", COUNT_FROM_1)?.map(NonZeroU64::get),
    })
}

fn usage(value: Value, path: KeyPath) -> Result<Usage, Fault> {
    let mut fields = Fields::of(value, path)?;
    fields.only(&["input", "output", "cache_read", "cache_write", "total_tokens"])?;
    Ok(Usage {
        input: fields.take("input", COUNT)?.unwrap_or_default(),
        output: fields.take("output", COUNT)?.unwrap_or_default(),
        cache_read: fields.take("cache_read", COUNT)?.unwrap_or_default(),
        cache_write: fields.take("cache_write", COUNT)?.unwrap_or_default(),
        total_tokens: fields.take("total_tokens", COUNT)?.unwrap_or_default(),
    })
}

fn step(value: Value, path: KeyPath) -> Result<Step, Fault> {
    let mut fields = Fields::of(value, path)?;
    let name: String = fields.need("type", "the type of the step")?;
    let Some(form) = STEP_FORMS.iter().find(|form| form.name == name) else {
        let did_you_mean = did_you_mean(&name, &STEP_FORMS.map(|form| form.name));
        return Err(fields.path().key("type").fault(format!("unknown type {name:?}; {did_you_mean}")));
    };
    fields.only(form.keys)?;
    (form.read)(&mut fields)
}

fn text(fields: &mut Fields) -> Result<Step, Fault> {
    Ok(Step::Text { text: fields.need("text", TEXT)?, chunking: chunking(fields, Chunking::Words)? })
}

fn thinking(fields: &mut Fields) -> Result<Step, Fault> {
    Ok(Step::Thinking {
        text: fields.need("text", TEXT)?,
        signature: fields.take("signature", TEXT)?,
        chunking: chunking(fields, Chunking::Words)?,
    })
}

fn tool_call(fields: &mut Fields) -> Result<Step, Fault> {
    let args: Option<Map<String, Value>> = fields.take("args", "a table")?;
    let raw_args: Option<String> = fields.take("raw_args", TEXT)?;
    let arguments = match (args, raw_args) {
        (Some(_), Some(_)) => {
            let problem = "conflicts with \"args\"; remove one of them";
            return Err(fields.path().key("raw_args").fault(problem));
        }
        (None, Some(raw)) => Arguments::Raw(raw),
        (args, None) => Arguments::Json(Value::Object(args.unwrap_or_default())),
    };
    Ok(Step::ToolCall(CallStep {
        name: fields.need("name", "the name of a tool")?,
        id: fields.take("id", TEXT)?,
        arguments,
        partial: fields.take("partial", FLAG)?.unwrap_or_default(),
        chunking: chunking(fields, Chunking::Whole)?,
    }))
}

fn delay(fields: &mut Fields) -> Result<Step, Fault> {
    Ok(Step::Delay(Duration::from_millis(fields.need("ms", MILLIS)?)))
}

fn error(fields: &mut Fields) -> Result<Step, Fault> {
    Ok(Step::Error(ProviderError {
        kind: fields.need::<ProviderErrorKind>("kind", "a kind of provider error")?,
        message: fields.need("message", TEXT)?,
        retry_after_ms: fields.take("retry_after_ms", MILLIS)?,
    }))
}

fn chunking(fields: &mut Fields, usual: Chunking) -> Result<Chunking, Fault> {
    let chars: Option<NonZeroUsize> = fields.take("chunk_chars", COUNT_FROM_1)?;
    Ok(chars.map_or(usual, Chunking::Chars))
}
