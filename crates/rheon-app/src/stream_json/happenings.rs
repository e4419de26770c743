//! Lines for events besides messages: denials, hooks, compaction, sub-agents.

use std::path::Path;

use rheon_store::claude::wire_call_id;
use rheon_types::event::{ChildRef, CompactionTrigger, PermissionMode};
use rheon_types::{AgentEvent, Content, Event, HookPoint, ModelEvent, RunEvent, ToolCall, ToolCallId, Usage};
use serde_json::{Value, json};

use super::lines::Lines;
use super::message::prompt_line;
use super::projector::Projector;
use super::tool::claude_call;
use super::view::{ParentCall, RunView};

/// The beginnings of messages about calls that could not run, as opposed to denied calls.
const NO_DECISION: [&str; 7] = [
    "invalid arguments for ",
    "the arguments ",
    "the answer ended before the call ",
    "there is no ",
    "not run: ",
    "Not completed: ",
    "Skipped due to queued ",
];

/// Whether this reason means that a call was denied: by a rule, by a hook, or because the run is non-interactive. Other calls could not
/// have run.
pub fn is_refusal(reason: &str) -> bool {
    !NO_DECISION.iter().any(|start| reason.starts_with(start))
}

impl Projector {
    /// A line about the session itself.
    pub(super) fn system(&mut self, subtype: &str, fields: Value) -> Vec<String> {
        let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, None);
        lines.system(subtype, fields);
        lines.done()
    }

    /// A call will not run.
    pub(super) fn tool_blocked(&mut self, view: &RunView, id: &ToolCallId, reason: &str) {
        let call = view.calls.get(id).filter(|call| is_refusal(reason) && call.malformed.is_none());
        if let Some(call) = call {
            self.run.deny(denial(call, &self.facts.cwd));
        }
    }

    /// A hook ran.
    pub(super) fn hook_ran(&mut self, kind: &AgentEvent) -> Vec<String> {
        let AgentEvent::Run(RunEvent::Hook { hook, point, veto, duration_ms, .. }) = kind else {
            return Vec::new();
        };
        if !self.shown.hook_events {
            return Vec::new();
        }
        let outcome = if veto.is_some() { "error" } else { "success" };
        let fields = json!({
            "hook_name": hook, "hook_event": hook_event(*point), "outcome": outcome, "output": veto.as_deref().unwrap_or_default(),
            "duration_ms": duration_ms,
        });
        self.system("hook_response", fields)
    }

    /// A model call is tried again.
    pub(super) fn retried(&mut self, kind: &AgentEvent) -> Vec<String> {
        let AgentEvent::Model(ModelEvent::Retry { attempt, attempts_max, delay_ms, cause }) = kind else {
            return Vec::new();
        };
        let fields = json!({
            "attempt": attempt, "max_retries": attempts_max, "retry_delay_ms": delay_ms, "error_status": null,
            "error": cause,
        });
        self.system("api_retry", fields)
    }

    /// The permission mode changed.
    pub(super) fn mode_changed(&mut self, mode: PermissionMode) -> Vec<String> {
        self.facts.permission_mode = mode;
        self.system("status", json!({ "status": null, "permissionMode": mode }))
    }

    /// Compaction started.
    pub(super) fn compacting(
        &mut self,
        event: &Event,
        view: &mut RunView,
        trigger: CompactionTrigger,
    ) -> Vec<String> {
        view.compaction = Some((trigger, event.at));
        self.system("status", json!({ "status": "compacting" }))
    }

    /// Compaction ended.
    pub(super) fn compacted(
        &mut self,
        event: &Event,
        view: &mut RunView,
        tokens_before: u64,
        tokens_after: u64,
        summary: Option<&str>,
    ) -> Vec<String> {
        let (trigger, since) = view.compaction.take().unwrap_or((CompactionTrigger::Auto, event.at));
        let trigger = match trigger {
            CompactionTrigger::Manual => "manual",
            CompactionTrigger::Auto | CompactionTrigger::Overflow => "auto",
        };
        let metadata = json!({
            "trigger": trigger, "pre_tokens": tokens_before, "post_tokens": tokens_after,
            "duration_ms": event.at.as_millis().saturating_sub(since.as_millis()),
        });
        let uuid = self.ids.entry(0);
        let mut lines = Lines::new(&mut self.ids, &self.facts.session_id, None);
        lines.system("status", json!({ "status": null, "compact_result": "success" }));
        lines.system("compact_boundary", json!({ "compact_metadata": metadata, "uuid": uuid }));
        if let Some(summary) = summary {
            let mut line = prompt_line(&[Content::text(summary)]);
            if let Value::Object(fields) = &mut line {
                fields.insert("isReplay".to_owned(), json!(false));
                fields.insert("isSynthetic".to_owned(), json!(true));
            }
            lines.push_entry(event.at, 1, line);
        }
        lines.done()
    }

    /// A sub-agent starts.
    pub(super) fn task_begins(&mut self, view: &mut RunView, child: &ChildRef, task: &str) -> Vec<String> {
        // The event does not name the call; sub-agents start in the order of their calls.
        let call = view.running_agents.pop();
        let parent = ParentCall {
            tool_use_id: call.map(|id| wire_call_id(id.as_str())),
            agent_id: child.agent_id.to_string(),
            task: task.to_owned(),
        };
        let fields = json!({
            "task_id": parent.agent_id, "tool_use_id": parent.tool_use_id, "description": task,
            "task_type": "local_agent", "prompt": task,
        });
        self.children.insert(child.run_id.clone(), parent.clone());
        self.tasks.push(parent);
        self.system("task_started", fields)
    }

    /// A sub-agent has ended. Reported only if its start was reported.
    pub(super) fn task_ends(
        &mut self,
        agent_id: &str,
        status: &str,
        summary: &str,
        usage: &Usage,
    ) -> Vec<String> {
        let Some(place) = self.tasks.iter().position(|task| task.agent_id == agent_id) else {
            return Vec::new();
        };
        let task = self.tasks.remove(place);
        self.children.retain(|_, child| child.agent_id != agent_id);
        let used = json!({ "total_tokens": usage.total(), "tool_uses": 0, "duration_ms": 0 });
        let fields = json!({
            "task_id": agent_id, "tool_use_id": task.tool_use_id, "status": status, "output_file": "",
            "summary": summary, "usage": used,
        });
        self.system("task_notification", fields)
    }
}

/// A denied call, for the result line.
fn denial(call: &ToolCall, dir: &Path) -> Value {
    let foreign = claude_call(call, dir);
    let id = wire_call_id(call.id.as_str());
    json!({ "tool_name": foreign.tool_name, "tool_use_id": id, "tool_input": foreign.tool_input })
}

/// Claude Code's event for a hook point.
fn hook_event(point: HookPoint) -> &'static str {
    match point {
        HookPoint::BeforeRun | HookPoint::BeforeTurn => "UserPromptSubmit",
        HookPoint::PermitTool | HookPoint::BeforeTool => "PreToolUse",
        HookPoint::AnswerApproval => "PermissionRequest",
        HookPoint::AfterTool | HookPoint::BeforeToolUpdate | HookPoint::AfterToolUpdate => "PostToolUse",
        HookPoint::ToolBlocked => "PermissionDenied",
        HookPoint::BeforeStop | HookPoint::AfterTurn | HookPoint::AfterRun => "Stop",
        HookPoint::BeforeCompaction => "PreCompact",
        HookPoint::AfterCompaction => "PostCompact",
        HookPoint::OnError => "StopFailure",
    }
}
