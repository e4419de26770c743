//! Asking: a question becomes an event, waits for its answer, and is closed by another event.

use std::sync::Arc;

use futures::future::{Either, select};
use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse, Responder, Subject};
use rheon_types::{AgentEvent, ApprovalEvent, ApprovalId, ToolCall};
use serde_json::Value;

use crate::control::Question;
use crate::halt::Halt;
use crate::hooks::Hooks;
use crate::live::Run;

/// What a call and what is shown of it have in common with nothing else.
pub(crate) fn digest(call: &ToolCall, subject: &Subject) -> String {
    let mut hasher = blake3::Hasher::new();
    // A value that cannot be written has no digest that anything could equal.
    let parts = serde_json::to_writer(&mut hasher, &(&call.name, &call.arguments, subject));
    match parts {
        Ok(()) => hasher.finalize().to_hex().to_string(),
        Err(error) => format!("none: {error}"),
    }
}

/// Whether a call is still what somebody said yes to.
pub(crate) fn matches_approval(call: &ToolCall, shown: &ApprovalRequest) -> bool {
    digest(call, &shown.subject) == shown.digest
}

/// An answer to `request`, if it is one: who answers something else has not answered this.
pub(crate) fn fitting(request: &ApprovalRequest, response: PermissionResponse) -> PermissionResponse {
    match &response.digest {
        Some(digest) if *digest != request.digest => PermissionResponse::denied(
            "permission denied: the answer was given to something else than was asked",
        ),
        Some(_) | None => response,
    }
}

/// A question about a call of the turn that waits for its answer.
pub(crate) struct PendingApproval {
    pub(crate) slot: usize,
    call: ToolCall,
    pub(crate) request: Arc<ApprovalRequest>,
    question: Option<Question>,
}

/// Shows a question about the call in `slot`.
pub(crate) fn ask(run: &mut Run, slot: usize, call: ToolCall, request: ApprovalRequest) -> PendingApproval {
    // The question is open before it is seen, so that an answer cannot come too early.
    let question = run.config.control.ask(request.id.clone());
    let request = Arc::new(request);
    run.turn().questions.push(request.id.clone());
    run.emit(AgentEvent::Approval(ApprovalEvent::Required { request: Arc::clone(&request) }));
    PendingApproval { slot, call, request, question }
}

/// Waits for the answer of whoever gives one first, a hook or a person.
pub(crate) async fn answer(run: &mut Run, asked: PendingApproval) -> Result<PermissionResponse, Halt> {
    let PendingApproval { call, request, question, .. } = asked;
    let hooks = Hooks(&run.config.hooks);
    let (response, by) = run.stop.or(first_answer(hooks, &call, &request, question)).await?;
    let mut response = fitting(&request, response);
    // Only a yes has anything to run, and what was asked about is no change.
    let is_changed = |arguments: &Arc<Value>| {
        response.decision == PermissionDecision::Allow && *arguments != call.arguments
    };
    response.arguments = response.arguments.take().filter(is_changed);
    resolve(run, &request.id, &response, by);
    run.config.gate.resolved(&request, &response);
    Ok(response)
}

async fn first_answer(
    hooks: Hooks<'_>,
    call: &ToolCall,
    request: &ApprovalRequest,
    question: Option<Question>,
) -> (PermissionResponse, Responder) {
    let nobody = || (non_interactive_denial(request), Responder::NonInteractive);
    let by_user = async {
        match question {
            Some(mut question) => question.answer().await,
            None => None,
        }
    };
    let said = |response| (response, Responder::User);
    if hooks.0.is_empty() {
        return by_user.await.map_or_else(nobody, said);
    }
    let by_hook = std::pin::pin!(hooks.answer_approval(call, request));
    match select(by_hook, std::pin::pin!(by_user)).await {
        Either::Left((Some(response), _)) => (response, Responder::Hook),
        Either::Left((None, by_user)) => by_user.await.map_or_else(nobody, said),
        Either::Right((Some(response), _)) => said(response),
        // Nobody is there, but a hook may still know.
        Either::Right((None, by_hook)) => {
            by_hook.await.map_or_else(nobody, |response| (response, Responder::Hook))
        }
    }
}

/// Emits `approval.resolved` and closes the question.
fn resolve(run: &mut Run, id: &ApprovalId, response: &PermissionResponse, by: Responder) {
    run.turn().questions.retain(|open| open != id);
    run.emit(resolved(id, response, by));
}

/// The event that closes a question.
pub(crate) fn resolved(id: &ApprovalId, response: &PermissionResponse, by: Responder) -> AgentEvent {
    let PermissionResponse { decision, scope, arguments, .. } = response;
    AgentEvent::Approval(ApprovalEvent::Resolved {
        request_id: id.clone(),
        decision: *decision,
        scope: *scope,
        by,
        arguments: arguments.clone(),
    })
}

/// Closes the questions of a turn that ends before they are answered.
pub(crate) fn withdraw_questions(run: &mut Run) {
    for id in std::mem::take(&mut run.turn().questions) {
        run.emit(resolved(&id, &withdrawn(), Responder::Cancelled));
    }
}

/// The answer to a question that nobody needs answered any more.
pub(crate) fn withdrawn() -> PermissionResponse {
    PermissionResponse::denied("the run was stopped before an answer came")
}

/// The answer where nobody can be asked.
pub(crate) fn non_interactive_denial(request: &ApprovalRequest) -> PermissionResponse {
    PermissionResponse::denied(format!(
        "permission denied: {} needs approval ({}) and nobody is there to give it",
        request.tool_name, request.reason
    ))
}
