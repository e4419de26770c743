//! `CommandHooks` as an agent's hook and input filter.

use std::sync::Arc;

use rheon_policy::hooks::HookEvent;
use rheon_types::event::{
    ApprovalRequest, CompactionTrigger, PermissionDecision, PermissionResponse, Subject,
};
use rheon_types::{
    AgentOutput, Amendment, Answer, FilterVerdict, Flow, History, Hook, HookPermission, HookVerdict,
    InputFilter, Message, ProviderErrorKind, RunEnd, RunFailure, SessionId, ToolCall, ToolError, ToolResult,
};
use serde_json::{Value, json};

use crate::hooks::command_hooks::{CommandHooks, CompactTrigger, fields};
use crate::hooks::context::SessionStartSource;
use crate::hooks::dispatch::{EventSubject, HookInvocation};
use crate::hooks::reply::{HookDecision, HookReply};
use crate::hooks::translate::{
    command_output, from_claude_input, from_claude_output, to_claude_call, to_claude_response,
};

impl Hook for CommandHooks {
    fn name(&self) -> &str {
        "command hooks"
    }

    fn before_run<'a>(&'a self, _history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        // A stop request must not carry over to the next run.
        drop(self.take_stop_reason());
        Answer::Now(Flow::Continue)
    }

    fn after_run<'a>(&'a self, output: &'a AgentOutput) -> Answer<'a, ()> {
        let failure = failure(&output.end).filter(|_| self.dispatcher().has(HookEvent::StopFailure));
        let Some((error, details)) = failure else {
            self.dispatcher().end_left();
            return Answer::Now(());
        };
        Answer::later(async move {
            self.stop_failure(error, &details, &output.text).await;
            self.dispatcher().end_left();
        })
    }

    fn before_turn<'a>(&'a self, _history: &'a History, _turn_index: u32) -> Answer<'a, Flow> {
        Answer::Now(self.take_stop_reason().map_or(Flow::Continue, Flow::Veto))
    }

    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
        if let Some(reason) = self.stop_reason() {
            return Answer::Now(HookPermission {
                verdict: Some(HookVerdict::Deny(reason)),
                ..HookPermission::default()
            });
        }
        if !self.dispatcher().has(HookEvent::PreToolUse) {
            return Answer::Now(HookPermission::default());
        }
        Answer::later(async move {
            let reply = self
                .fire_for_call(HookEvent::PreToolUse, call, json!({ "tool_use_id": call.id.as_str() }))
                .await;
            self.permit(call, reply)
        })
    }

    fn answer_approval<'a>(
        &'a self,
        call: &'a ToolCall,
        request: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        // A question from the model needs a text answer, which a hook cannot give.
        let is_question = matches!(request.subject, Subject::Questions { .. });
        if is_question || !self.dispatcher().has(HookEvent::PermissionRequest) {
            return Answer::Now(None);
        }
        Answer::later(async move {
            let details = json!({ "permission_suggestions": permission_suggestions(request.suggested_rule.as_deref()) });
            let reply = self.fire_for_call(HookEvent::PermissionRequest, call, details).await;
            self.response(call, request, reply)
        })
    }

    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        // Calls permitted before another call's hook stopped the run do not run either.
        if let Some(reason) = self.stop_reason() {
            return Answer::Now(Flow::Veto(reason));
        }
        if self.dispatcher().has(HookEvent::PostToolUse)
            || self.dispatcher().has(HookEvent::PostToolUseFailure)
        {
            self.record_start(&call.id);
        }
        Answer::Now(Flow::Continue)
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a ToolCall,
        result: &'a ToolResult,
        is_error: bool,
    ) -> Answer<'a, Amendment> {
        let duration_ms = self.duration_ms(&call.id);
        // As in Claude Code, a command that ends with an exit code other than 0 has failed.
        let exit_code = result.details.get("exit_code").and_then(Value::as_i64);
        let is_killed = result.details.get("signal").is_some_and(|signal| !signal.is_null());
        let is_failure = is_error || is_killed || exit_code.is_some_and(|code| code != 0);
        let event = if is_failure { HookEvent::PostToolUseFailure } else { HookEvent::PostToolUse };
        if !self.dispatcher().has(event) {
            return Answer::Now(Amendment { context: self.take_context(), ..Amendment::default() });
        }
        Answer::later(async move {
            let id = call.id.as_str();
            let response = to_claude_response(call, &self.dispatcher().context().cwd, result);
            let details = if is_failure {
                let is_interrupt = result.details.get("error").and_then(Value::as_str) == Some("cancelled");
                let error = failure_text(result, exit_code);
                let mut details = json!({ "tool_use_id": id, "error": error, "is_interrupt": is_interrupt, "duration_ms": duration_ms });
                if let (Value::Object(fields), Some(code)) = (&mut details, exit_code) {
                    // Beside what Claude Code says: the parts of it.
                    fields.insert("exit_code".to_owned(), code.into());
                    fields.insert("tool_response".to_owned(), response);
                }
                details
            } else {
                json!({ "tool_use_id": id, "tool_response": response, "duration_ms": duration_ms })
            };
            let reply = self.fire_for_call(event, call, details).await;
            self.apply_stop(&reply);
            let mut amendment = amendment(event, reply);
            amendment.context.extend(self.take_context());
            amendment
        })
    }

    fn before_compaction<'a>(
        &'a self,
        trigger: CompactionTrigger,
        instructions: Option<&'a str>,
    ) -> Answer<'a, Flow> {
        if !self.dispatcher().has(HookEvent::PreCompact) {
            return Answer::Now(Flow::Continue);
        }
        Answer::later(async move {
            let reply = self.pre_compact(trigger.into(), instructions.unwrap_or_default()).await;
            rejection(&reply).map_or(Flow::Continue, Flow::Veto)
        })
    }

    fn after_compaction<'a>(
        &'a self,
        trigger: CompactionTrigger,
        summary: Option<&'a str>,
    ) -> Answer<'a, ()> {
        let events = [HookEvent::PostCompact, HookEvent::SessionStart];
        if !events.into_iter().any(|event| self.dispatcher().has(event)) {
            return Answer::Now(());
        }
        Answer::later(async move {
            let reply = self.post_compact(trigger.into(), summary.unwrap_or_default()).await;
            self.apply_stop(&reply);
            self.restart(SessionStartSource::Compact).await;
        })
    }

    fn before_stop<'a>(&'a self, history: &'a History, vetoes: u32) -> Answer<'a, Flow> {
        if self.stop_reason().is_some() || !self.dispatcher().has(HookEvent::Stop) {
            return Answer::Now(Flow::Continue);
        }
        Answer::later(async move {
            let last = history.iter().rev().find_map(|message| message.as_assistant());
            let details = json!({
                "stop_hook_active": vetoes > 0,
                "last_assistant_message": last.map(|message| message.text()).unwrap_or_default(),
            });
            let invocation = HookInvocation {
                event: HookEvent::Stop,
                subject: EventSubject::None,
                fields: fields(details),
            };
            let reply = self.dispatcher().fire(invocation).await;
            match (reply.stop.is_some(), reply.blocked()) {
                (false, Some(reason)) => Flow::Veto(reason.to_owned()),
                (true, _) | (false, None) => Flow::Continue,
            }
        })
    }

    fn tool_blocked(&self, call: &ToolCall, error: &ToolError) {
        let is_denied = match error {
            ToolError::Denied(_) => true,
            ToolError::Failed(_)
            | ToolError::NotFound(_)
            | ToolError::InvalidArgs(_)
            | ToolError::Cancelled(_)
            | ToolError::TimedOut(_)
            | ToolError::Panicked(_)
            | ToolError::Fatal(_) => false,
        };
        if is_denied && self.dispatcher().has(HookEvent::PermissionDenied) {
            let details = json!({ "tool_use_id": call.id.as_str(), "reason": error.to_string() });
            self.dispatcher().fire_in_background(&self.invocation(
                HookEvent::PermissionDenied,
                call,
                details,
            ));
        }
    }
}

