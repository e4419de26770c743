//! The event groups: run, turn, model call, message, tool call and so on.
//!
//! Each group is tagged in JSON by `type` with the dotted name, so a group reads and writes the same object as
//! [`AgentEvent`](super::AgentEvent) does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalRequest, BudgetAmount, ChildRef, CompactionTrigger, Ledger, Notice, PermissionDecision,
    PermissionMode, QueuedChange, Responder, RulesChange, RunSettings, Scope, SessionNetwork, SessionSandbox,
    TaskItem, ToolSetVersion,
};
use crate::grant::CallGrant;
use crate::history::History;
use crate::hook_point::HookPoint;
use crate::id::{AgentId, ApprovalId, ClientCallId, RunId, SessionId, ToolCallId, ToolName};
use crate::message::AgentMessage;
use crate::outcome::{AgentOutput, ContinuationKind, TurnTrigger};
use crate::request::{DeltaText, ThinkingLevel};
use crate::stop::StopReason;
use crate::tool::{Effect, ToolResult};
use crate::usage::{MicroUsd, Usage};
use crate::window::WindowCut;

/// Declares one group: its enum, the dotted names it reads and writes, and the name of each event.
macro_rules! group {
    (
        $(#[$meta:meta])*
        $group:ident {
            $(
                $(#[doc = $doc:literal])*
                $([doc alias $alias:literal])?
                $([formerly $former:literal])?
                $name:literal $variant:ident { $($fields:tt)* }
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(test, derive(proptest_derive::Arbitrary))]
        #[serde(tag = "type")]
        #[non_exhaustive]
        #[allow(
            missing_docs,
            reason = "the documentation of the variant covers its fields"
        )]
        pub enum $group {
            $(
                $(#[doc = $doc])*
                $(#[doc(alias = $alias)])?
                #[serde(rename = $name $(, alias = $former)?)]
                $variant { $($fields)* },
            )*
        }

        impl $group {
            /// The dotted names of this group, those of earlier versions included.
            pub(super) const NAMES: &'static [&'static str] = &[$($name, $($former,)?)*];

            /// The dotted name, as in the JSON `type`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $name,)*
                }
            }
        }
    };
}

group! {
    /// Events of a run as a whole.
    RunEvent {
        /// A run starts.
        [doc alias "AgentStart"]
        "agent.start" Start {
            agent_id: AgentId,
            #[serde(default, alias = "parent_loop_id", skip_serializing_if = "Option::is_none")]
            parent_run_id: Option<RunId>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            continuation: Option<ContinuationKind>,
            model: Arc<str>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
            metadata: Option<Arc<Value>>,
            /// The run's settings; absent in older logs.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            settings: Option<Arc<RunSettings>>,
            /// The conversation at the start of the run, if it differs from the log so far: it was imported, restored
            /// or reset.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::conversation()"))]
            history: Option<History>,
            /// The cuts of that conversation at the start of the run.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
            cuts: Vec<WindowCut>,
        }
        /// A run ended. Always the last event of its run.
        [doc alias "AgentEnd"]
        "agent.end" End { output: Arc<AgentOutput> }
        /// An input filter rejected a message.
        "input.rejected" InputRejected { reason: String }
        /// A hook ran.
        "hook.run" Hook {
            hook: String,
            point: HookPoint,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            veto: Option<String>,
            duration_ms: u64,
            /// The tool call it ran for, if any.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            call_id: Option<ToolCallId>,
            /// Replacement arguments, if the hook changed them.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
            arguments: Option<Arc<Value>>,
        }
        /// Something went wrong that the user should know about.
        "error" Error { message: String }
    }
}

group! {
    /// Events of a turn.
    TurnEvent {
        /// A turn starts.
        [doc alias "TurnStart"]
        "turn.start" Start { turn_index: u32, triggered_by: TurnTrigger }
        /// A turn ended. `message` is the model's answer, absent if the turn ended before the model was called.
        [doc alias "TurnEnd"]
        "turn.end" End {
            turn_index: u32,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            message: Option<Arc<AgentMessage>>,
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
            tool_results: Vec<Arc<AgentMessage>>,
            usage: Usage,
        }
    }
}

