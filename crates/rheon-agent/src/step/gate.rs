//! Step 4: decides which tool calls may run: known tool, valid arguments, policy, hooks, approval.

use std::sync::Arc;

use rheon_types::event::{
    ApprovalRequest, Danger, PermissionDecision, PermissionResponse, QueuedChange, Subject,
};
use rheon_types::{
    AgentEvent, ApprovalId, ApprovalReason, CallGrant, GateDecision, GateRequest, HookPermission, HookPoint,
    HookVerdict, PlanEvent, RunEvent, ToolCall, ToolError, Verdict,
};
use serde_json::Value;

use crate::approval::{self, digest};
use crate::halt::Halt;
use crate::hooks::{HookStatement, Hooks};
use crate::live::Run;
use crate::step::execute::refuse;
use crate::step::reserve::NOT_RUN;

/// Checks every call of the turn. Calls that may not run are rejected here; the others wait for the next step.
///
/// All approvals are requested before the first answer is awaited, so that the user sees everything a turn is about to
/// do.
pub(crate) async fn gate(run: &mut Run) -> Result<(), Halt> {
    let calls: Vec<ToolCall> = run.turn().calls.iter().map(|open| open.call.clone()).collect();
    let mut questions = Vec::new();
    for (slot, call) in calls.into_iter().enumerate() {
        let (call, verdict) = judge(run, slot, call).await?;
        match verdict {
            Ok(Verdict::Allow) => {}
            Ok(Verdict::Deny { reason }) => refuse(run, slot, &ToolError::Denied(reason)),
            Ok(Verdict::Queue { change }) => queue(run, slot, change),
            Ok(Verdict::Ask { subject, reason, danger, suggested_rule, offers, by: _ }) => {
                let request = ApprovalRequest {
                    id: ApprovalId::from(format!("{}/{}", run.identity.run_id, call.id)),
                    call_id: call.id.clone(),
                    tool_name: call.name.clone(),
                    digest: digest(&call, &subject),
                    subject,
                    reason,
                    danger,
                    child: None,
                    suggested_rule,
                    offers,
                };
                questions.push(approval::ask(run, slot, call, request));
            }
            Err(error) => refuse(run, slot, &error),
        }
    }
    for pending in questions {
        let (slot, request) = (pending.slot, Arc::clone(&pending.request));
        let response = approval::answer(run, pending).await?;
        match response.decision {
            PermissionDecision::Allow => approve(run, slot, request, response).await?,
            PermissionDecision::Deny => {
                let reason = response.message.unwrap_or_else(|| "permission denied".into());
                refuse(run, slot, &ToolError::Denied(reason));
            }
        }
    }
    Ok(())
}

/// Approves a call, possibly with changed arguments if those may run.
async fn approve(
    run: &mut Run,
    slot: usize,
    request: Arc<ApprovalRequest>,
    mut response: PermissionResponse,
) -> Result<(), Halt> {
    let granted = request.offer(&response).map(|offer| offer.grant.clone()).unwrap_or_default();
    let Some(open) = run.turn().calls.get_mut(slot) else { return Ok(()) };
    let Some(arguments) = response.arguments.take() else {
        add_grant(run, slot, &granted);
        if let Some(open) = run.turn().calls.get_mut(slot) {
            open.approved = Some(request);
        }
        return Ok(());
    };
    open.call.arguments = arguments;
    let call = open.call.clone();
    // From here on the call must not change again.
    let digest = digest(&call, &request.subject);
    open.approved = Some(Arc::new(ApprovalRequest { digest, ..ApprovalRequest::clone(&request) }));
    match check(run, slot, &call).await? {
        Ok(Verdict::Allow) => {}
        // The changed arguments need no further approval: the same offer, made about them, counts.
        Ok(Verdict::Ask { offers, .. }) => {
            let chosen = match response.offer {
                Some(id) => offers.into_iter().find(|offer| offer.id == id),
                None => offers.into_iter().next(),
            };
            if let Some(offer) = chosen {
                add_grant(run, slot, &offer.grant);
            }
        }
        Ok(Verdict::Deny { reason }) => refuse(run, slot, &ToolError::Denied(reason)),
        Ok(Verdict::Queue { change }) => queue(run, slot, change),
        Err(error) => refuse(run, slot, &error),
    }
    Ok(())
}

/// Adds what the user's answer grants to what the gate does.
fn add_grant(run: &mut Run, slot: usize, granted: &CallGrant) {
    if let Some(open) = run.turn().calls.get_mut(slot) {
        open.grant = std::mem::take(&mut open.grant).joined(granted);
    }
}

/// Queues a change in the plan instead of running it.
fn queue(run: &mut Run, slot: usize, change: QueuedChange) {
    let reason = format!("not run: queued for the plan: {}", change.summary);
    run.emit(AgentEvent::Plan(PlanEvent::Queued { change: Arc::new(change) }));
    refuse(run, slot, &ToolError::Denied(reason));
}