impl InputFilter for CommandHooks {
    fn check<'a>(&'a self, message: &'a Message) -> Answer<'a, FilterVerdict> {
        self.dispatcher().set_prompt_id(prompt_id(&self.dispatcher().context().session_id, message));
        let events = [HookEvent::SessionStart, HookEvent::UserPromptSubmit];
        if !events.into_iter().any(|event| self.dispatcher().has(event)) {
            return Answer::Now(FilterVerdict::Pass);
        }
        Answer::later(async move {
            if let Some(reason) = rejection(self.session_start().await) {
                return FilterVerdict::Reject(reason);
            }
            let details = fields(json!({ "prompt": message.text() }));
            let invocation = HookInvocation {
                event: HookEvent::UserPromptSubmit,
                subject: EventSubject::None,
                fields: details,
            };
            let reply = self.dispatcher().fire(invocation).await;
            if let Some(reason) = rejection(&reply) {
                return FilterVerdict::Reject(reason);
            }
            let mut context = self.take_session_context();
            context.extend(reply.context);
            match context.is_empty() {
                true => FilterVerdict::Pass,
                false => FilterVerdict::Add(context.join("\n\n")),
            }
        })
    }
}

impl CommandHooks {
    async fn fire_for_call(&self, event: HookEvent, call: &ToolCall, details: Value) -> HookReply {
        self.dispatcher().fire(self.invocation(event, call, details)).await
    }

