//! `RunOutcome`: how a run ended, with its exit code and its error message.

use std::fmt;

use rheon_app::stream_json::is_refusal;
use rheon_render::is_budget_spent;
use rheon_types::event::{Ledger, Meter, PermissionDecision, Responder};
use rheon_types::protocol::ConfigInfo;
use rheon_types::{
    AgentEvent, ApprovalEvent, BudgetEvent, Event, LimitKind, ProviderError, ProviderErrorKind, RunEnd,
    RunEvent, RunFailure, SessionId, ToolCallId, ToolEvent,
};

use crate::exit::Exit;

/// Follows a run to its exit code.
#[derive(Debug, Default)]
pub(crate) struct RunOutcome {
    /// Why one of the model's last calls was denied.
    denial: Option<Denial>,
    /// The call that a hook of the settings vetoed last.
    vetoed: Option<ToolCallId>,
    /// Who denied the last approval.
    denied_by: Option<Responder>,
    /// Whether the budget ended the run before it was fully spent.
    is_uncovered: bool,
    limited: BudgetKinds,
    end: Option<RunEnd>,
}

/// The name of the hooks in settings, as opposed to Rheon's own.
const SETTINGS_HOOKS: &str = "command hooks";

/// How much of the reason for a denial is shown.
const REASON_CHARS_MAX: usize = 300;

/// Why a tool call was denied.
#[derive(Debug, PartialEq, Eq)]
enum Denial {
    NonInteractive,
    Hook(String),
    Rule(String),
}

impl fmt::Display for Denial {
    /// What happened, and what can be done about it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NonInteractive => f.write_str(
                "the last tool call was denied: this run is non-interactive. Allow it with --allowed-tools, \
                 --permission-mode or a rule (see `rheon policy explain`)",
            ),
            Self::Hook(reason) => write!(
                f,
                "the last tool call was denied by a hook: {reason}; find the hook with `rheon config show hooks --origin`"
            ),
            Self::Rule(reason) => {
                write!(f, "the last tool call was denied: {reason}; find out why with `rheon policy explain`")
            }
        }
    }
}

/// The kinds of budget that a run has, or that ended it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct BudgetKinds {
    has_tokens: bool,
    has_money: bool,
}

impl BudgetKinds {
    /// What ended a run, according to the ledger: the spent budgets, or else every budget with a cap.
    fn of(ledger: &Ledger) -> Self {
        let all = |counts: fn(&Meter) -> bool| Self {
            has_tokens: counts(&ledger.tokens),
            has_money: counts(&ledger.micro_usd),
        };
        let spent = all(|meter| meter.cap.is_some_and(|cap| meter.spent >= cap));
        if spent == Self::default() { all(|meter| meter.cap.is_some()) } else { spent }
    }
}

impl RunOutcome {
    /// Follows a run with these limits.
    pub(crate) fn within(limits: &ConfigInfo) -> Self {
        let limited =
            BudgetKinds { has_tokens: limits.tokens_max.is_some(), has_money: limits.budget.is_some() };
        Self { limited, ..Self::default() }
    }

    /// Nothing had to run.
    pub(crate) fn completed() -> Self {
        Self { end: Some(RunEnd::Completed), ..Self::default() }
    }

    pub(crate) fn observe(&mut self, event: &Event) {
        match &event.kind {
            AgentEvent::Run(RunEvent::Hook { hook, veto: Some(_), call_id, .. })
                if hook == SETTINGS_HOOKS =>
            {
                self.vetoed.clone_from(call_id);
            }
            AgentEvent::Approval(ApprovalEvent::Resolved {
                decision: PermissionDecision::Deny, by, ..
            }) => {
                self.denied_by = Some(*by);
            }
            AgentEvent::Tool(ToolEvent::Blocked { call_id, reason, .. }) if is_refusal(reason) => {
                self.denial = Some(self.denial(call_id, reason));
            }
            AgentEvent::Tool(ToolEvent::End { is_error: false, .. }) => self.denial = None,
            AgentEvent::Budget(BudgetEvent::Exceeded { ledger }) => {
                self.is_uncovered = !is_budget_spent(ledger);
                self.limited = BudgetKinds::of(ledger);
            }
            AgentEvent::Run(RunEvent::End { output }) => self.end = Some(output.end.clone()),
            _ => {}
        }
    }

    /// Why this call was denied.
    fn denial(&mut self, call_id: &ToolCallId, reason: &str) -> Denial {
        let reason = reason.strip_prefix("denied: ").unwrap_or(reason);
        let is_unanswered = reason.starts_with("this run is non-interactive");
        let reason = || reason.lines().next().unwrap_or_default().chars().take(REASON_CHARS_MAX).collect();
        match self.denied_by.take() {
            Some(Responder::NonInteractive) => Denial::NonInteractive,
            Some(Responder::Hook) => Denial::Hook(reason()),
            Some(Responder::User | Responder::Cancelled) | None if self.vetoed.as_ref() == Some(call_id) => {
                Denial::Hook(reason())
            }
            Some(Responder::User | Responder::Cancelled) | None if is_unanswered => Denial::NonInteractive,
            Some(Responder::User | Responder::Cancelled) | None => Denial::Rule(reason()),
        }
    }

