//! Calls the hooks of a run in order.

use std::sync::Arc;

use rheon_types::event::{ApprovalRequest, CompactionTrigger, PermissionResponse};
use rheon_types::{
    AgentOutput, Amendment, Flow, History, Hook, HookPermission, HookVerdict, ToolCall, ToolError,
    ToolResult, Usage,
};
use serde_json::Value;

use crate::live::RunLog;

/// A hook's decision on a call, for the log.
pub(crate) struct HookStatement {
    pub(crate) hook: String,
    pub(crate) veto: Option<String>,
    /// Replacement arguments.
    pub(crate) arguments: Option<Arc<Value>>,
}

/// A hook's veto of a compaction.
pub(crate) struct CompactionVeto {
    pub(crate) hook: String,
    pub(crate) reason: String,
}

/// The hooks of a run, in order.
#[derive(Clone, Copy)]
pub(crate) struct Hooks<'a>(pub(crate) &'a [Arc<dyn Hook>]);

impl Hooks<'_> {
    pub(crate) async fn before_run(self, history: &History, run_index: usize) -> Flow {
        for hook in self.0 {
            let flow = hook.before_run(history, run_index).get().await;
            if flow != Flow::Continue {
                return flow;
            }
        }
        Flow::Continue
    }

    pub(crate) async fn after_run(self, output: &AgentOutput) {
        for hook in self.0 {
            hook.after_run(output).get().await;
        }
    }

    pub(crate) async fn before_turn(self, history: &History, turn_index: u32) -> Flow {
        for hook in self.0 {
            let flow = hook.before_turn(history, turn_index).get().await;
            if flow != Flow::Continue {
                return flow;
            }
        }
        Flow::Continue
    }

    pub(crate) async fn after_turn(self, history: &History, usage: &Usage) {
        for hook in self.0 {
            hook.after_turn(history, usage).get().await;
        }
    }

    pub(crate) async fn before_tool(self, call: &ToolCall, log: &RunLog) -> Flow {
        for hook in self.0 {
            let flow = hook.before_tool(call).get().await;
            log_reports(&**hook, log);
            if flow != Flow::Continue {
                return flow;
            }
        }
        Flow::Continue
    }

    /// Combines the decisions of all hooks: the strictest verdict, the last arguments and all context. Also returns
    /// which hooks made a decision.
    pub(crate) async fn permit_tool(
        self,
        call: &ToolCall,
        log: &RunLog,
    ) -> (HookPermission, Vec<HookStatement>) {
        let (mut joined, mut statements) = (HookPermission::default(), Vec::new());
        for hook in self.0 {
            let permit = hook.permit_tool(call).get().await;
            log_reports(&**hook, log);
            if permit == HookPermission::default() {
                continue;
            }
            let veto = match &permit.verdict {
                Some(HookVerdict::Deny(reason)) => Some(reason.clone()),
                Some(HookVerdict::Allow | HookVerdict::Ask(_)) | None => None,
            };
            statements.push(HookStatement {
                hook: hook.name().to_owned(),
                veto,
                arguments: permit.arguments.clone(),
            });
            joined.verdict = joined.verdict.max(permit.verdict);
            joined.arguments = permit.arguments.or(joined.arguments);
            joined.context.extend(permit.context);
        }
        (joined, statements)
    }

    pub(crate) async fn answer_approval(
        self,
        call: &ToolCall,
        request: &ApprovalRequest,
    ) -> Option<PermissionResponse> {
        for hook in self.0 {
            let response = hook.answer_approval(call, request).get().await;
            if response.is_some() {
                return response;
            }
        }
        None
    }

    pub(crate) async fn before_stop(self, history: &History, vetoes: u32) -> Flow {
        for hook in self.0 {
            let flow = hook.before_stop(history, vetoes).get().await;
            if flow != Flow::Continue {
                return flow;
            }
        }
        Flow::Continue
    }

    /// The first veto, and whose it is.
    pub(crate) async fn before_compaction(
        self,
        trigger: CompactionTrigger,
        instructions: Option<&str>,
    ) -> Option<CompactionVeto> {
        for hook in self.0 {
            match hook.before_compaction(trigger, instructions).get().await {
                Flow::Continue => {}
                Flow::Veto(reason) | Flow::Stuck(reason) => {
                    return Some(CompactionVeto { hook: hook.name().to_owned(), reason });
                }
            }
        }
        None
    }

    pub(crate) async fn after_compaction(self, trigger: CompactionTrigger, summary: Option<&str>) {
        for hook in self.0 {
            hook.after_compaction(trigger, summary).get().await;
        }
    }

    /// Combines the amendments of all hooks: the last content and all context.
    pub(crate) async fn after_tool(
        self,
        call: &ToolCall,
        result: &ToolResult,
        is_error: bool,
        log: &RunLog,
    ) -> Amendment {
        let mut joined = Amendment::default();
        for hook in self.0 {
            let amendment = hook.after_tool(call, result, is_error).get().await;
            log_reports(&**hook, log);
            joined.content = amendment.content.or(joined.content);
            joined.context.extend(amendment.context);
        }
        joined
    }

    pub(crate) fn tool_blocked(self, call: &ToolCall, error: &ToolError) {
        for hook in self.0 {
            hook.tool_blocked(call, error);
        }
    }

    pub(crate) fn before_tool_update(self, call: &ToolCall, text: &str) -> Flow {
        let mut flows = self.0.iter().map(|hook| hook.before_tool_update(call, text));
        flows.find(|flow| *flow != Flow::Continue).unwrap_or(Flow::Continue)
    }

    pub(crate) fn after_tool_update(self, call: &ToolCall, text: &str) {
        for hook in self.0 {
            hook.after_tool_update(call, text);
        }
    }

    pub(crate) fn on_error(self, message: &str) {
        for hook in self.0 {
            hook.on_error(message);
        }
    }
}

/// Writes a hook's reports to the log before the next hook runs, so that they are not lost if that one never returns.
fn log_reports(hook: &dyn Hook, log: &RunLog) {
    for report in hook.take_reports() {
        log.emit(report.into());
    }
}
