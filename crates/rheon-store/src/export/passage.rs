//! `Passage`: how an event appears in an export. Pure.

use rheon_types::event::{PermissionDecision, TaskItem, TaskStatus};
use rheon_types::{
    AgentEvent, AgentMessage, AgentOutput, ApprovalEvent, BudgetEvent, ChildEvent, ContextEvent, Event,
    MessageEvent, ModelEvent, PlanEvent, RunEnd, RunEvent, SessionEvent, ToolEvent,
};
use serde_json::Value;

/// How much is shown of arguments that replaced the model's.
const ARGUMENTS_CHARACTERS_MAX: usize = 2_000;

/// How an event appears in an export.
#[derive(Debug, PartialEq)]
pub(super) enum Passage<'a> {
    /// The start of a run.
    Run {
        run_id: &'a str,
        model: &'a str,
    },
    Message(&'a AgentMessage),
    /// An event beside the conversation.
    Note(String),
    /// The end of a run.
    End(String),
}

/// The passage of `event`; `None` if another event covers it.
pub(super) fn passage(event: &Event) -> Option<Passage<'_>> {
    let note = |text: String| Some(Passage::Note(text));
    match &event.kind {
        AgentEvent::Run(RunEvent::Start { model, .. }) => {
            Some(Passage::Run { run_id: event.run_id.as_ref()?.as_str(), model })
        }
        AgentEvent::Run(RunEvent::End { output }) => Some(Passage::End(end_text(output))),
        AgentEvent::Message(MessageEvent::End { message }) => Some(Passage::Message(message)),
        AgentEvent::Tool(ToolEvent::Blocked { name, reason, .. }) => {
            note(format!("{name} was blocked: {reason}"))
        }
        AgentEvent::Approval(ApprovalEvent::Resolved { decision, arguments, .. }) => {
            note(approval_text(*decision, arguments.as_deref()))
        }
        AgentEvent::Plan(PlanEvent::Queued { change }) => {
            note(format!("Queued in the plan: {}", change.summary))
        }
        AgentEvent::Plan(PlanEvent::Resolved { decision, .. }) => {
            note(format!("The change was {}.", decided(*decision)))
        }
        AgentEvent::Session(SessionEvent::Mode { mode }) => {
            note(format!("The permission mode is now {mode:?}."))
        }
        AgentEvent::Run(RunEvent::InputRejected { reason }) => {
            note(format!("The message was rejected: {reason}"))
        }
        AgentEvent::Child(ChildEvent::Start { child, task }) => {
            note(format!("Sub-agent {} started: {task}", child.agent_id))
        }
        AgentEvent::Child(ChildEvent::End { child, summary, .. }) => {
            note(format!("Sub-agent {} finished: {summary}", child.agent_id))
        }
        AgentEvent::Child(ChildEvent::ParallelStart { run_ids }) => {
            note(format!("{} parallel runs of one prompt started.", run_ids.len()))
        }
        AgentEvent::Child(ChildEvent::ParallelEnd { selected_run_id, .. }) => {
            note(format!("Selected: {selected_run_id}."))
        }
        AgentEvent::Context(ContextEvent::CompactionEnd {
            messages_dropped,
            tokens_before,
            tokens_after,
            summary,
            ..
        }) => {
            let figures = format!(
                "{messages_dropped} messages were compacted: {tokens_before} tokens, now {tokens_after}."
            );
            note(summary.as_ref().map_or(figures.clone(), |summary| format!("{figures}\n{summary}")))
        }
        AgentEvent::Budget(BudgetEvent::Exceeded { .. }) => note("The budget is used up.".to_owned()),
        AgentEvent::Model(ModelEvent::Retry { attempt, attempts_max, cause, .. }) => {
            note(format!("Attempt {attempt} of {attempts_max} failed: {cause}"))
        }
        AgentEvent::Plan(PlanEvent::Tasks { items }) => {
            note(format!("Tasks:{}", items.iter().map(task_line).collect::<String>()))
        }
        AgentEvent::Session(SessionEvent::Checkpoint { label, .. }) => note(format!("Checkpoint: {label}")),
        AgentEvent::Run(RunEvent::Error { message }) => note(format!("Error: {message}")),
        AgentEvent::Run(RunEvent::Hook { hook, veto: Some(veto), .. }) => {
            note(format!("Blocked by hook {hook}: {veto}"))
        }
        _ => None,
    }
}

/// A task on one line.
fn task_line(item: &TaskItem) -> String {
    let mark = match item.status {
        TaskStatus::Pending => "[ ]",
        TaskStatus::InProgress => "[~]",
        TaskStatus::Completed => "[x]",
    };
    format!("\n{mark} {}", item.text)
}

/// How an approval was answered.
fn approval_text(decision: PermissionDecision, arguments: Option<&Value>) -> String {
    match arguments {
        None => format!("The call was {}.", decided(decision)),
        Some(arguments) => {
            let text: String = arguments.to_string().chars().take(ARGUMENTS_CHARACTERS_MAX).collect();
            format!("The call was {} with other arguments: {text}", decided(decision))
        }
    }
}

fn decided(decision: PermissionDecision) -> &'static str {
    match decision {
        PermissionDecision::Allow => "allowed",
        PermissionDecision::Deny => "denied",
    }
}

fn end_text(output: &AgentOutput) -> String {
    let why = match &output.end {
        RunEnd::Completed => "Completed".to_owned(),
        RunEnd::Truncated => "The last answer was cut off".to_owned(),
        RunEnd::Limit { message, .. } => format!("Stopped by a limit: {message}"),
        RunEnd::Rejected { rejection } => format!("Rejected: {rejection}"),
        RunEnd::Vetoed { message, .. } => format!("Stopped by a hook: {message}"),
        RunEnd::Stuck { message } => format!("Stopped: {message}"),
        RunEnd::Aborted => "Canceled".to_owned(),
        RunEnd::Failed { failure } => format!("Failed: {failure}"),
    };
    let cost = output.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    format!("{why} · turns: {}, tokens: {}{cost}", output.turns, output.usage.total())
}
