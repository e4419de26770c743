//! `Ending`: what became of a run, and with which exit code the program says so.

use rheon_app::stream_json::is_refusal;
use rheon_types::{AgentEvent, Event, ProviderErrorKind, RunEnd, RunFailure};

use crate::exit::Exit;

/// Follows a run for what its exit code has to say.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// Whether the last calls that the model tried were refused.
    is_refused: bool,
    end: Option<RunEnd>,
}

impl Ending {
    /// Takes in an event.
    pub(crate) fn observe(&mut self, event: &Event) {
        match &event.kind {
            AgentEvent::ToolBlocked { reason, .. } => self.is_refused |= is_refusal(reason),
            AgentEvent::ToolEnd { is_error: false, .. } => self.is_refused = false,
            AgentEvent::AgentEnd { output } => self.end = Some(output.end.clone()),
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

    /// What is to be said of a run that did not come to its end by itself.
    pub(crate) fn problem(&self) -> Option<String> {
        match self.end.as_ref()? {
            RunEnd::Completed if self.is_refused => Some(
                "the last thing the model wanted to do was refused, as nobody could be asked; allow it with \
                 --allowed-tools, --permission-mode or a rule (`rheon policy explain` says what would)"
                    .into(),
            ),
            RunEnd::Completed | RunEnd::Aborted => None,
            RunEnd::Truncated => Some("the last answer was cut off by its token limit".into()),
            RunEnd::Limit { message, .. } => Some(format!("stopped: {message}")),
            RunEnd::Rejected { rejection } => Some(format!("the prompt was rejected: {rejection}")),
            RunEnd::Vetoed { message, .. } => Some(format!("a hook stopped the run: {message}")),
            RunEnd::Failed { failure } => Some(format!("{failure}{}", next_step(failure))),
        }
    }
}

/// What can be done where the words of the service do not say it.
fn next_step(failure: &RunFailure) -> &'static str {
    let RunFailure::Provider { error } = failure else { return "" };
    // Only what a service answered begins with its status.
    let is_answer = error.message.starts_with(|c: char| c.is_ascii_digit());
    match error.kind {
        ProviderErrorKind::Auth if is_answer => {
            "; check the key that is set for this service, and what its account may do"
        }
        ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded => {
            "; try again later, or name another model with --fallback-model"
        }
        ProviderErrorKind::Auth
        | ProviderErrorKind::InvalidRequest
        | ProviderErrorKind::ContextOverflow
        | ProviderErrorKind::ContentFilter
        | ProviderErrorKind::Api
        | ProviderErrorKind::Network
        | ProviderErrorKind::Timeout
        | ProviderErrorKind::Malformed
        | ProviderErrorKind::Cancelled => "",
    }
}
