//! What a finished process says: its exit code, and the JSON on its stdout.

use rheon_policy::hooks::{ExitTwoEffect, HookEvent, HookFailurePolicy};
use serde_json::{Map, Value};

use crate::hooks::message::{MessageKind, first_words};
use crate::hooks::reply::{HookDecision, HookReply};
use crate::hooks::run::{Ended, OUTPUT_BYTES_MAX};

/// The most characters of anything that a model is told.
pub(crate) const CHARACTERS_MAX: usize = 10_000;

/// What a hook said, and what the user is told about it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Heard {
    pub(crate) reply: HookReply,
    pub(crate) messages: Vec<(MessageKind, String)>,
    pub(crate) start: Start,
}

/// Whether the hook ran at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Start {
    #[default]
    Ran,
    Impossible,
}

/// What a process that ended so says of `event`.
pub(crate) fn hear(event: HookEvent, ended: &Ended, on_failure: HookFailurePolicy) -> Heard {
    match ended {
        Ended::TimedOut(timeout) => {
            failed(format!("took longer than {} s and was stopped", timeout.as_secs_f64()), on_failure)
        }
        Ended::NotRun(problem) => Heard { start: Start::Impossible, ..failed(problem.clone(), on_failure) },
        Ended::Exited { code: Some(0), stdout, .. } => {
            let text = stdout.text();
            if !text.trim_start().starts_with('{') {
                return plain(event, &text);
            }
            if stdout.is_cut {
                return failed(format!("printed more than {OUTPUT_BYTES_MAX} bytes"), on_failure);
            }
            match read(event, text.trim()) {
                Ok(heard) => heard,
                Err(problem) => failed(format!("printed what cannot be read: {problem}"), on_failure),
            }
        }
        Ended::Exited { code: Some(2), stderr, .. } => exit_two(event, &stderr.text(), on_failure),
        Ended::Exited { code, stderr, .. } => {
            let said = first_words(&stderr.text());
            let said = if said.is_empty() { said } else { format!(": {said}") };
            match code {
                // The shell's way to say that there is no such program, or that it may not be run.
                Some(code @ (126 | 127)) => Heard {
                    start: Start::Impossible,
                    ..failed(format!("cannot be started (exit code {code}){said}"), on_failure)
                },
                Some(code) => failed(format!("failed with exit code {code}{said}"), on_failure),
                None => failed(format!("was ended by a signal{said}"), on_failure),
            }
        }
    }
}

/// What it means that a hook did not do its work.
pub(crate) fn failed(problem: String, on_failure: HookFailurePolicy) -> Heard {
    let reply = match on_failure {
        HookFailurePolicy::Allow => HookReply::default(),
        HookFailurePolicy::Block => HookReply::block(format!("a hook that must agree {problem}")),
    };
    Heard { reply, messages: vec![(MessageKind::Failed, problem)], start: Start::Ran }
}

fn plain(event: HookEvent, text: &str) -> Heard {
    let mut heard = Heard::default();
    if event.accepts_plain_text() && !text.trim().is_empty() {
        heard.reply.context.push(capped(text.trim()));
    }
    heard
}

fn exit_two(event: HookEvent, stderr: &str, on_failure: HookFailurePolicy) -> Heard {
    let reason = match stderr.trim() {
        "" => format!("a {event} hook said no"),
        said => capped(said),
    };
    let mut heard = Heard::default();
    match event.exit_two() {
        ExitTwoEffect::Block | ExitTwoEffect::ShowModel => heard.reply = HookReply::block(reason),
        ExitTwoEffect::ShowUser => {
            // A hook that must agree and says no where it cannot is still not a yes.
            if on_failure == HookFailurePolicy::Block {
                heard.reply = HookReply::block(reason.clone());
            }
            heard.messages.push((MessageKind::Said, reason));
        }
    }
    heard
}

/// Reads the JSON that a hook printed.
fn read(event: HookEvent, text: &str) -> Result<Heard, String> {
    let output: Map<String, Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let output = Fields(&output);
    let mut heard = Heard::default();
    if let Some(message) = output.text("systemMessage")? {
        heard.messages.push((MessageKind::Said, message));
    }
    let reason = output.text("reason")?;
    if output.flag("continue")? == Some(false) {
        let why = output.text("stopReason")?.or_else(|| reason.clone());
        heard.reply.stop = Some(why.unwrap_or_else(|| format!("a {event} hook stopped the run")));
    }
    heard.reply.decision = legacy_decision(event, &output, reason)?;
    if let Some(specific) = output.object("hookSpecificOutput")? {
        let specific = Fields(specific);
        if let Some(name) = specific.text("hookEventName")?
            && name != event.name()
        {
            return Err(format!("\"hookEventName\" is {name:?} instead of {:?}", event.name()));
        }
        let said = read_specific(event, &specific)?;
        if changes_rules(&specific) {
            let text = "asked for other rules, which only the user can save; the rest of its answer counts";
            heard.messages.push((MessageKind::Failed, text.to_owned()));
        }
        heard.reply = heard.reply.and(said);
    }
    Ok(heard)
}

/// The decision at the top.
fn legacy_decision(
    event: HookEvent,
    output: &Fields<'_>,
    reason: Option<String>,
) -> Result<Option<HookDecision>, String> {
    let reason = |instead: &str| reason.filter(|text| !text.is_empty()).unwrap_or_else(|| instead.to_owned());
    match output.word("decision")? {
        None => Ok(None),
        Some("block") => Ok(Some(HookDecision::Block(reason(&format!("a {event} hook said no"))))),
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
            let why = specific.text("permissionDecisionReason")?.unwrap_or_default();
            let or = |instead: &str| if why.is_empty() { instead.to_owned() } else { why.clone() };
            reply.decision = match specific.word("permissionDecision")? {
                None => None,
                Some("allow") => Some(HookDecision::Allow(why)),
                Some("ask") => Some(HookDecision::Ask(or("a hook wants it to be confirmed"))),
                Some("defer") => Some(HookDecision::Defer(or("a hook leaves the decision to somebody else"))),
                Some("deny") => Some(HookDecision::Block(or("a PreToolUse hook said no"))),
                Some(other) => return Err(format!("\"permissionDecision\" cannot be {other:?}")),
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
        | HookEvent::Notification => {}
    }
    Ok(reply)
}

/// Whether a hook wants to change the rules.
fn changes_rules(specific: &Fields<'_>) -> bool {
    let wanted = specific.0.get("decision").and_then(|decision| decision.get("updatedPermissions"));
    wanted.and_then(Value::as_array).is_some_and(|wanted| !wanted.is_empty())
}

fn read_permission(decision: &Fields<'_>) -> Result<HookReply, String> {
    let message = decision.text("message")?.unwrap_or_default();
    let mut reply = HookReply::default();
    match decision.word("behavior")? {
        Some("allow") => reply.decision = Some(HookDecision::Allow(message)),
        Some("deny") => {
            let reason =
                if message.is_empty() { "a PermissionRequest hook said no".to_owned() } else { message };
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

/// The fields of an object, each of which is what it should be or an error. Those that nobody knows are left alone.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn word(&self, key: &str) -> Result<Option<&'a str>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("{key:?} is not a text")),
        }
    }

    /// A text for somebody to read, no longer than is good.
    fn text(&self, key: &str) -> Result<Option<String>, String> {
        Ok(self.word(key)?.map(capped))
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

/// The first [`CHARACTERS_MAX`] characters.
pub(crate) fn capped(text: &str) -> String {
    text.chars().take(CHARACTERS_MAX).collect()
}
