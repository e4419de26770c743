//! Events as text: one line each, with all relevant data and nothing that changes from run to run.

use rheon_types::event::{PermissionDecision, Subject};
use rheon_types::{
    AgentEvent, AgentMessage, ApprovalEvent, ChildEvent, Content, ContextEvent, Event, Message, MessageEvent,
    ModelEvent, PlanEvent, RunEnd, RunEvent, SessionEvent, ToolEvent, ToolResult, TurnEvent,
};

/// Several events, one line each.
pub fn event_text<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let lines: Vec<String> = events.into_iter().map(|event| event_line(&event.kind)).collect();
    lines.join("\n")
}

/// One event as a line: its dotted name and its data.
pub fn event_line(event: &AgentEvent) -> String {
    let carried = match event {
        AgentEvent::Run(RunEvent::Start { model, continuation, parent_run_id, .. }) => {
            let kind = continuation.as_ref().map(|kind| format!(" {kind:?}")).unwrap_or_default();
            let parent = parent_run_id.as_ref().map(|id| format!(" after {id}")).unwrap_or_default();
            format!("{model}{kind}{parent}")
        }
        AgentEvent::Run(RunEvent::End { output }) => format!("{} {:?}", end_text(&output.end), output.text),
        AgentEvent::Turn(TurnEvent::Start { turn_index, triggered_by }) => {
            format!("{turn_index} {triggered_by:?}")
        }
        AgentEvent::Turn(TurnEvent::End { turn_index, tool_results, usage, .. }) => {
            format!("{turn_index} results={} tokens={}", tool_results.len(), usage.total())
        }
        AgentEvent::Model(ModelEvent::Start { model, .. }) => model.to_string(),
        AgentEvent::Model(ModelEvent::End { stop_reason, .. }) => format!("{stop_reason:?}"),
        AgentEvent::Message(MessageEvent::Start { message }) => role(message).to_owned(),
        AgentEvent::Message(MessageEvent::End { message }) => message_text(message),
        AgentEvent::Message(MessageEvent::TextDelta { delta })
        | AgentEvent::Message(MessageEvent::ThinkingDelta { delta }) => format!("{delta:?}"),
        AgentEvent::Message(MessageEvent::ToolCallDelta { call_id, name, delta }) => {
            format!("{name} {call_id} {delta:?}")
        }
        AgentEvent::Tool(ToolEvent::Start { call_id, name, args, .. }) => format!("{name} {call_id} {args}"),
        AgentEvent::Tool(ToolEvent::Update { call_id, name, partial }) => {
            format!("{name} {call_id} {:?}", partial.as_text())
        }
        AgentEvent::Tool(ToolEvent::Progress { call_id, name, text }) => format!("{name} {call_id} {text:?}"),
        AgentEvent::Tool(ToolEvent::End { call_id, name, result, is_error, .. }) => {
            format!("{name} {call_id} {}", result_text(result, *is_error))
        }
        AgentEvent::Tool(ToolEvent::Blocked { call_id, name, reason }) => {
            format!("{name} {call_id} {reason:?}")
        }
        AgentEvent::Approval(event) => approval_text(event),
        AgentEvent::Run(RunEvent::InputRejected { reason }) => format!("{reason:?}"),
        AgentEvent::Model(ModelEvent::Retry { attempt, attempts_max, delay_ms, cause }) => {
            format!("{attempt}/{attempts_max} in {delay_ms} ms: {cause}")
        }
        AgentEvent::Model(ModelEvent::Recovered { attempts }) => format!("after {attempts} attempts"),
        AgentEvent::Plan(PlanEvent::Queued { change }) => change.summary.clone(),
        AgentEvent::Run(RunEvent::Hook { hook, point, veto, duration_ms, .. }) => {
            format!(
                "HookRun {{ hook: {hook:?}, point: {point:?}, veto: {veto:?}, duration_ms: {duration_ms} }}"
            )
        }
        AgentEvent::Context(ContextEvent::Tools { set }) => {
            let sources: Vec<String> =
                set.sources.iter().map(|source| format!("{}@{}", source.name, source.version)).collect();
            let tools: Vec<&str> = set.tools.iter().map(|name| name.as_str()).collect();
            format!("[{}] {}", sources.join(" "), tools.join(" "))
        }
        AgentEvent::Child(ChildEvent::Start { child, task }) => format!("{} {task:?}", child.run_id),
        AgentEvent::Child(ChildEvent::End { child, summary, is_error, .. }) => {
            format!("{} {} {summary:?}", child.run_id, if *is_error { "error" } else { "ok" })
        }
        AgentEvent::Session(SessionEvent::Notice { notice }) => {
            format!("{:?} {}", notice.level, notice.message)
        }
        other => format!("{other:?}"),
    };
    format!("{} {carried}", event.name()).trim_end().to_owned()
}

