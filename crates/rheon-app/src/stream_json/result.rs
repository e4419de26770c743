//! The line `result`: how a run ended.

use rheon_store::claude::stop_reason_text;
use rheon_types::{AgentOutput, LimitKind, ProviderErrorKind, RunEnd, RunFailure, StopReason, Timestamp};
use serde_json::{Value, json};

use super::facts::StreamModelInfo;
use super::tally::{RunTally, Tally, result_usage};

/// How a run ended, in the format's terms.
struct Verdict {
    subtype: &'static str,
    terminal_reason: &'static str,
    /// What went wrong, unless the run is a success.
    errors: Vec<String>,
    /// The text of the result instead of the last answer.
    instead: Option<String>,
    api_error_status: Option<u16>,
}

/// The fields of a result, but for its ids.
pub(super) fn result(
    output: &AgentOutput,
    ended_at: Timestamp,
    run: &RunTally,
    tally: &Tally,
    model: &StreamModelInfo,
) -> Value {
    let verdict = verdict(output);
    let is_success = verdict.subtype == "success";
    let mut line = json!({
        "type": "result",
        "subtype": verdict.subtype,
        "is_error": !is_success || verdict.instead.is_some(),
        "duration_ms": ended_at.as_millis().saturating_sub(run.began_at.as_millis()),
        "duration_api_ms": run.api_ms,
        "num_turns": output.turns,
        "stop_reason": output.stop_reason().and_then(stop_reason_text),
        "total_cost_usd": tally.cost_usd(),
        "usage": result_usage(&output.usage),
        "modelUsage": tally.by_model(model),
        "permission_denials": run.denials,
        "terminal_reason": verdict.terminal_reason,
        "api_error_status": verdict.api_error_status,
        "fast_mode_state": "off",
        "result_index": tally.results,
    });
    let Value::Object(fields) = &mut line else { return line };
    if is_success {
        let text = verdict.instead.unwrap_or_else(|| output.text.clone());
        fields.insert("result".to_owned(), Value::String(text));
    } else {
        fields.insert("errors".to_owned(), json!(verdict.errors));
    }
    if let Some(structured) = &output.structured {
        fields.insert("structured_output".to_owned(), Value::clone(structured));
    }
    if let Some(ttft_ms) = run.first_token_ms {
        fields.insert("ttft_ms".to_owned(), json!(ttft_ms));
    }
    line
}

fn verdict(output: &AgentOutput) -> Verdict {
    let error = |subtype, terminal_reason, message: String| Verdict {
        subtype,
        terminal_reason,
        errors: vec![message],
        instead: None,
        api_error_status: None,
    };
    let failed = |message: String| error("error_during_execution", "failed", message);
    match &output.end {
        RunEnd::Completed | RunEnd::Truncated => Verdict {
            subtype: "success",
            terminal_reason: "completed",
            errors: Vec::new(),
            instead: None,
            api_error_status: None,
        },
        RunEnd::Limit { limit, message } => match limit {
            LimitKind::Turns => error("error_max_turns", "max_turns", message.clone()),
            LimitKind::Budget => error("error_max_budget_usd", "max_budget", message.clone()),
            LimitKind::Tokens => error("error_during_execution", "max_tokens", message.clone()),
            LimitKind::Duration => error("error_during_execution", "max_duration", message.clone()),
        },
        RunEnd::Rejected { rejection } => error("error_during_execution", "rejected", rejection.clone()),
        RunEnd::Stuck { message } => error("error_during_execution", "stuck", message.clone()),
        RunEnd::Vetoed { message, .. } => error("error_during_execution", "hook_stopped", message.clone()),
        RunEnd::Aborted => {
            let reason = match output.stop_reason() {
                Some(StopReason::ToolUse) => "aborted_tools",
                Some(StopReason::Stop | StopReason::Length | StopReason::Error | StopReason::Aborted)
                | None => "aborted_streaming",
            };
            error("error_during_execution", reason, "the run was cancelled".to_owned())
        }
        RunEnd::Failed { failure } => match failure {
            // A service failure is not an error of the run itself: its message takes the place of the answer.
            RunFailure::Provider { error } => Verdict {
                subtype: "success",
                terminal_reason: "api_error",
                errors: Vec::new(),
                instead: Some(api_error_text(&error.message)),
                api_error_status: status(error.kind),
            },
            RunFailure::Output { message } => {
                error("error_max_structured_output_retries", "structured_output", message.clone())
            }
            RunFailure::Store { .. }
            | RunFailure::Tool { .. }
            | RunFailure::Window { .. }
            | RunFailure::NothingToContinue { .. }
            | RunFailure::Panic { .. } => failed(failure.to_string()),
        },
    }
}

/// What a person reads when the service failed.
pub(super) fn api_error_text(message: &str) -> String {
    format!("API Error: {message}")
}

/// The kind of failure, as the line of the assistant has it.
pub(super) fn api_error_name(kind: ProviderErrorKind) -> &'static str {
    match kind {
        ProviderErrorKind::Auth => "authentication_failed",
        ProviderErrorKind::RateLimited => "rate_limit",
        ProviderErrorKind::InvalidRequest
        | ProviderErrorKind::ContextOverflow
        | ProviderErrorKind::ContentFilter => "invalid_request",
        ProviderErrorKind::Overloaded | ProviderErrorKind::Api => "server_error",
        ProviderErrorKind::Network
        | ProviderErrorKind::Timeout
        | ProviderErrorKind::Malformed
        | ProviderErrorKind::Cancelled => "unknown",
    }
}

/// The HTTP status of an error kind, if it has one.
fn status(kind: ProviderErrorKind) -> Option<u16> {
    match kind {
        ProviderErrorKind::Auth => Some(401),
        ProviderErrorKind::RateLimited => Some(429),
        ProviderErrorKind::Overloaded => Some(529),
        ProviderErrorKind::InvalidRequest | ProviderErrorKind::ContextOverflow => Some(400),
        ProviderErrorKind::Network
        | ProviderErrorKind::Timeout
        | ProviderErrorKind::ContentFilter
        | ProviderErrorKind::Malformed
        | ProviderErrorKind::Cancelled
        | ProviderErrorKind::Api => None,
    }
}
