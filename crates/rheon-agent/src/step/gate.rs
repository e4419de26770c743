//! Step 4: which tool calls may run: known tool, fitting arguments, policy, hooks, approval.

use std::sync::Arc;

use rheon_types::event::{ApprovalRequest, Danger, PermissionDecision, QueuedChange, Subject};
use rheon_types::{
    AgentEvent, ApprovalId, AskedBy, GateRequest, HookPoint, Judgement, Opinion, Permit, PlanEvent, RunEvent,
    ToolCall, ToolError, Verdict,
};
use serde_json::Value;

use crate::approval::{self, digest};
use crate::halt::Halt;
use crate::hooks::{Hooks, Spoke};
use crate::live::Run;
use crate::step::execute::refuse;
use crate::step::reserve::NOT_RUN;

/// Judges every call of the turn. Those that may not run are answered here; the others wait for the next step.
///
/// All questions are asked before any answer is waited for, so that a user sees everything a turn wants to do.
pub(crate) async fn gate(run: &mut Run) -> Result<(), Halt> {
    let calls: Vec<ToolCall> = run.turn().calls.iter().map(|open| open.call.clone()).collect();
    let mut questions = Vec::new();
    for (slot, call) in calls.into_iter().enumerate() {
        let (call, verdict) = judge(run, slot, call).await?;
        match verdict {
            Ok(Verdict::Allow) => {}
            Ok(Verdict::Deny { reason }) => refuse(run, slot, &ToolError::Denied(reason)),
            Ok(Verdict::Queue { change }) => queue(run, slot, change),
            Ok(Verdict::Ask { subject, reason, danger, suggested_rule, by: _ }) => {
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
                };
                questions.push(approval::ask(run, slot, call, request));
            }
            Err(error) => refuse(run, slot, &error),
        }
    }
    for asked in questions {
        let (slot, request) = (asked.slot, Arc::clone(&asked.request));
        let response = approval::answer(run, asked).await?;
        match response.decision {
            PermissionDecision::Allow => approve(run, slot, request, response.arguments).await?,
            PermissionDecision::Deny => {
                let said = response.message.unwrap_or_else(|| "permission denied".into());
                refuse(run, slot, &ToolError::Denied(said));
            }
        }
    }
    Ok(())
}

/// Lets a call wait for its turn that somebody said yes to; with other arguments than were asked about, if they may run at all.
async fn approve(
    run: &mut Run,
    slot: usize,
    request: Arc<ApprovalRequest>,
    arguments: Option<Arc<Value>>,
) -> Result<(), Halt> {
    let Some(open) = run.turn().calls.get_mut(slot) else { return Ok(()) };
    let Some(arguments) = arguments else {
        open.approved = Some(request);
        return Ok(());
    };
    open.call.arguments = arguments;
    let call = open.call.clone();
    // From here on the call may not become yet another one.
    let digest = digest(&call, &request.subject);
    open.approved = Some(Arc::new(ApprovalRequest { digest, ..ApprovalRequest::clone(&request) }));
    match check(run, slot, &call).await? {
        // Whoever changed the call has answered what would be asked about it.
        Ok(Verdict::Allow | Verdict::Ask { .. }) => {}
        Ok(Verdict::Deny { reason }) => refuse(run, slot, &ToolError::Denied(reason)),
        Ok(Verdict::Queue { change }) => queue(run, slot, change),
        Err(error) => refuse(run, slot, &error),
    }
    Ok(())
}

/// A change waits in the plan instead of running.
fn queue(run: &mut Run, slot: usize, change: QueuedChange) {
    let said = format!("not run: queued for the plan: {}", change.summary);
    run.emit(AgentEvent::Plan(PlanEvent::Queued { change: Arc::new(change) }));
    refuse(run, slot, &ToolError::Denied(said));
}

type Judged = Result<Verdict, ToolError>;

/// What becomes of one call, with the arguments that count.
async fn judge(run: &mut Run, slot: usize, call: ToolCall) -> Result<(ToolCall, Judged), Halt> {
    let verdict = check(run, slot, &call).await?;
    let is_open = matches!(verdict, Ok(Verdict::Allow | Verdict::Ask { .. }));
    if !is_open || run.config.hooks.is_empty() {
        return Ok((call, verdict));
    }
    let Permit { opinion, arguments, context } = permit(run, &call).await?;
    let Some(open) = run.turn().calls.get_mut(slot) else { return Ok((call, verdict)) };
    open.context.extend(context);
    let Some(arguments) = arguments else {
        let verdict = verdict.map(|verdict| heed(verdict, opinion, &call));
        return Ok((call, verdict));
    };
    // What a hook wrote passes everything that the model's own words pass.
    open.call.arguments = arguments;
    let call = open.call.clone();
    let verdict = check(run, slot, &call).await?;
    let verdict = verdict.map(|verdict| heed(verdict, opinion, &call));
    Ok((call, verdict))
}

/// Known tool, fitting arguments, and what the gate says.
async fn check(run: &mut Run, slot: usize, call: &ToolCall) -> Result<Judged, Halt> {
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
    let found = match run.offer.tools.find(&call.name, &call.arguments) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    let asked = run.config.gate.check(GateRequest { call, tool: &*found.tool, effect: found.effect });
    let Judgement { verdict, facts } = run.stop.or(asked.get()).await?;
    // They are about these arguments; others come here again.
    if let Some(open) = run.turn().calls.get_mut(slot) {
        open.facts = facts;
    }
    Ok(Ok(verdict))
}

/// What the hooks say, told by an event where they say anything.
async fn permit(run: &mut Run, call: &ToolCall) -> Result<Permit, Halt> {
    let since_ms = run.clock_ms();
    let (permit, spoke) = run.stop.or(Hooks(&run.config.hooks).permit_tool(call, &run.log)).await?;
    let duration_ms = run.clock_ms().saturating_sub(since_ms);
    for Spoke { hook, veto, arguments } in spoke {
        let (point, call_id) = (HookPoint::PermitTool, Some(call.id.clone()));
        run.emit(AgentEvent::Run(RunEvent::Hook { hook, point, veto, duration_ms, call_id, arguments }));
    }
    Ok(permit)
}

/// The gate's verdict and the hooks' opinion together. Hooks make it stricter; they spare a question only where no rule
/// asks it.
fn heed(verdict: Verdict, opinion: Option<Opinion>, call: &ToolCall) -> Verdict {
    match (verdict, opinion) {
        (Verdict::Allow | Verdict::Ask { .. }, Some(Opinion::Deny(reason))) => Verdict::Deny { reason },
        (Verdict::Ask { by: AskedBy::Default, .. }, Some(Opinion::Allow)) => Verdict::Allow,
        (Verdict::Allow, Some(Opinion::Ask(reason))) => Verdict::Ask {
            subject: Subject::Arguments { arguments: Arc::clone(&call.arguments) },
            reason,
            danger: Danger::Moderate,
            suggested_rule: None,
            by: AskedBy::Rule,
        },
        (verdict, Some(Opinion::Allow | Opinion::Ask(_) | Opinion::Deny(_)) | None) => verdict,
    }
}