group! {
    /// Events of a model call.
    ModelEvent {
        /// The model is called; `tokens_estimate` is the estimated length of the prompt.
        [doc alias "LlmStart"]
        "llm.start" Start {
            model: Arc<str>,
            tokens_estimate: u64,
            /// The amount reserved in the budget. Without an `llm.end` it counts as spent.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            reserved: Option<BudgetAmount>,
        }
        /// The model call ended.
        [doc alias "LlmEnd"]
        "llm.end" End {
            usage: Usage,
            stop_reason: StopReason,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            cost: Option<MicroUsd>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            first_token_ms: Option<u64>,
            duration_ms: u64,
            /// What attempts without a usage report took, estimated from what came: nothing where nothing came. Absent if
            /// all reported their usage. Its cost is absent if the price is unknown.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            estimated: Option<BudgetAmount>,
        }
        /// A model call failed and is retried after a delay.
        "resilience.retry" Retry { attempt: u32, attempts_max: u32, delay_ms: u64, cause: String }
        /// A model call succeeded after failures.
        "resilience.recovered" Recovered { attempts: u32 }
    }
}

group! {
    /// Events of a message.
    MessageEvent {
        /// A message starts. An assistant message is empty here; its text follows as deltas.
        [doc alias "MessageStart"]
        "message.start" Start { message: Arc<AgentMessage> }
        /// A message is complete.
        [doc alias "MessageEnd"]
        "message.end" End { message: Arc<AgentMessage> }
        /// Live: the model wrote text.
        [doc alias "MessageUpdate"]
        "text.delta" TextDelta { delta: DeltaText }
        /// Live: the model thought.
        "thinking.delta" ThinkingDelta { delta: DeltaText }
        /// Live: the model wrote arguments of a tool call. The first delta of a call may be empty.
        "tool_call.delta" ToolCallDelta { call_id: ToolCallId, name: ToolName, delta: DeltaText }
    }
}

group! {
    /// Events of a tool call.
    ToolEvent {
        /// A tool is about to run. Stored before the tool has any effect.
        [doc alias "ToolExecutionStart"]
        "tool.start" Start {
            call_id: ToolCallId,
            name: ToolName,
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
            args: Arc<Value>,
            /// The tool's side effects: whether the call may be repeated if its end was never recorded.
            #[serde(default)]
            effect: Effect,
            /// What the call may reach beyond the sandbox's defaults; absent if nothing.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            grant: Option<Arc<CallGrant>>,
        }
        /// Live: a partial result.
        [doc alias "ToolExecutionUpdate"]
        "tool.update" Update { call_id: ToolCallId, name: ToolName, partial: Arc<ToolResult> }
        /// Live: a status line.
        [doc alias "ProgressMessage"]
        "tool.progress" Progress { call_id: ToolCallId, name: ToolName, text: String }
        /// A tool call ended.
        [doc alias "ToolExecutionEnd"]
        "tool.end" End {
            call_id: ToolCallId,
            name: ToolName,
            result: Arc<ToolResult>,
            is_error: bool,
            duration_ms: u64,
            #[serde(default, alias = "child_loop_id", skip_serializing_if = "Option::is_none")]
            child_run_id: Option<RunId>,
        }
        /// A tool call will not run.
        "tool.blocked" Blocked { call_id: ToolCallId, name: ToolName, reason: String }
    }
}

group! {
    /// Events of an approval.
    ApprovalEvent {
        /// A person or program has to decide whether a tool may run.
        [doc alias "PermissionRequired"]
        "approval.required" Required { request: Arc<ApprovalRequest> }
        /// The approval was decided.
        "approval.resolved" Resolved {
            request_id: ApprovalId,
            decision: PermissionDecision,
            scope: Scope,
            by: Responder,
            /// Replacement arguments, if the answer changed them.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::metadata()"))]
            arguments: Option<Arc<Value>>,
            /// The offer that the answer chose; absent means the first.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            offer: Option<String>,
        }
    }
}

group! {
    /// Events of the plan and the task list.
    PlanEvent {
        /// Plan mode: a change was queued instead of run.
        "plan.queued" Queued { change: Arc<QueuedChange> }
        /// A queued change was approved or dropped.
        "plan.resolved" Resolved { call_id: ToolCallId, decision: PermissionDecision }
        /// The task list changed.
        "task.update" Tasks {
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
            items: Vec<TaskItem>,
        }
    }
}