    fn invocation<'a>(&self, event: HookEvent, call: &'a ToolCall, details: Value) -> HookInvocation<'a> {
        let claude_call = to_claude_call(call, &self.dispatcher().context().cwd);
        let mut fields = fields(details);
        fields.insert("tool_name".to_owned(), claude_call.tool_name.into());
        fields.insert("tool_input".to_owned(), claude_call.tool_input);
        HookInvocation { event, subject: EventSubject::Call(call), fields }
    }

    fn permit(&self, call: &ToolCall, reply: HookReply) -> HookPermission {
        self.apply_stop(&reply);
        let opinion = match (reply.stop, reply.decision) {
            (Some(reason), _) => Some(HookVerdict::Deny(reason)),
            (None, Some(HookDecision::Block(reason))) => Some(HookVerdict::Deny(reason)),
            // A deferred call cannot be resumed later, so the user decides now.
            (None, Some(HookDecision::Defer(reason) | HookDecision::Ask(reason))) => {
                Some(HookVerdict::Ask(reason))
            }
            (None, Some(HookDecision::Allow(_))) => Some(HookVerdict::Allow),
            (None, None) => None,
        };
        let dir = &self.dispatcher().context().cwd;
        let arguments = reply.updated_input.map(|updated| from_claude_input(call, dir, updated));
        let arguments = arguments.filter(|arguments| *arguments != *call.arguments).map(Arc::new);
        HookPermission { verdict: opinion, arguments, context: reply.context }
    }

    fn response(
        &self,
        call: &ToolCall,
        request: &ApprovalRequest,
        reply: HookReply,
    ) -> Option<PermissionResponse> {
        self.apply_stop(&reply);
        let digest = Some(request.digest.clone());
        match (reply.stop, reply.decision) {
            (Some(reason), _) | (None, Some(HookDecision::Block(reason))) => {
                Some(PermissionResponse { digest, ..PermissionResponse::denied(reason) })
            }
            (None, Some(HookDecision::Allow(_))) => {
                let dir = &self.dispatcher().context().cwd;
                let arguments = reply.updated_input.map(|updated| from_claude_input(call, dir, updated));
                let arguments = arguments.filter(|arguments| *arguments != *call.arguments).map(Arc::new);
                Some(PermissionResponse { digest, arguments, ..PermissionDecision::Allow.into() })
            }
            (None, Some(HookDecision::Ask(_) | HookDecision::Defer(_)) | None) => None,
        }
    }
}

