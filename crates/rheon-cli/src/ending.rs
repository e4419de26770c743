//! `Ending`: what became of a run, and with which exit code the program says so.

use rheon_app::stream_json::is_refusal;
use rheon_render::is_spent;
use rheon_types::event::{Ledger, Meter};
use rheon_types::protocol::ConfigInfo;
use rheon_types::{
    AgentEvent, BudgetEvent, Event, LimitKind, ProviderError, ProviderErrorKind, RunEnd, RunEvent,
    RunFailure, SessionId, ToolEvent,
};

use crate::exit::Exit;

/// Follows a run for what its exit code has to say.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// Whether the last calls that the model tried were refused.
    is_refused: bool,
    /// Whether the budget ended it though something of it is left.
    is_uncovered: bool,
    /// What the budget counts.
    counted: Counted,
    end: Option<RunEnd>,
}

/// What a budget counts, or what of it is spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counted {
    has_tokens: bool,
    has_money: bool,
}

impl Counted {
    /// What ended a run, as far as the ledger says: what is spent, else all that could be too little.
    fn of(ledger: &Ledger) -> Self {
        let all = |counts: fn(&Meter) -> bool| Self {
            has_tokens: counts(&ledger.tokens),
            has_money: counts(&ledger.micro_usd),
        };
        let spent = all(|meter| meter.cap.is_some_and(|cap| meter.spent >= cap));
        if spent == Self::default() { all(|meter| meter.cap.is_some()) } else { spent }
    }
}

impl Ending {
    /// Follows a run that has these limits.
    pub(crate) fn within(limits: &ConfigInfo) -> Self {
        let counted = Counted { has_tokens: limits.tokens_max.is_some(), has_money: limits.budget.is_some() };
        Self { counted, ..Self::default() }
    }

    /// Takes in an event.
    pub(crate) fn observe(&mut self, event: &Event) {
        match &event.kind {
            AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) => self.is_refused |= is_refusal(reason),
            AgentEvent::Tool(ToolEvent::End { is_error: false, .. }) => self.is_refused = false,
            AgentEvent::Budget(BudgetEvent::Exceeded { ledger }) => {
                self.is_uncovered = !is_spent(ledger);
                self.counted = Counted::of(ledger);
            }
            AgentEvent::Run(RunEvent::End { output }) => self.end = Some(output.end.clone()),
            _ => {}
        }
    }

    /// How the last run ended, if one did.
    pub(crate) fn end(&self) -> Option<&RunEnd> {
        self.end.as_ref()
    }

    /// The exit code. `signal` is the one that stopped the run, if one did.
    pub(crate) fn exit(&self, signal: Option<Exit>) -> Exit {
        match (&self.end, signal) {
            (Some(RunEnd::Aborted) | None, Some(signal)) => signal,
            (Some(RunEnd::Completed), _) if self.is_refused => Exit::Denied,
            (Some(RunEnd::Failed { failure: RunFailure::Provider { error } }), _)
                if matches!(error.kind, ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded) =>
            {
                Exit::ComeBackLater
            }
            (Some(end), _) => Exit::of_run(end),
            (None, None) => Exit::Error,
        }
    }

    /// What is to be said of a run that did not come to its end by itself, and what can be done. `kept` is the session, if it can be
    /// gone on with.
    pub(crate) fn problem(&self, kept: Option<&SessionId>) -> Option<String> {
        let go_on = kept.map_or_else(String::new, |id| format!(", or go on with rheon -r {id}"));
        match self.end.as_ref()? {
            RunEnd::Completed if self.is_refused => Some(
                "the last thing the model wanted to do was refused, as nobody could be asked; allow it with \
                 --allowed-tools, --permission-mode or a rule (`rheon policy explain` says what would)"
                    .into(),
            ),
            RunEnd::Completed | RunEnd::Aborted => None,
            RunEnd::Truncated => Some(format!(
                "the last answer was cut off by its token limit; allow longer ones with limits.output_tokens_max in your \
                 settings{go_on}"
            )),
            RunEnd::Limit { limit, message } => {
                let message = if self.is_uncovered { UNCOVERED } else { message.as_str() };
                Some(format!("stopped: {message}; allow more with {}{go_on}", self.flag(*limit)))
            }
            RunEnd::Rejected { rejection } => Some(format!(
                "the prompt was rejected: {rejection}; say it otherwise, or look for the hook with `rheon config show`"
            )),
            RunEnd::Vetoed { message, .. } => Some(format!(
                "a hook stopped the run: {message}; `rheon config show --origin` says where hooks come from"
            )),
            RunEnd::Failed { failure } => Some(format!("{failure}{}", next_step(failure))),
        }
    }

    /// The flag that sets a limit.
    fn flag(&self, limit: LimitKind) -> &'static str {
        match (limit, self.counted) {
            (LimitKind::Turns, _) => "--max-turns",
            (LimitKind::Duration, _) => "--max-minutes",
            (LimitKind::Tokens, _) | (LimitKind::Budget, Counted { has_tokens: true, has_money: false }) => {
                "--max-tokens"
            }
            (LimitKind::Budget, Counted { has_tokens: true, has_money: true }) => {
                "--max-tokens or --max-budget-usd"
            }
            (LimitKind::Budget, Counted { has_tokens: false, .. }) => "--max-budget-usd",
        }
    }
}

/// What is said instead of *spent* where there is money left, but too little.
const UNCOVERED: &str = "the budget does not cover the next call";

/// What can be done where the words of the failure do not say it.
pub(crate) fn next_step(failure: &RunFailure) -> &'static str {
    match failure {
        RunFailure::Provider { error } => provider_step(error),
        RunFailure::Window { .. } => "; begin a new session, or name a model with a larger window",
        RunFailure::Output { .. } => "; try again, make the schema simpler, or name another model",
        RunFailure::Panic { .. } => "; that is a mistake in rheon, please report it",
        RunFailure::Store { .. } | RunFailure::Tool { .. } | RunFailure::NothingToContinue { .. } => "",
    }
}

fn provider_step(error: &ProviderError) -> &'static str {
    // Only what a service answered begins with its status.
    let is_answer = error.message.starts_with(|c: char| c.is_ascii_digit());
    match error.kind {
        ProviderErrorKind::Auth if is_answer => {
            "; check the key that is set for this service, and what its account may do"
        }
        ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded => {
            "; try again later, or name another model with --fallback-model"
        }
        ProviderErrorKind::Network if error.message.to_lowercase().contains("refused") => {
            "; is the server running? `rheon doctor --online` tries to reach it"
        }
        // Whoever names a remedy needs no second one.
        ProviderErrorKind::Network if error.message.contains("; ") => "",
        ProviderErrorKind::Network | ProviderErrorKind::Timeout => {
            "; try again, or see with `rheon doctor --online` whether the service can be reached"
        }
        ProviderErrorKind::InvalidRequest if error.message.starts_with("404") => {
            "; `rheon models` lists the names that are known"
        }
        ProviderErrorKind::ContextOverflow => "; begin a new session, or name a model with a larger window",
        ProviderErrorKind::ContentFilter => "; say it otherwise, or name another model",
        ProviderErrorKind::Malformed | ProviderErrorKind::Api => {
            "; try again, or name another model with --model"
        }
        ProviderErrorKind::Auth | ProviderErrorKind::InvalidRequest | ProviderErrorKind::Cancelled => "",
    }
}

#[cfg(test)]
#[path = "ending_tests.rs"]
mod tests;