    pub(crate) fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// The exit code. `signal` is the one that stopped the run, if any.
    pub(crate) fn exit(&self, signal: Option<Exit>) -> Exit {
        match (&self.end, signal) {
            (Some(RunEnd::Aborted) | None, Some(signal)) => signal,
            (Some(RunEnd::Completed), _) if self.denial.is_some() => Exit::Denied,
            (Some(RunEnd::Failed { failure: RunFailure::Provider { error } }), _)
                if matches!(error.kind, ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded) =>
            {
                Exit::ComeBackLater
            }
            (Some(end), _) => Exit::of_run(end),
            (None, None) => Exit::Error,
        }
    }

    /// The error of a run that did not complete, with the next step. `saved` is the session, if it can be resumed.
    pub(crate) fn problem(&self, saved: Option<&SessionId>) -> Option<String> {
        let resume = saved.map_or_else(String::new, |id| format!(", or resume with rheon -r {id}"));
        match self.end.as_ref()? {
            RunEnd::Completed => self.denial.as_ref().map(ToString::to_string),
            RunEnd::Aborted => None,
            RunEnd::Truncated => Some(format!(
                "the last answer reached its token limit; raise limits.output_tokens_max in your settings{resume}"
            )),
            RunEnd::Limit { limit, message } => {
                let message = if self.is_uncovered { UNCOVERED } else { message.as_str() };
                Some(format!("stopped: {message}; allow more with {}{resume}", self.flag(*limit)))
            }
            RunEnd::Rejected { rejection } => Some(format!(
                "the prompt was rejected: {rejection}; rephrase it, or find the hook with `rheon config show`"
            )),
            RunEnd::Stuck { message } => {
                let resume = saved.map_or_else(String::new, |id| format!(" with rheon -r {id}"));
                Some(format!("stopped: {message}; say what to do instead{resume}, or use another model"))
            }
            RunEnd::Vetoed { message, .. } => {
                Some(format!("a hook stopped the run: {message}; find it with `rheon config show --origin`"))
            }
            RunEnd::Failed { failure } => Some(format!("{failure}{}", next_step(failure))),
        }
    }

    /// The flag that raises a limit.
    fn flag(&self, limit: LimitKind) -> &'static str {
        match (limit, self.limited) {
            (LimitKind::Turns, _) => "--max-turns",
            (LimitKind::Duration, _) => "--max-minutes",
            (LimitKind::Tokens, _)
            | (LimitKind::Budget, BudgetKinds { has_tokens: true, has_money: false }) => "--max-tokens",
            (LimitKind::Budget, BudgetKinds { has_tokens: true, has_money: true }) => {
                "--max-tokens or --max-budget-usd"
            }
            (LimitKind::Budget, BudgetKinds { has_tokens: false, .. }) => "--max-budget-usd",
        }
    }
}

/// Used instead of *spent* while some money is left.
const UNCOVERED: &str = "the budget does not cover the next call";

/// The next step, unless the message of the failure already names one.
pub(crate) fn next_step(failure: &RunFailure) -> &'static str {
    match failure {
        RunFailure::Provider { error } => provider_step(error),
        RunFailure::Window { .. } => "; start a new session, or use a model with a larger context window",
        RunFailure::Output { .. } => "; retry, simplify the schema, or use another model",
        RunFailure::Panic { .. } => "; this is a bug in Rheon, please report it",
        RunFailure::Store { .. } | RunFailure::Tool { .. } | RunFailure::NothingToContinue { .. } => "",
    }
}

fn provider_step(error: &ProviderError) -> &'static str {
    // Only a response of the service starts with its status.
    let is_answer = error.message.starts_with(|c: char| c.is_ascii_digit());
    match error.kind {
        ProviderErrorKind::Auth if is_answer => {
            "; check the API key of this service and the permissions of its account"
        }
        ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded => {
            "; retry later, or set another model with --fallback-model"
        }
        ProviderErrorKind::Network if error.message.to_lowercase().contains("refused") => {
            "; is the server running? Check with `rheon doctor --online`"
        }
        // The message already names a next step.
        ProviderErrorKind::Network if error.message.contains("; ") => "",
        ProviderErrorKind::Network | ProviderErrorKind::Timeout => {
            "; retry, or check the connection with `rheon doctor --online`"
        }
        ProviderErrorKind::InvalidRequest if error.message.starts_with("404") => {
            "; list known models with `rheon models`"
        }
        ProviderErrorKind::ContextOverflow => {
            "; start a new session, or use a model with a larger context window"
        }
        ProviderErrorKind::ContentFilter => "; rephrase the prompt, or use another model",
        ProviderErrorKind::Malformed | ProviderErrorKind::Api => "; retry, or use another model with --model",
        ProviderErrorKind::Auth | ProviderErrorKind::InvalidRequest | ProviderErrorKind::Cancelled => "",
    }
}

#[cfg(test)]
#[path = "run_outcome_tests.rs"]
mod tests;
