//! `plan`: into plan mode, and out of it with the user's consent.

use std::fmt::Write;
use std::sync::Arc;

use rheon_macros::Tool;
use rheon_policy::PolicyGate;
use rheon_types::event::{PermissionDecision, PermissionMode, PermissionResponse, QueuedChange, Subject};
use rheon_types::{ToolContext, ToolError, ToolFact, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::builtin::call::{ask, clipped};

/// How many characters a plan may have.
const PLAN_CHARACTERS_MAX: usize = 50_000;

/// How many changes the result repeats, and how much of each.
const CHANGES_SHOWN_MAX: usize = 50;
const SUMMARY_CHARACTERS_MAX: usize = 300;

/// How much of what the user says is passed on.
const MESSAGE_CHARACTERS_MAX: usize = 10_000;

/// Enters and leaves plan mode.
#[derive(Tool)]
#[tool(label = "Plan", description = include_str!("plan.md"), effect = "idempotent", arguments = Arguments)]
pub struct Plan {
    gate: Arc<PolicyGate>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: Action,
    /// In Markdown; needed to exit.
    #[schemars(length(max = 50000))]
    plan: Option<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Action {
    Enter,
    Exit,
}

impl Plan {
    /// The tool for the session that this gate guards.
    pub fn new(gate: Arc<PolicyGate>) -> Self {
        Self { gate }
    }

    fn enter(&self, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let was_on = self.gate.mode() == PermissionMode::Plan;
        if !was_on {
            let refused = |error| ToolError::Denied(format!("plan mode cannot be entered: {error}"));
            self.gate.set_mode(PermissionMode::Plan).map_err(refused)?;
            context.record(ToolFact::Mode(PermissionMode::Plan));
        }
        Ok(outcome("enter", if was_on { "already" } else { "entered" }, include_str!("plan/entered.md"), &[]))
    }

    async fn exit(&self, plan: String, context: &ToolContext) -> Result<ToolResult, ToolError> {
        if self.gate.mode() != PermissionMode::Plan {
            let problem = "plan mode is not on, so there is nothing to leave; go on with the work";
            return Err(ToolError::Failed(problem.into()));
        }
        let changes = self.gate.queued_changes();
        let subject = Subject::Plan { plan, changes: changes.clone() };
        let answer =
            ask(context, subject, "the model wants to leave plan mode and carry out its plan").await?;
        let Some(answer) = answer else {
            return Ok(outcome("exit", "nobody", include_str!("plan/nobody.md"), &changes));
        };
        Ok(match answer.decision {
            PermissionDecision::Allow => self.approve(&changes, &answer, context),
            PermissionDecision::Deny => self.reject(&answer, context),
        })
    }

    fn approve(
        &self,
        shown: &[QueuedChange],
        answer: &PermissionResponse,
        context: &ToolContext,
    ) -> ToolResult {
        let Some((mode, changes)) = self.gate.approve_shown_plan(shown) else {
            return outcome("exit", "changed", include_str!("plan/changed.md"), &self.gate.queued_changes());
        };
        tell(&changes, PermissionDecision::Allow, context);
        context.record(ToolFact::Mode(mode));
        let mut text = "The user agrees with the plan, and plan mode is over.".to_owned();
        // Writing to a string cannot fail.
        if changes.is_empty() {
            text.push_str(" Nothing was queued; carry out the plan.");
        } else {
            text.push_str(
                " Make these calls now, exactly as you queued them, each once; nobody is asked again:",
            );
        }
        for change in changes.iter().take(CHANGES_SHOWN_MAX) {
            let summary = clipped(&change.summary, SUMMARY_CHARACTERS_MAX);
            write!(text, "\n- {} ({}): {summary}", change.tool_name, change.call_id).ok();
        }
        if let rest @ 1.. = changes.len().saturating_sub(CHANGES_SHOWN_MAX) {
            write!(text, "\n[{rest} more that were queued after these]").ok();
        }
        text.push_str(&said(answer));
        outcome("exit", "approved", &text, &changes)
    }

    fn reject(&self, answer: &PermissionResponse, context: &ToolContext) -> ToolResult {
        let changes = self.gate.reject_plan();
        tell(&changes, PermissionDecision::Deny, context);
        let text = format!("{}{}", include_str!("plan/rejected.md").trim_end(), said(answer));
        outcome("exit", "rejected", &text, &changes)
    }

    async fn run(&self, given: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        match given.action {
            Action::Enter => self.enter(&context),
            Action::Exit => self.exit(checked(given.plan)?, &context).await,
        }
    }
}

fn checked(plan: Option<String>) -> Result<String, ToolError> {
    let plan = plan.filter(|plan| !plan.trim().is_empty()).ok_or_else(|| {
        ToolError::InvalidArgs("`plan` is missing: to leave plan mode, say what you want to do".into())
    })?;
    let count = plan.chars().count();
    if count > PLAN_CHARACTERS_MAX {
        let problem =
            format!("`plan` has {count} characters, more than {PLAN_CHARACTERS_MAX}; say it shorter");
        return Err(ToolError::InvalidArgs(problem));
    }
    Ok(plan)
}

fn tell(changes: &[QueuedChange], decision: PermissionDecision, context: &ToolContext) {
    for change in changes {
        context.record(ToolFact::PlanResolved { call_id: change.call_id.clone(), decision });
    }
}

fn said(answer: &PermissionResponse) -> String {
    match answer.message.as_deref().map(str::trim) {
        Some(message) if !message.is_empty() => {
            format!("\nThe user says: {}", clipped(message, MESSAGE_CHARACTERS_MAX))
        }
        Some(_) | None => String::new(),
    }
}

fn outcome(action: &str, outcome: &str, text: &str, changes: &[QueuedChange]) -> ToolResult {
    let changes: Vec<Value> = changes
        .iter()
        .map(|change| {
            json!({ "callId": change.call_id, "toolName": change.tool_name, "summary": change.summary })
        })
        .collect();
    let details = json!({ "action": action, "outcome": outcome, "changes": changes });
    ToolResult::text(text.trim_end()).with_details(details)
}
