//! Step 4: which tool calls may run: known tool, fitting arguments, policy, approval.

use std::sync::Arc;

use rheon_types::event::{ApprovalRequest, PermissionDecision, PermissionResponse, Responder, Scope};
use rheon_types::{AgentEvent, ApprovalId, GateRequest, ToolCall, ToolError, Verdict};

use crate::control::Question;
use crate::halt::Halt;
use crate::live::Run;
use crate::step::execute::refuse;

/// Judges every call of the turn. Those that may not run are answered here; the others wait for the next step.
///
/// All questions are asked before any answer is waited for, so that a user sees everything a turn wants to do.
pub(crate) async fn gate(run: &mut Run) -> Result<(), Halt> {
    let calls: Vec<ToolCall> = run.turn().calls.iter().map(|open| open.call.clone()).collect();
    let mut questions = Vec::new();
    for (slot, call) in calls.iter().enumerate() {
        match judge(run, slot, call).await? {
            Judged::Allowed => {}
            Judged::Refused(error) => refuse(run, slot, &error),
            Judged::Asked(request, question) => questions.push((slot, request, question)),
        }
    }
    for (slot, request, question) in questions {
        let response = await_answer(run, &request, question).await?;
        if response.decision == PermissionDecision::Deny {
            let said = response.message.unwrap_or_else(|| "permission denied".into());
            refuse(run, slot, &ToolError::Denied(said));
        }
    }
    Ok(())
}

enum Judged {
    Allowed,
    Refused(ToolError),
    Asked(Arc<ApprovalRequest>, Option<Question>),
}

async fn judge(run: &mut Run, slot: usize, call: &ToolCall) -> Result<Judged, Halt> {
    let calls_max = run.config.settings.tool_calls_max;
    if slot >= calls_max {
        let text =
            format!("not run: at most {calls_max} tool calls run in one turn; call it again in the next");
        return Ok(Judged::Refused(ToolError::Denied(text)));
    }
    if let Some(problem) = &call.malformed {
        return Ok(Judged::Refused(ToolError::InvalidArgs(problem.clone())));
    }
    let found = match run.config.tools.find(&call.name, &call.arguments) {
        Ok(found) => found,
        Err(error) => return Ok(Judged::Refused(error)),
    };
    let asked = run.config.gate.check(GateRequest { call, tool: &*found.tool, effect: found.effect });
    Ok(match run.stop.or(asked.get()).await? {
        Verdict::Allow => Judged::Allowed,
        Verdict::Deny { reason } => Judged::Refused(ToolError::Denied(reason)),
        Verdict::Queue { change } => {
            let summary = change.summary.clone();
            run.emit(AgentEvent::PlanQueued { change: Arc::new(change) });
            Judged::Refused(ToolError::Denied(format!("not run: queued for the plan: {summary}")))
        }
        Verdict::Ask { subject, reason, danger, suggested_rule } => {
            let id = ApprovalId::from(format!("{}/{}", run.identity.loop_id, call.id));
            // The question is open before it is seen, so that an answer cannot come too early.
            let question = run.config.control.ask(id.clone());
            let request = Arc::new(ApprovalRequest {
                id,
                call_id: call.id.clone(),
                tool_name: call.name.clone(),
                subject,
                reason,
                danger,
                suggested_rule,
            });
            run.turn().questions.push(request.id.clone());
            run.emit(AgentEvent::ApprovalRequired { request: Arc::clone(&request) });
            Judged::Asked(request, question)
        }
    })
}

async fn await_answer(
    run: &mut Run,
    request: &ApprovalRequest,
    question: Option<Question>,
) -> Result<PermissionResponse, Halt> {
    let answered = match question {
        None => None,
        Some(mut question) => run.stop.or(question.answer()).await?,
    };
    let (response, by) = match answered {
        Some(response) => (response, Responder::User),
        None => (nobody_there(request), Responder::Nobody),
    };
    resolve(run, &request.id, &response, by);
    run.config.gate.resolved(request, &response);
    Ok(response)
}

/// Emits `approval.resolved` and closes the question.
fn resolve(run: &mut Run, id: &ApprovalId, response: &PermissionResponse, by: Responder) {
    run.turn().questions.retain(|open| open != id);
    run.emit(AgentEvent::ApprovalResolved {
        request_id: id.clone(),
        decision: response.decision,
        scope: response.scope,
        by,
    });
}

/// Closes the questions of a turn that ends before they are answered.
pub(crate) fn withdraw_questions(run: &mut Run) {
    for id in std::mem::take(&mut run.turn().questions) {
        resolve(run, &id, &PermissionDecision::Deny.into(), Responder::Cancelled);
    }
}

fn nobody_there(request: &ApprovalRequest) -> PermissionResponse {
    let message = format!(
        "permission denied: {} needs approval ({}) and nobody is there to give it",
        request.tool_name, request.reason
    );
    PermissionResponse { decision: PermissionDecision::Deny, scope: Scope::Once, message: Some(message) }
}