fn approval_text(event: &ApprovalEvent) -> String {
    match event {
        ApprovalEvent::Required { request } => {
            let subject = match &request.subject {
                Subject::Command { command, .. } => command.clone(),
                Subject::Diff { path, .. } => path.clone(),
                Subject::Arguments { arguments } => arguments.to_string(),
                Subject::Questions { questions } => {
                    questions.iter().map(|question| question.text.as_str()).collect::<Vec<_>>().join(" / ")
                }
                Subject::Plan { plan, changes } => format!("{plan:?} with {} changes", changes.len()),
            };
            format!("{} {subject}", request.tool_name)
        }
        ApprovalEvent::Resolved { decision, scope, by, arguments, offer, .. } => {
            let decision = match decision {
                PermissionDecision::Allow => "allow",
                PermissionDecision::Deny => "deny",
            };
            let with = arguments.as_ref().map_or_else(String::new, |arguments| format!(" with {arguments}"));
            let chosen = offer.as_ref().map_or_else(String::new, |offer| format!(" as {offer}"));
            format!("{decision} {scope:?} by {by:?}{with}{chosen}")
        }
        other => format!("{other:?}"),
    }
}

fn end_text(end: &RunEnd) -> String {
    match end {
        RunEnd::Completed => "completed".into(),
        RunEnd::Truncated => "truncated".into(),
        RunEnd::Limit { limit, message } => format!("limit({limit:?}: {message})"),
        RunEnd::Rejected { rejection } => format!("rejected({rejection})"),
        RunEnd::Vetoed { point, message } => format!("vetoed({point:?}: {message})"),
        RunEnd::Stuck { message } => format!("stuck({message})"),
        RunEnd::Aborted => "aborted".into(),
        RunEnd::Failed { failure } => format!("failed({failure})"),
    }
}

fn role(message: &AgentMessage) -> &'static str {
    match message.as_llm() {
        None => "extension",
        Some(Message::User(_)) => "user",
        Some(Message::Assistant(_)) => "assistant",
        Some(Message::ToolResult(_)) => "toolResult",
    }
}

fn message_text(message: &AgentMessage) -> String {
    let head = match message.as_llm() {
        None => String::new(),
        Some(Message::User(_)) => "user".into(),
        Some(Message::Assistant(answer)) => {
            let problem = answer.error_message.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
            format!("assistant {:?}{problem}", answer.stop_reason)
        }
        Some(Message::ToolResult(result)) => {
            format!("toolResult {}{}", result.tool_call_id, if result.is_error { " error" } else { "" })
        }
    };
    match message {
        AgentMessage::Llm(llm) => format!("{head} {}", content_text(llm.message.content())),
        AgentMessage::Extension(extension) => format!("extension {} {}", extension.kind, extension.data),
    }
}

fn content_text(content: &[Content]) -> String {
    let blocks: Vec<String> = content
        .iter()
        .map(|block| match block {
            Content::Text { text } => format!("{text:?}"),
            Content::Image { mime_type, .. } => format!("<{mime_type}>"),
            Content::Thinking { thinking, .. } => format!("({thinking:?})"),
            Content::ToolCall(call) => format!("[{} {} {}]", call.name, call.id, call.arguments),
        })
        .collect();
    blocks.join(" ")
}

fn result_text(result: &ToolResult, is_error: bool) -> String {
    let outcome = if is_error { "error" } else { "ok" };
    format!("{outcome} {:?}", result.as_text())
}
