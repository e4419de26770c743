//! Interprets a finished hook process: its exit code and the JSON on its stdout.

use rheon_policy::hooks::{ExitTwoEffect, HookEvent, HookFailurePolicy};
use serde_json::{Map, Value};

use crate::hooks::message::{HookMessageKind, first_words};
use crate::hooks::reply::{HookDecision, HookReply};
use crate::hooks::run::{HookExit, OUTPUT_BYTES_MAX};

/// The longest text from a hook that a model reads.
pub(crate) const CHARACTERS_MAX: usize = 10_000;

/// The reply of a hook, and messages about it for the user.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct HookResult {
    pub(crate) reply: HookReply,
    pub(crate) messages: Vec<(HookMessageKind, String)>,
    pub(crate) launch: Launch,
}

/// Whether the hook could be started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Launch {
    #[default]
    Started,
    NotStarted,
}

/// The result of a hook for `event`.
pub(crate) fn interpret(event: HookEvent, exit: &HookExit, on_failure: HookFailurePolicy) -> HookResult {
    match exit {
        HookExit::TimedOut(timeout) => {
            failed(format!("timed out after {} s", timeout.as_secs_f64()), on_failure)
        }
        HookExit::NotRun(problem) => {
            HookResult { launch: Launch::NotStarted, ..failed(problem.clone(), on_failure) }
        }
        HookExit::Exited { code: Some(0), stdout, .. } => {
            let text = stdout.text();
            if !text.trim_start().starts_with('{') {
                return plain(event, &text);
            }
            if stdout.is_cut {
                return failed(format!("printed more than {OUTPUT_BYTES_MAX} bytes"), on_failure);
            }
            match read(event, text.trim()) {
                Ok(result) => result,
                Err(problem) => failed(format!("printed invalid output: {problem}"), on_failure),
            }
        }
        HookExit::Exited { code: Some(2), stderr, .. } => exit_two(event, &stderr.text(), on_failure),
        HookExit::Exited { code, stderr, .. } => {
            let text = first_words(&stderr.text());
            let detail = if text.is_empty() { text } else { format!(": {text}") };
            match code {
                // The shell's exit codes for a command that does not exist or is not executable.
                Some(code @ (126 | 127)) => HookResult {
                    launch: Launch::NotStarted,
                    ..failed(format!("could not be started (exit code {code}){detail}"), on_failure)
                },
                Some(code) => failed(format!("failed with exit code {code}{detail}"), on_failure),
                None => failed(format!("was killed by a signal{detail}"), on_failure),
            }
        }
    }
}

/// The result of a hook that failed.
pub(crate) fn failed(problem: String, on_failure: HookFailurePolicy) -> HookResult {
    let reply = match on_failure {
        HookFailurePolicy::Allow => HookReply::default(),
        HookFailurePolicy::Block => HookReply::block(format!("a required hook {problem}")),
    };
    HookResult { reply, messages: vec![(HookMessageKind::Failure, problem)], launch: Launch::Started }
}

fn plain(event: HookEvent, text: &str) -> HookResult {
    let mut result = HookResult::default();
    if event.accepts_plain_text() && !text.trim().is_empty() {
        result.reply.context.push(truncate(text.trim()));
    }
    result
}

fn exit_two(event: HookEvent, stderr: &str, on_failure: HookFailurePolicy) -> HookResult {
    let reason = match stderr.trim() {
        "" => format!("a {event} hook denied it"),
        text => truncate(text),
    };
    let mut result = HookResult::default();
    match event.exit_two() {
        ExitTwoEffect::Block | ExitTwoEffect::ShowModel => result.reply = HookReply::block(reason),
        ExitTwoEffect::ShowUser => {
            // A required hook that rejects an event which cannot be blocked is still not a yes.
            if on_failure == HookFailurePolicy::Block {
                result.reply = HookReply::block(reason.clone());
            }
            result.messages.push((HookMessageKind::Output, reason));
        }
    }
    result
}

/// Parses the JSON a hook printed.
fn read(event: HookEvent, text: &str) -> Result<HookResult, String> {
    let output: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let output = Fields(&output);
    let mut result = HookResult::default();
    if let Some(message) = output.text("systemMessage")? {
        result.messages.push((HookMessageKind::Output, message));
    }
    let reason = output.text("reason")?;
    if output.flag("continue")? == Some(false) {
        let reason_text = output.text("stopReason")?.or_else(|| reason.clone());
        result.reply.stop = Some(reason_text.unwrap_or_else(|| format!("a {event} hook stopped the run")));
    }
    result.reply.decision = legacy_decision(event, &output, reason)?;
    if let Some(specific) = output.object("hookSpecificOutput")? {
        let specific = Fields(specific);
        if let Some(name) = specific.text("hookEventName")?
            && name != event.name()
        {
            return Err(format!("\"hookEventName\" is {name:?} instead of {:?}", event.name()));
        }
        let reply = read_specific(event, &specific)?;
        if changes_rules(&specific) {
            let text =
                "asked to change permission rules, which only the user can do; the rest of its reply is used";
            result.messages.push((HookMessageKind::Failure, text.to_owned()));
        }
        result.reply = result.reply.and(reply);
    }
    Ok(result)
}