fn amendment(event: HookEvent, reply: HookReply) -> Amendment {
    let objection = reply.blocked().map(|reason| format!("A {event} hook reported a problem: {reason}"));
    Amendment {
        content: reply.updated_output.as_ref().map(from_claude_output),
        context: objection.into_iter().chain(reply.context).collect(),
    }
}

/// The type of a failure in Claude Code's words, and what happened. `None` if the run ended in another way.
fn failure(end: &RunEnd) -> Option<(&'static str, String)> {
    match end {
        RunEnd::Failed { failure: RunFailure::Provider { error } } => {
            let name = match error.kind {
                ProviderErrorKind::Auth => "authentication_failed",
                ProviderErrorKind::RateLimited => "rate_limit",
                ProviderErrorKind::Overloaded | ProviderErrorKind::Api => "server_error",
                ProviderErrorKind::ContextOverflow
                | ProviderErrorKind::InvalidRequest
                | ProviderErrorKind::ContentFilter => "invalid_request",
                ProviderErrorKind::Network
                | ProviderErrorKind::Timeout
                | ProviderErrorKind::Malformed
                | ProviderErrorKind::Cancelled => "unknown",
            };
            Some((name, error.to_string()))
        }
        RunEnd::Failed { failure } => Some(("unknown", failure.to_string())),
        RunEnd::Truncated => Some(("max_output_tokens", "the answer reached its token limit".to_owned())),
        RunEnd::Completed
        | RunEnd::Aborted
        | RunEnd::Rejected { .. }
        | RunEnd::Vetoed { .. }
        | RunEnd::Stuck { .. }
        | RunEnd::Limit { .. } => None,
    }
}

/// What a failed call says. A command says it as Claude Code's does.
fn failure_text(result: &ToolResult, exit_code: Option<i64>) -> String {
    match exit_code {
        Some(code) => format!("Exit code {code}\n{}", command_output(result)).trim_end().to_owned(),
        None => result.as_text(),
    }
}

/// The id of a prompt: a UUID that depends on nothing else, so that all hooks of a session agree on it.
fn prompt_id(session_id: &SessionId, message: &Message) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(session_id.as_str().as_bytes());
    let sent_at = match message {
        Message::User(message) => message.timestamp,
        Message::Assistant(message) => message.timestamp,
        Message::ToolResult(message) => message.timestamp,
    };
    hasher.update(&sent_at.as_millis().to_le_bytes());
    hasher.update(message.text().as_bytes());
    let hex: String = hasher.finalize().to_hex().chars().take(32).collect();
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    // Version 8, variant 2: a UUID made by its own rules.
    format!("{}-{}-8{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

impl From<CompactionTrigger> for CompactTrigger {
    fn from(trigger: CompactionTrigger) -> Self {
        match trigger {
            CompactionTrigger::Manual => Self::Manual,
            CompactionTrigger::Auto | CompactionTrigger::Overflow => Self::Auto,
        }
    }
}

/// Why a prompt or a compaction is rejected.
fn rejection(reply: &HookReply) -> Option<String> {
    reply.stop.clone().or_else(|| reply.blocked().map(str::to_owned))
}

/// The rule that "always allow" would save, in the format of the hook protocol.
pub fn permission_suggestions(rule: Option<&str>) -> Value {
    let Some(rule) = rule else { return json!([]) };
    let rule = match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
        Some((tool, content)) => json!({ "toolName": tool, "ruleContent": content }),
        None => json!({ "toolName": rule }),
    };
    json!([{ "type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings" }])
}
