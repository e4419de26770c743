//! `plan`: enters plan mode, and leaves it with the user's approval.

use std::fmt::Write;
use std::sync::Arc;

use rheon_macros::Tool;
use rheon_policy::PolicyGate;
use rheon_types::event::{PermissionDecision, PermissionMode, PermissionResponse, QueuedChange, Subject};
use rheon_types::{ToolContext, ToolError, ToolNews, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::builtin::call::{ask, truncate};

const PLAN_CHARACTERS_MAX: usize = 50_000;

/// The most changes in the result, and the most characters of each.
const CHANGES_SHOWN_MAX: usize = 50;
const SUMMARY_CHARACTERS_MAX: usize = 300;

const MESSAGE_CHARACTERS_MAX: usize = 10_000;

#[derive(Tool)]
#[tool(name = "plan", label = "Plan", description = include_str!("plan.md"), effect = "idempotent", arguments = Arguments)]
pub struct PlanTool {
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

impl PlanTool {
    pub fn new(gate: Arc<PolicyGate>) -> Self {
        Self { gate }
    }

    fn enter(&self, context: &ToolContext) -> Result<ToolResult, ToolError> {
        let was_on = self.gate.mode() == PermissionMode::Plan;
        if !was_on {
            let denied = |error| ToolError::Denied(format!("cannot enter plan mode: {error}"));
            self.gate.set_mode(PermissionMode::Plan).map_err(denied)?;
            context.news(ToolNews::Mode(PermissionMode::Plan));
        }
        Ok(outcome("enter", if was_on { "already" } else { "entered" }, include_str!("plan/entered.md"), &[]))
    }

    async fn exit(&self, plan: String, context: &ToolContext) -> Result<ToolResult, ToolError> {
        if self.gate.mode() != PermissionMode::Plan {
            let problem = "plan mode is not on; continue with the work";
            return Err(ToolError::Failed(problem.into()));
        }
        let changes = self.gate.queued_changes();
        let subject = Subject::Plan { plan, changes: changes.clone() };
        let answer =
            ask(context, subject, "the model wants to leave plan mode and carry out its plan").await?;
        let Some(answer) = answer else {
            return Ok(outcome("exit", "nobody", include_str!("plan/non_interactive.md"), &changes));
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
        let Some((mode, changes)) = self.gate.approve_plan_as_shown(shown) else {
            return outcome("exit", "changed", include_str!("plan/changed.md"), &self.gate.queued_changes());
        };
        report_resolved(&changes, PermissionDecision::Allow, context);
        context.news(ToolNews::Mode(mode));
        let mut text = "The user approved the plan. Plan mode is off.".to_owned();
        // Writing to a string cannot fail.
        if changes.is_empty() {
            text.push_str(" No calls were queued; carry out the plan.");
        } else {
            text.push_str(
                " Make these calls now, exactly as you queued them, each once; they need no further approval:",
            );
        }
        for change in changes.iter().take(CHANGES_SHOWN_MAX) {
            let summary = truncate(&change.summary, SUMMARY_CHARACTERS_MAX);
            write!(text, "\n- {} ({}): {summary}", change.tool_name, change.call_id).ok();
        }
        if let rest @ 1.. = changes.len().saturating_sub(CHANGES_SHOWN_MAX) {
            write!(text, "\n[{rest} more queued calls]").ok();
        }
        text.push_str(&user_message(answer));
        outcome("exit", "approved", &text, &changes)
    }

    fn reject(&self, answer: &PermissionResponse, context: &ToolContext) -> ToolResult {
        let changes = self.gate.reject_plan();
        report_resolved(&changes, PermissionDecision::Deny, context);
        let text = format!("{}{}", include_str!("plan/rejected.md").trim_end(), user_message(answer));
        outcome("exit", "rejected", &text, &changes)
    }

    async fn run(&self, arguments: Arguments, context: ToolContext) -> Result<ToolResult, ToolError> {
        match arguments.action {
            Action::Enter => self.enter(&context),
            Action::Exit => self.exit(checked(arguments.plan)?, &context).await,
        }
    }
}

fn checked(plan: Option<String>) -> Result<String, ToolError> {
    let plan = plan
        .filter(|plan| !plan.trim().is_empty())
        .ok_or_else(|| ToolError::InvalidArgs("`plan` is missing: describe what you want to do".into()))?;
    let count = plan.chars().count();
    if count > PLAN_CHARACTERS_MAX {
        let problem =
            format!("`plan` has {count} characters; the limit is {PLAN_CHARACTERS_MAX}; shorten it");
        return Err(ToolError::InvalidArgs(problem));
    }
    Ok(plan)
}

fn report_resolved(changes: &[QueuedChange], decision: PermissionDecision, context: &ToolContext) {
    for change in changes {
        context.news(ToolNews::PlanResolved { call_id: change.call_id.clone(), decision });
    }
}

fn user_message(answer: &PermissionResponse) -> String {
    match answer.message.as_deref().map(str::trim) {
        Some(message) if !message.is_empty() => {
            format!("\nThe user says: {}", truncate(message, MESSAGE_CHARACTERS_MAX))
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
