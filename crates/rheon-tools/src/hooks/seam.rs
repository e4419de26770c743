//! `CommandHooks` where an agent meets them: as a hook, and as a filter of what the user says.

use std::sync::Arc;

use rheon_policy::hooks::HookEvent;
use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse, Subject};
use rheon_types::{
    Amendment, Answer, FilterVerdict, Flow, History, Hook, HookPermission, HookVerdict, InputFilter, Message,
    ToolCall, ToolError, ToolResult,
};
use serde_json::{Value, json};

use crate::hooks::command_hooks::{CommandHooks, fields};
use crate::hooks::dispatch::{About, Occasion};
use crate::hooks::reply::{HookDecision, HookReply};
use crate::hooks::translate::{from_hooks, output_from_hooks, result_to_hooks, to_hooks};

impl Hook for CommandHooks {
    fn name(&self) -> &str {
        "command hooks"
    }

    fn before_run<'a>(&'a self, _history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        // A run that ended before it could be stopped leaves nothing to the next one.
        drop(self.take_halt());
        Answer::Now(Flow::Continue)
    }

    fn before_turn<'a>(&'a self, _history: &'a History, _turn_index: u32) -> Answer<'a, Flow> {
        Answer::Now(self.take_halt().map_or(Flow::Continue, Flow::Veto))
    }

    fn permit_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, HookPermission> {
        if let Some(reason) = self.halted() {
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
                .about_call(HookEvent::PreToolUse, call, json!({ "tool_use_id": call.id.as_str() }))
                .await;
            self.permit(call, reply)
        })
    }

    fn answer_approval<'a>(
        &'a self,
        call: &'a ToolCall,
        request: &'a ApprovalRequest,
    ) -> Answer<'a, Option<PermissionResponse>> {
        // A question of the model wants words, which a hook has no way to give.
        let is_question = matches!(request.subject, Subject::Questions { .. });
        if is_question || !self.dispatcher().has(HookEvent::PermissionRequest) {
            return Answer::Now(None);
        }
        Answer::later(async move {
            let told = json!({ "permission_suggestions": suggestions(request.suggested_rule.as_deref()) });
            let reply = self.about_call(HookEvent::PermissionRequest, call, told).await;
            self.response(call, request, reply)
        })
    }

    fn before_tool<'a>(&'a self, call: &'a ToolCall) -> Answer<'a, Flow> {
        // Calls that were permitted before another one's hook stopped everything do not run either.
        if let Some(reason) = self.halted() {
            return Answer::Now(Flow::Veto(reason));
        }
        if self.dispatcher().has(HookEvent::PostToolUse)
            || self.dispatcher().has(HookEvent::PostToolUseFailure)
        {
            self.begin(&call.id);
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
        let event = if is_error { HookEvent::PostToolUseFailure } else { HookEvent::PostToolUse };
        if !self.dispatcher().has(event) {
            return Answer::Now(Amendment::default());
        }
        Answer::later(async move {
            let id = call.id.as_str();
            let told = if is_error {
                let is_interrupt = result.details.get("error").and_then(Value::as_str) == Some("cancelled");
                json!({ "tool_use_id": id, "error": result.as_text(), "is_interrupt": is_interrupt, "duration_ms": duration_ms })
            } else {
                let response = result_to_hooks(call, &self.dispatcher().context().cwd, result);
                json!({ "tool_use_id": id, "tool_response": response, "duration_ms": duration_ms })
            };
            let reply = self.about_call(event, call, told).await;
            self.obey(&reply);
            amendment(event, reply)
        })
    }

    fn before_stop<'a>(&'a self, history: &'a History, vetoes: u32) -> Answer<'a, Flow> {
        if self.halted().is_some() || !self.dispatcher().has(HookEvent::Stop) {
            return Answer::Now(Flow::Continue);
        }
        Answer::later(async move {
            let last = history.iter().rev().find_map(|message| message.as_assistant());
            let told = json!({
                "stop_hook_active": vetoes > 0,
                "last_assistant_message": last.map(|message| message.text()).unwrap_or_default(),
            });
            let occasion = Occasion { event: HookEvent::Stop, about: About::Nothing, fields: fields(told) };
            let reply = self.dispatcher().fire(occasion).await;
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
            let told = json!({ "tool_use_id": call.id.as_str(), "reason": error.to_string() });
            self.dispatcher().tell(&self.occasion(HookEvent::PermissionDenied, call, told));
        }
    }
}

impl InputFilter for CommandHooks {
    fn check<'a>(&'a self, message: &'a Message) -> Answer<'a, FilterVerdict> {
        let events = [HookEvent::SessionStart, HookEvent::UserPromptSubmit];
        if !events.into_iter().any(|event| self.dispatcher().has(event)) {
            return Answer::Now(FilterVerdict::Pass);
        }
        Answer::later(async move {
            if let Some(reason) = refusal(self.session_start().await) {
                return FilterVerdict::Reject(reason);
            }
            let told = fields(json!({ "prompt": message.text() }));
            let occasion =
                Occasion { event: HookEvent::UserPromptSubmit, about: About::Nothing, fields: told };
            let reply = self.dispatcher().fire(occasion).await;
            if let Some(reason) = refusal(&reply) {
                return FilterVerdict::Reject(reason);
            }
            let mut context = self.untold_opening();
            context.extend(reply.context);
            match context.is_empty() {
                true => FilterVerdict::Pass,
                false => FilterVerdict::Add(context.join("\n\n")),
            }
        })
    }
}

impl CommandHooks {
    async fn about_call(&self, event: HookEvent, call: &ToolCall, told: Value) -> HookReply {
        self.dispatcher().fire(self.occasion(event, call, told)).await
    }

    fn occasion<'a>(&self, event: HookEvent, call: &'a ToolCall, told: Value) -> Occasion<'a> {
        let foreign = to_hooks(call, &self.dispatcher().context().cwd);
        let mut fields = fields(told);
        fields.insert("tool_name".to_owned(), foreign.tool_name.into());
        fields.insert("tool_input".to_owned(), foreign.tool_input);
        Occasion { event, about: About::Call(call), fields }
    }

    fn permit(&self, call: &ToolCall, reply: HookReply) -> HookPermission {
        self.obey(&reply);
        let opinion = match (reply.stop, reply.decision) {
            (Some(reason), _) => Some(HookVerdict::Deny(reason)),
            (None, Some(HookDecision::Block(reason))) => Some(HookVerdict::Deny(reason)),
            // Nobody can come back to a call later, so whoever is there now decides.
            (None, Some(HookDecision::Defer(reason) | HookDecision::Ask(reason))) => {
                Some(HookVerdict::Ask(reason))
            }
            (None, Some(HookDecision::Allow(_))) => Some(HookVerdict::Allow),
            (None, None) => None,
        };
        let folder = &self.dispatcher().context().cwd;
        let arguments = reply.updated_input.map(|updated| from_hooks(call, folder, updated));
        let arguments = arguments.filter(|arguments| *arguments != *call.arguments).map(Arc::new);
        HookPermission { verdict: opinion, arguments, context: reply.context }
    }

    fn response(
        &self,
        call: &ToolCall,
        request: &ApprovalRequest,
        reply: HookReply,
    ) -> Option<PermissionResponse> {
        self.obey(&reply);
        let digest = Some(request.digest.clone());
        match (reply.stop, reply.decision) {
            (Some(reason), _) | (None, Some(HookDecision::Block(reason))) => {
                Some(PermissionResponse { digest, ..PermissionResponse::denied(reason) })
            }
            (None, Some(HookDecision::Allow(_))) => {
                let folder = &self.dispatcher().context().cwd;
                let arguments = reply.updated_input.map(|updated| from_hooks(call, folder, updated));
                let arguments = arguments.filter(|arguments| *arguments != *call.arguments).map(Arc::new);
                Some(PermissionResponse { digest, arguments, ..PermissionDecision::Allow.into() })
            }
            (None, Some(HookDecision::Ask(_) | HookDecision::Defer(_)) | None) => None,
        }
    }
}

fn amendment(event: HookEvent, reply: HookReply) -> Amendment {
    let objection = reply.blocked().map(|reason| format!("A {event} hook objects: {reason}"));
    Amendment {
        content: reply.updated_output.as_ref().map(output_from_hooks),
        context: objection.into_iter().chain(reply.context).collect(),
    }
}

/// Why a prompt goes no further.
fn refusal(reply: &HookReply) -> Option<String> {
    reply.stop.clone().or_else(|| reply.blocked().map(str::to_owned))
}

/// The rule that "always" would save, as hooks know it.
pub fn suggestions(rule: Option<&str>) -> Value {
    let Some(rule) = rule else { return json!([]) };
    let rule = match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
        Some((tool, content)) => json!({ "toolName": tool, "ruleContent": content }),
        None => json!({ "toolName": rule }),
    };
    json!([{ "type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings" }])
}