group! {
    /// Events of runs started by this run.
    ChildEvent {
        /// A sub-agent started.
        "subagent.start" Start { child: Arc<ChildRef>, task: String }
        /// A sub-agent ended.
        "subagent.end" End { child: Arc<ChildRef>, summary: String, usage: Usage, is_error: bool }
        /// Events of a child that this subscriber is not shown: the durable events of its session after `after`, up to `through`, or up to
        /// its end. Its session has them. Live, and only for a subscriber that fell behind or joined while the child was running.
        "subagent.missed" Missed {
            session_id: SessionId,
            after: u64,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            through: Option<u64>,
        }
        /// Several runs of one prompt begin.
        [doc alias "ParallelLoopStart"]
        "parallel.start" ParallelStart {
            #[serde(alias = "loop_ids")]
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
            run_ids: Vec<RunId>,
        }
        /// One of them was selected.
        [doc alias "ParallelLoopEnd"]
        "parallel.end" ParallelEnd {
            #[serde(alias = "selected_loop_id")]
            selected_run_id: RunId,
            selected_index: u32,
            evaluation_usage: Usage,
        }
    }
}

group! {
    /// Events of the model's context: window usage, compactions and offered tools.
    ContextEvent {
        /// How full the model's window is.
        "context.usage" Usage { tokens_used: u64, tokens_window: u64 }
        /// The tools offered to the model from now on. Emitted when they change.
        "context.tools" Tools { set: Arc<ToolSetVersion> }
        /// The window is filling up.
        "compaction.warning" CompactionWarning { tokens_used: u64, tokens_window: u64 }
        /// A compaction started.
        "compaction.start" CompactionStart { trigger: CompactionTrigger, tokens_before: u64 }
        /// A compaction ended.
        "compaction.end" CompactionEnd {
            messages_dropped: u32,
            tokens_before: u64,
            tokens_after: u64,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            summary: Option<String>,
            /// All cuts of the conversation from now on.
            #[serde(default)]
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::few()"))]
            cuts: Vec<WindowCut>,
            /// The tokens used to write the summary.
            #[serde(default)]
            usage: Usage,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            cost: Option<MicroUsd>,
        }
    }
}

group! {
    /// Events of the budget.
    BudgetEvent {
        /// The budget is nearly spent.
        "budget.warning" Warning { ledger: Arc<Ledger> }
        /// The budget is spent.
        "budget.exceeded" Exceeded { ledger: Arc<Ledger> }
        /// The caps of the budget changed.
        "budget.changed" Changed { ledger: Arc<Ledger> }
    }
}

group! {
    /// Session facts. They can occur between runs, and a resumed session restores them.
    SessionEvent {
        /// The model that answers from now on.
        "session.model" Model {
            /// The whole name, `vendor/model`.
            model: Arc<str>,
            /// The thinking level, if set.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            thinking: Option<ThinkingLevel>,
        }
        /// The permission mode from now on.
        [doc alias "ModeChanged"]
        [formerly "mode.changed"]
        "session.mode" Mode { mode: PermissionMode }
        /// Permission rules of this session were added, replaced or removed.
        "session.rules" Rules { change: Arc<RulesChange> }
        /// What commands reach of the network from now on; as configured if absent.
        "session.network" Network {
            #[serde(default, skip_serializing_if = "Option::is_none")]
            network: Option<SessionNetwork>,
        }
        /// Whether commands run in the sandbox from now on.
        "session.sandbox" Sandbox { sandbox: SessionSandbox }
        /// The title of the session.
        "session.title" Title { title: String }
        /// The conversation goes back to its first messages; later ones stay in the log.
        "session.rewound" Rewound {
            /// How many messages are left.
            messages: u64,
        }
        /// Something the user should know.
        "session.notice" Notice { notice: Arc<Notice> }
        /// Live: the session calls a function of the client, which answers with `Command::AnswerCall`.
        "client.call" ClientCall {
            call_id: ClientCallId,
            /// The function, by the name that the client registered.
            callback: String,
            #[cfg_attr(test, proptest(strategy = "crate::roundtrip_tests::shared_json()"))]
            input: Arc<Value>,
        }
        /// Live: the session no longer waits for the answer to a call.
        "client.call_withdrawn" ClientCallWithdrawn { call_id: ClientCallId }
        /// The state of the workspace was saved.
        "checkpoint" Checkpoint { id: String, label: String }
    }
}