/// The legacy top-level decision.
fn legacy_decision(
    event: HookEvent,
    output: &Fields<'_>,
    reason: Option<String>,
) -> Result<Option<HookDecision>, String> {
    let reason = |instead: &str| reason.filter(|text| !text.is_empty()).unwrap_or_else(|| instead.to_owned());
    match output.word("decision")? {
        None => Ok(None),
        Some("block") => Ok(Some(HookDecision::Block(reason(&format!("a {event} hook denied it"))))),
        Some("approve") if event == HookEvent::PreToolUse => Ok(Some(HookDecision::Allow(reason("")))),
        Some("approve") => Ok(None),
        Some(other) => Err(format!("\"decision\" is {other:?} instead of \"block\"")),
    }
}

fn read_specific(event: HookEvent, specific: &Fields<'_>) -> Result<HookReply, String> {
    let context = specific.text("additionalContext")?.filter(|text| !text.trim().is_empty());
    let mut reply = HookReply { context: context.into_iter().collect(), ..HookReply::default() };
    match event {
        HookEvent::PreToolUse => {
            let reason_text = specific.text("permissionDecisionReason")?.unwrap_or_default();
            let or =
                |instead: &str| if reason_text.is_empty() { instead.to_owned() } else { reason_text.clone() };
            reply.decision = match specific.word("permissionDecision")? {
                None => None,
                Some("allow") => Some(HookDecision::Allow(reason_text)),
                Some("ask") => Some(HookDecision::Ask(or("a hook asks for confirmation"))),
                Some("defer") => Some(HookDecision::Defer(or("a hook deferred the decision"))),
                Some("deny") => Some(HookDecision::Block(or("a PreToolUse hook denied it"))),
                Some(other) => return Err(format!("\"permissionDecision\" has the unknown value {other:?}")),
            };
            reply.updated_input = specific.object("updatedInput")?.cloned().map(Value::Object);
        }
        HookEvent::PermissionRequest => {
            if let Some(decision) = specific.object("decision")? {
                reply = reply.and(read_permission(&Fields(decision))?);
            }
        }
        HookEvent::PostToolUse | HookEvent::PostToolUseFailure => {
            let updated =
                specific.0.get("updatedToolOutput").or_else(|| specific.0.get("updatedMCPToolOutput"));
            reply.updated_output = updated.filter(|value| !value.is_null()).cloned();
        }
        HookEvent::SessionStart
        | HookEvent::SessionEnd
        | HookEvent::UserPromptSubmit
        | HookEvent::PermissionDenied
        | HookEvent::PreCompact
        | HookEvent::PostCompact
        | HookEvent::SubagentStart
        | HookEvent::SubagentStop
        | HookEvent::Stop
        | HookEvent::StopFailure
        | HookEvent::Notification => {}
    }
    Ok(reply)
}

/// Whether a hook asks to change permission rules.
fn changes_rules(specific: &Fields<'_>) -> bool {
    let requested = specific.0.get("decision").and_then(|decision| decision.get("updatedPermissions"));
    requested.and_then(Value::as_array).is_some_and(|requested| !requested.is_empty())
}

fn read_permission(decision: &Fields<'_>) -> Result<HookReply, String> {
    let message = decision.text("message")?.unwrap_or_default();
    let mut reply = HookReply::default();
    match decision.word("behavior")? {
        Some("allow") => reply.decision = Some(HookDecision::Allow(message)),
        Some("deny") => {
            let reason =
                if message.is_empty() { "a PermissionRequest hook denied it".to_owned() } else { message };
            if decision.flag("interrupt")? == Some(true) {
                reply.stop = Some(reason.clone());
            }
            reply.decision = Some(HookDecision::Block(reason));
        }
        Some(other) => return Err(format!("\"behavior\" is {other:?} instead of \"allow\" or \"deny\"")),
        None => return Err("\"behavior\" is missing".to_owned()),
    }
    reply.updated_input = decision.object("updatedInput")?.cloned().map(Value::Object);
    Ok(reply)
}

/// Typed access to the fields of an object. Unknown fields are ignored.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn word(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("{key:?} is not a string")),
        }
    }

    /// Text for a person or model, truncated.
    fn text(&self, key: &str) -> Result<Option<String>, String> {
        Ok(self.word(key)?.map(truncate))
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(format!("{key:?} is neither true nor false")),
        }
    }

    fn object(&self, key: &str) -> Result<Option<&'a Map<String, Value>>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(format!("{key:?} is not an object")),
        }
    }
}

pub(crate) fn truncate(text: &str) -> String {
    text.chars().take(CHARACTERS_MAX).collect()
}
