//! Notices: events that are told in a line. Pure.

use rheon_text::units::{duration, grouped, money};
use rheon_types::event::{CompactionTrigger, Ledger, Meter, PermissionMode, TaskItem, TaskStatus};
use rheon_types::{
    AgentEvent, BudgetEvent, ChildEvent, ContextEvent, ModelEvent, PlanEvent, RunEvent, SessionEvent,
};

use super::page::Ink;
use super::text::one_line;

/// How much is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// What a person wants to know.
    #[default]
    Normal,
    /// What somebody wants to know who looks for a reason, too.
    Verbose,
}

/// A line about something that happened.
pub(super) struct Notice {
    pub(super) ink: Ink,
    /// From which verbosity on it is told.
    pub(super) verbosity: Verbosity,
    pub(super) text: String,
}

/// How many tasks of a list are shown.
const TASKS_MAX: usize = 30;

/// What is told of an event, if it is told in a line.
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
            always(Ink::Yellow, format!("the hook {} said no: {}", one_line(hook), one_line(veto)))
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

/// What is told of the conversation's size.
fn window(event: &AgentEvent) -> Option<Notice> {
    let (verbosity, text) = if let AgentEvent::Context(ContextEvent::CompactionStart {
        trigger,
        tokens_before,
    }) = event
    {
        let why = match trigger {
            CompactionTrigger::Auto => "it is nearly full",
            CompactionTrigger::Manual => "as asked",
            CompactionTrigger::Overflow => "the service found it too long",
        };
        let before = grouped(*tokens_before);
        (Verbosity::Verbose, format!("making the conversation of {before} tokens shorter: {why}"))
    } else if let AgentEvent::Context(ContextEvent::CompactionEnd { tokens_before, tokens_after, .. }) = event
    {
        let (before, after) = (grouped(*tokens_before), grouped(*tokens_after));
        (Verbosity::Normal, format!("the conversation was made shorter: {before} → {after} tokens"))
    } else if let AgentEvent::Context(ContextEvent::CompactionWarning { tokens_used, tokens_window }) = event
    {
        let (used, window) = (grouped(*tokens_used), grouped(*tokens_window));
        (Verbosity::Verbose, format!("{used} of {window} tokens of the window are used"))
    } else {
        return None;
    };
    Some(Notice { ink: Ink::Dim, verbosity, text })
}

/// Whether nothing of a budget is left; what is left may still be too little for another call.
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
        PermissionMode::Default => "asks as the rules say",
        PermissionMode::AcceptEdits => "edits in the workspace need no question",
        PermissionMode::Plan => "plan; changes wait",
        PermissionMode::DontAsk => "what would ask is refused",
        PermissionMode::BypassPermissions => "nothing asks",
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