type CallVerdict = Result<Verdict, ToolError>;

/// Decides about one call. Returns it with its final arguments.
async fn judge(run: &mut Run, slot: usize, call: ToolCall) -> Result<(ToolCall, CallVerdict), Halt> {
    let verdict = check(run, slot, &call).await?;
    let is_open = matches!(verdict, Ok(Verdict::Allow | Verdict::Ask { .. }));
    if !is_open || run.config.hooks.is_empty() {
        return Ok((call, verdict));
    }
    let HookPermission { verdict: opinion, arguments, context } = permit(run, &call).await?;
    let Some(open) = run.turn().calls.get_mut(slot) else { return Ok((call, verdict)) };
    open.context.extend(context);
    let Some(arguments) = arguments else {
        let verdict = verdict.map(|verdict| combine(run, slot, verdict, opinion));
        return Ok((call, verdict));
    };
    // A hook's arguments pass the same checks as the model's.
    open.call.arguments = arguments;
    let call = open.call.clone();
    let verdict = check(run, slot, &call).await?;
    let verdict = verdict.map(|verdict| combine(run, slot, verdict, opinion));
    Ok((call, verdict))
}

/// Checks that the tool exists and the arguments are valid, then calls the gate.
async fn check(run: &mut Run, slot: usize, call: &ToolCall) -> Result<CallVerdict, Halt> {
    let calls_max = run.config.settings.tool_calls_max;
    if slot >= calls_max {
        let text =
            format!("not run: at most {calls_max} tool calls run in one turn; call it again in the next");
        return Ok(Err(ToolError::Denied(text)));
    }
    if run.state.stops.is_wrapping_up {
        return Ok(Err(ToolError::Denied(NOT_RUN.into())));
    }
    if let Some(problem) = &call.malformed {
        return Ok(Err(ToolError::InvalidArgs(problem.clone())));
    }
    let resolved = match run.offer.tools.find(&call.name, &call.arguments) {
        Ok(resolved) => resolved,
        Err(error) => return Ok(Err(error)),
    };
    let decision =
        run.config.gate.check(GateRequest { call, tool: &*resolved.tool, effect: resolved.effect });
    let tool = Arc::clone(&resolved.tool);
    let GateDecision { verdict, facts, grant, order } = run.stop.or(decision.get()).await?;
    // All of it belongs to these arguments; other arguments are checked again.
    if let Some(open) = run.turn().calls.get_mut(slot) {
        (open.facts, open.grant, open.order) = (facts, grant, order);
    }
    // The user is not asked about what cannot succeed.
    if let Verdict::Ask { .. } = verdict
        && let Err(error) = tool.precheck(&call.arguments)
    {
        return Ok(Err(error));
    }
    Ok(Ok(verdict))
}

/// Runs the hooks and emits an event for each decision.
async fn permit(run: &mut Run, call: &ToolCall) -> Result<HookPermission, Halt> {
    let since_ms = run.clock_ms();
    let (permit, statements) = run.stop.or(Hooks(&run.config.hooks).permit_tool(call, &run.log)).await?;
    let duration_ms = run.clock_ms().saturating_sub(since_ms);
    for HookStatement { hook, veto, arguments } in statements {
        let (point, call_id) = (HookPoint::PermitTool, Some(call.id.clone()));
        run.emit(AgentEvent::Run(RunEvent::Hook { hook, point, veto, duration_ms, call_id, arguments }));
    }
    Ok(permit)
}

/// Combines the gate's verdict with the hooks' verdict. Hooks can make it stricter; they can skip an approval only if
/// no rule requires it.
fn combine(run: &mut Run, slot: usize, verdict: Verdict, opinion: Option<HookVerdict>) -> Verdict {
    match (verdict, opinion) {
        (Verdict::Allow | Verdict::Ask { .. }, Some(HookVerdict::Deny(reason))) => Verdict::Deny { reason },
        (Verdict::Ask { by: ApprovalReason::Default, offers, .. }, Some(HookVerdict::Allow)) => {
            // A hook's yes is the plain one.
            if let Some(first) = offers.first() {
                add_grant(run, slot, &first.grant);
            }
            Verdict::Allow
        }
        (Verdict::Allow, Some(HookVerdict::Ask(reason))) => Verdict::Ask {
            subject: Subject::Arguments { arguments: arguments_of(run, slot) },
            reason,
            danger: Danger::Moderate,
            suggested_rule: None,
            offers: Vec::new(),
            by: ApprovalReason::Rule,
        },
        (verdict, Some(HookVerdict::Allow | HookVerdict::Ask(_) | HookVerdict::Deny(_)) | None) => verdict,
    }
}

fn arguments_of(run: &mut Run, slot: usize) -> Arc<Value> {
    run.turn().calls.get(slot).map(|open| Arc::clone(&open.call.arguments)).unwrap_or_default()
}
