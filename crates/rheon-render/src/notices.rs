//! One-line notices for events. Pure.

use rheon_text::units::{duration, grouped, money};
use rheon_types::event::{CompactionTrigger, Ledger, Meter, PermissionMode, TaskItem, TaskStatus};
use rheon_types::{
    AgentEvent, BudgetEvent, ChildEvent, ContextEvent, ModelEvent, PlanEvent, RunEvent, SessionEvent,
};

use super::page::Ink;
use super::text::one_line;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    #[default]
    Normal,
    /// Also show details for troubleshooting.
    Verbose,
}

pub(super) struct Notice {
    pub(super) ink: Ink,
    /// The lowest verbosity that shows it.
    pub(super) verbosity: Verbosity,
    pub(super) text: String,
}

const TASKS_MAX: usize = 30;

/// The notice for an event, if it has one.
pub(super) fn notice(event: &AgentEvent) -> Option<Notice> {
    let always = |ink, text| Some(Notice { ink, verbosity: Verbosity::Normal, text });
    let more = |text| Some(Notice { ink: Ink::Dim, verbosity: Verbosity::Verbose, text });
    match event {
        AgentEvent::Run(RunEvent::InputRejected { reason }) => {
            always(Ink::Red, format!("rejected: {reason}"))
        }
        AgentEvent::Model(ModelEvent::Retry { attempt, attempts_max, delay_ms, cause }) => {
            let pause = duration(*delay_ms);
            always(Ink::Yellow, format!("{cause}; retry {attempt} of {attempts_max} in {pause}"))
        }
        AgentEvent::Model(ModelEvent::Recovered { attempts }) => {
            more(format!("recovered after {attempts} attempts"))
        }
        AgentEvent::Run(RunEvent::Error { message }) => always(Ink::Red, format!("error: {message}")),
        AgentEvent::Budget(BudgetEvent::Warning { ledger }) => {
            always(Ink::Yellow, format!("the budget is nearly spent{}", spent(ledger)))
        }
        AgentEvent::Budget(BudgetEvent::Exceeded { ledger }) => {
            let what = if is_budget_spent(ledger) { "is spent" } else { "does not cover the next call" };
            always(Ink::Red, format!("the budget {what}{}", spent(ledger)))
        }
        AgentEvent::Context(ContextEvent::CompactionStart { .. })
        | AgentEvent::Context(ContextEvent::CompactionEnd { .. })
        | AgentEvent::Context(ContextEvent::CompactionWarning { .. }) => window(event),
        AgentEvent::Child(ChildEvent::Start { task, .. }) => {
            always(Ink::Dim, format!("sub-agent: {}", one_line(task)))
        }
        AgentEvent::Child(ChildEvent::End { summary, is_error, .. }) => {
            let (ink, word) = if *is_error { (Ink::Red, "failed") } else { (Ink::Dim, "done") };
            always(ink, format!("sub-agent {word}: {}", one_line(summary)))
        }
        AgentEvent::Session(SessionEvent::Mode { mode }) => {
            always(Ink::Yellow, format!("permission mode: {}", mode_word(*mode)))
        }
        AgentEvent::Plan(PlanEvent::Queued { change }) => {
            always(Ink::Dim, format!("planned: {} {}", change.tool_name, one_line(&change.summary)))
        }
        AgentEvent::Run(RunEvent::Hook { hook, veto: Some(veto), .. }) => {
            always(Ink::Yellow, format!("hook {} blocked it: {}", one_line(hook), one_line(veto)))
        }
        AgentEvent::Run(RunEvent::Hook { hook, point, veto: None, duration_ms, .. }) => {
            more(format!("hook {} at {point:?} · {}", one_line(hook), duration(*duration_ms)))
        }
        AgentEvent::Plan(PlanEvent::Tasks { items }) => always(Ink::Plain, tasks(items)),
        AgentEvent::Session(SessionEvent::Checkpoint { id, label }) => {
            more(format!("checkpoint {id}: {}", one_line(label)))
        }
        _ => None,
    }
}

/// Notices about the context window.
fn window(event: &AgentEvent) -> Option<Notice> {
    let (verbosity, text) = if let AgentEvent::Context(ContextEvent::CompactionStart {
        trigger,
        tokens_before,
    }) = event
    {
        let why = match trigger {
            CompactionTrigger::Auto => "the context window is nearly full",
            CompactionTrigger::Manual => "requested",
            CompactionTrigger::Overflow => "the provider rejected it as too long",
        };
        let before = grouped(*tokens_before);
        (Verbosity::Verbose, format!("compacting the conversation of {before} tokens: {why}"))
    } else if let AgentEvent::Context(ContextEvent::CompactionEnd { tokens_before, tokens_after, .. }) = event
    {
        let (before, after) = (grouped(*tokens_before), grouped(*tokens_after));
        (Verbosity::Normal, format!("compacted the conversation: {before} → {after} tokens"))
    } else if let AgentEvent::Context(ContextEvent::CompactionWarning { tokens_used, tokens_window }) = event
    {
        let (used, window) = (grouped(*tokens_used), grouped(*tokens_window));
        (Verbosity::Verbose, format!("context window: {used} of {window} tokens used"))
    } else {
        return None;
    };
    Some(Notice { ink: Ink::Dim, verbosity, text })
}

/// Whether a budget is fully spent. Otherwise the rest may still be too little for another call.
pub fn is_budget_spent(ledger: &Ledger) -> bool {
    let meters = [&ledger.micro_usd, &ledger.tokens, &ledger.wall_ms];
    meters.iter().any(|meter| meter.cap.is_some_and(|cap| meter.spent >= cap))
}

fn spent(ledger: &Ledger) -> String {
    let part = |meter: &Meter, word: fn(u64) -> String| {
        meter.cap.map(|cap| format!("{} of {}", word(meter.spent), word(cap)))
    };
    let parts: Vec<String> = [
        part(&ledger.micro_usd, money),
        part(&ledger.tokens, |tokens| format!("{} tokens", grouped(tokens))),
        part(&ledger.wall_ms, duration),
    ]
    .into_iter()
    .flatten()
    .collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn mode_word(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits: edits in the workspace need no approval",
        PermissionMode::Auto => "auto: edits in the workspace and sandboxed commands need no approval",
        PermissionMode::Plan => "plan: changes are queued",
        PermissionMode::DontAsk => "dontAsk: calls that need approval are denied",
        PermissionMode::BypassPermissions => "bypassPermissions: all calls are allowed",
    }
}

fn tasks(items: &[TaskItem]) -> String {
    let line = |item: &TaskItem| {
        let mark = match item.status {
            TaskStatus::Pending => "☐",
            TaskStatus::InProgress => "▶",
            TaskStatus::Completed => "☑",
        };
        format!("{mark} {}", one_line(&item.text))
    };
    let mut lines: Vec<String> = items.iter().take(TASKS_MAX).map(line).collect();
    if items.len() > TASKS_MAX {
        lines.push(format!("… {} more", items.len() - TASKS_MAX));
    }
    lines.join("\n")
}
