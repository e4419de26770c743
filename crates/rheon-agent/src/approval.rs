//! Approvals: emits a request, waits for the answer and emits the decision.

use std::sync::Arc;

use futures::future::{Either, select};
use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse, Responder, Subject};
use rheon_types::{AgentEvent, ApprovalEvent, ApprovalId, ToolCall};
use serde_json::Value;

use crate::control::Question;
use crate::halt::Halt;
use crate::hooks::Hooks;
use crate::live::Run;

/// A digest of a call and what the user sees of it.
pub(crate) fn digest(call: &ToolCall, subject: &Subject) -> String {
    let mut hasher = blake3::Hasher::new();
    // A value that cannot be serialized has a digest that nothing matches.
    let parts = serde_json::to_writer(&mut hasher, &(&call.name, &call.arguments, subject));
    match parts {
        Ok(()) => hasher.finalize().to_hex().to_string(),
        Err(error) => format!("none: {error}"),
    }
}

/// Whether a call is still the one that was approved.
pub(crate) fn matches_approval(call: &ToolCall, approved: &ApprovalRequest) -> bool {
    digest(call, &approved.subject) == approved.digest
}

/// Returns `response`, or a denial if it answers a different request.
pub(crate) fn fitting(request: &ApprovalRequest, response: PermissionResponse) -> PermissionResponse {
    match &response.digest {
        Some(digest) if *digest != request.digest => {
            PermissionResponse::denied("permission denied: the answer belongs to a different request")
        }
        Some(_) | None => known_offer(request, response),
    }
}

/// Returns `response`, or a denial if it chooses an offer that the request does not have.
fn known_offer(request: &ApprovalRequest, response: PermissionResponse) -> PermissionResponse {
    let Some(chosen) = response.offer.as_deref() else { return response };
    if response.decision == PermissionDecision::Deny || request.offer(&response).is_some() {
        return response;
    }
    let ids: Vec<&str> = request.offers.iter().map(|offer| offer.id.as_str()).collect();
    let known = if ids.is_empty() { "it has none".to_owned() } else { format!("it has {}", ids.join(", ")) };
    PermissionResponse::denied(format!(
        "permission denied: the answer chose the offer {chosen:?}, which the request does not have; {known}"
    ))
}

/// An approval request that waits for its answer.
pub(crate) struct PendingApproval {
    pub(crate) slot: usize,
    call: ToolCall,
    pub(crate) request: Arc<ApprovalRequest>,
    question: Option<Question>,
}

/// Requests approval for the call in `slot`.
pub(crate) fn ask(run: &mut Run, slot: usize, call: ToolCall, request: ApprovalRequest) -> PendingApproval {
    // Open the question before emitting the event, so that an answer cannot come too early.
    let question = run.config.control.ask(request.id.clone());
    let request = Arc::new(request);
    run.turn().questions.push(request.id.clone());
    run.emit(AgentEvent::Approval(ApprovalEvent::Required { request: Arc::clone(&request) }));
    PendingApproval { slot, call, request, question }
}

/// Waits for the first answer, from a hook or a person.
pub(crate) async fn answer(run: &mut Run, asked: PendingApproval) -> Result<PermissionResponse, Halt> {
    let PendingApproval { call, request, question, .. } = asked;
    let hooks = Hooks(&run.config.hooks);
    let waiting = run.stop.waits().begin();
    let (response, by) = run.stop.or(first_answer(hooks, &call, &request, question)).await?;
    drop(waiting);
    let mut response = fitting(&request, response);
    // Only an approval can change arguments, and identical arguments are not a change.
    let is_changed = |arguments: &Arc<Value>| {
        response.decision == PermissionDecision::Allow && *arguments != call.arguments
    };
    response.arguments = response.arguments.take().filter(is_changed);
    resolve(run, &request.id, &response, by);
    run.config.gate.resolved(&request, &response);
    Ok(response)
}

/// The first answer, from a hook or a person, and who gave it.
pub(crate) async fn first_answer(
    hooks: Hooks<'_>,
    call: &ToolCall,
    request: &ApprovalRequest,
    question: Option<Question>,
) -> (PermissionResponse, Responder) {
    let denied = || (non_interactive_denial(request), Responder::NonInteractive);
    let by_user = async {
        match question {
            Some(mut question) => question.answer().await,
            None => None,
        }
    };
    let by_person = |response| (response, Responder::User);
    if hooks.0.is_empty() {
        return by_user.await.map_or_else(denied, by_person);
    }
    let by_hook = std::pin::pin!(hooks.answer_approval(call, request));
    match select(by_hook, std::pin::pin!(by_user)).await {
        Either::Left((Some(response), _)) => (response, Responder::Hook),
        Either::Left((None, by_user)) => by_user.await.map_or_else(denied, by_person),
        Either::Right((Some(response), _)) => by_person(response),
        // No user can answer, but a hook still may.
        Either::Right((None, by_hook)) => {
            by_hook.await.map_or_else(denied, |response| (response, Responder::Hook))
        }
    }
}

/// Emits `approval.resolved` and closes the request.
fn resolve(run: &mut Run, id: &ApprovalId, response: &PermissionResponse, by: Responder) {
    run.turn().questions.retain(|open| open != id);
    run.emit(resolved(id, response, by));
}

/// The event that closes a request.
pub(crate) fn resolved(id: &ApprovalId, response: &PermissionResponse, by: Responder) -> AgentEvent {
    let PermissionResponse { decision, scope, arguments, offer, .. } = response;
    AgentEvent::Approval(ApprovalEvent::Resolved {
        request_id: id.clone(),
        decision: *decision,
        scope: *scope,
        by,
        arguments: arguments.clone(),
        offer: offer.clone(),
    })
}

/// Closes the open requests of a turn that ends early.
pub(crate) fn withdraw_questions(run: &mut Run) {
    for id in std::mem::take(&mut run.turn().questions) {
        run.emit(resolved(&id, &withdrawn(), Responder::Cancelled));
    }
}

/// The answer to a request that is no longer needed.
pub(crate) fn withdrawn() -> PermissionResponse {
    PermissionResponse::denied("the run stopped before the request was answered")
}

/// The answer in a non-interactive run.
fn non_interactive_denial(request: &ApprovalRequest) -> PermissionResponse {
    PermissionResponse::denied(format!(
        "permission denied: {} needs approval ({}), but this run is non-interactive",
        request.tool_name, request.reason
    ))
}
