//! Lines have what readers of the format take for granted, whatever happens.

use std::collections::HashSet;

use proptest::prelude::*;
use rheon_types::event::{ChildRef, CompactionTrigger, PermissionMode};
use rheon_types::{
    AgentEvent, AgentOutput, ChildEvent, Content, ContextEvent, HookPoint, Message, MessageEvent, ModelEvent,
    ProviderError, ProviderErrorKind, RunEnd, RunEvent, RunFailure, SessionEvent, StopReason, Timestamp,
    ToolEvent, ToolResult, ToolResultMessage, Usage,
};
use serde_json::{Value, json};

use super::fixtures::{ALL, answer, call, facts, numbered, starts};
use super::{Projector, StreamOptions};

/// What the official SDK reads without asking whether it is there, line by line, and what it looks for besides.
fn assert_readable(line: &Value) {
    let has = |place: &str| assert!(line.pointer(place).is_some(), "{place} is missing in {line}");
    assert!(line["uuid"].is_string() && line["session_id"] == "s", "{line}");
    match line["type"].as_str().unwrap() {
        "system" => {
            has("/subtype");
            let needed: &[&str] = match line["subtype"].as_str().unwrap() {
                "init" => &[
                    "cwd",
                    "tools",
                    "mcp_servers",
                    "model",
                    "permissionMode",
                    "slash_commands",
                    "apiKeySource",
                ],
                "task_started" => &["task_id", "description", "tool_use_id", "task_type"],
                "task_notification" => &["task_id", "status", "output_file", "summary", "usage"],
                "hook_response" => &["hook_event"],
                _ => &[],
            };
            needed.iter().for_each(|key| has(&format!("/{key}")));
        }
        "assistant" => {
            ["/message/model", "/message/id", "/message/usage", "/parent_tool_use_id"]
                .into_iter()
                .for_each(has);
            let block = &line["message"]["content"][0];
            let needed: &[&str] = match block["type"].as_str().unwrap() {
                "text" => &["text"],
                "thinking" => &["thinking", "signature"],
                "tool_use" => &["id", "name", "input"],
                "redacted_thinking" => &["data"],
                other => panic!("{other}"),
            };
            needed.iter().for_each(|key| assert!(block.get(key).is_some(), "{key} is missing in {block}"));
        }
        "user" => ["/message/content", "/parent_tool_use_id"].into_iter().for_each(has),
        "stream_event" => ["/event/type", "/parent_tool_use_id"].into_iter().for_each(has),
        "result" => {
            for key in [
                "subtype",
                "duration_ms",
                "duration_api_ms",
                "is_error",
                "num_turns",
                "stop_reason",
                "total_cost_usd",
                "usage",
                "modelUsage",
                "permission_denials",
                "api_error_status",
                "terminal_reason",
            ] {
                has(&format!("/{key}"));
            }
            assert!(line.get("result").is_some() != line.get("errors").is_some(), "{line}");
        }
        other => panic!("{other}"),
    }
}

/// One of everything that can happen.
fn catalogue() -> Vec<AgentEvent> {
    let begun = || answer(Vec::new(), StopReason::Stop);
    let content = vec![
        Content::Thinking { thinking: "hm".into(), signature: None },
        Content::text(""),
        Content::text("words"),
        Content::ToolCall(call("1", "bash", json!({ "command": "x" }))),
    ];
    let result = ToolResultMessage {
        tool_call_id: "1".into(),
        tool_name: "bash".into(),
        content: vec![
            Content::text("out"),
            Content::Image { data: "aa".into(), mime_type: "image/png".into() },
        ],
        is_error: false,
        timestamp: Timestamp::default(),
    };
    let sub = match starts() {
        AgentEvent::Run(RunEvent::Start { agent_id, model, .. }) => AgentEvent::Run(RunEvent::Start {
            agent_id,
            parent_run_id: Some("a".into()),
            continuation: None,
            model,
            metadata: None,
            settings: None,
            history: None,
            cuts: Vec::new(),
        }),
        other => other,
    };
    let network = ProviderError::new(ProviderErrorKind::Network, "gone");
    let ended = |end| AgentEvent::Run(RunEvent::End { output: AgentOutput::new(end).into() });
    vec![
        starts(),
        sub,
        ended(RunEnd::Completed),
        ended(RunEnd::Aborted),
        ended(RunEnd::Failed { failure: RunFailure::Provider { error: network } }),
        AgentEvent::Model(ModelEvent::Start { model: "other".into(), tokens_estimate: 1, reserved: None }),
        AgentEvent::Model(ModelEvent::End {
            usage: Usage { input: u64::MAX, ..Usage::default() },
            stop_reason: StopReason::Stop,
            cost: Some(rheon_types::MicroUsd(u64::MAX)),
            first_token_ms: Some(3),
            duration_ms: u64::MAX,
            estimated: None,
        }),
        AgentEvent::Message(MessageEvent::Start { message: begun() }),
        AgentEvent::Message(MessageEvent::End { message: answer(content.clone(), StopReason::ToolUse) }),
        AgentEvent::Message(MessageEvent::End { message: answer(content, StopReason::Error) }),
        AgentEvent::Message(MessageEvent::End {
            message: Message::user("hello", Timestamp::default()).into_shared(),
        }),
        AgentEvent::Message(MessageEvent::End { message: Message::ToolResult(result).into_shared() }),
        AgentEvent::Message(MessageEvent::TextDelta { delta: "te".into() }),
        AgentEvent::Message(MessageEvent::ThinkingDelta { delta: "th".into() }),
        AgentEvent::Message(MessageEvent::ToolCallDelta {
            call_id: "1".into(),
            name: "bash".into(),
            delta: "{".into(),
        }),
        AgentEvent::Message(MessageEvent::ToolCallDelta {
            call_id: "2".into(),
            name: "own".into(),
            delta: "{}".into(),
        }),
    ]
}

/// The rest of it.
fn beside() -> Vec<AgentEvent> {
    let child = ChildRef { agent_id: "child".into(), session_id: "s".into(), run_id: "b".into() };
    vec![
        AgentEvent::Tool(ToolEvent::Start {
            call_id: "1".into(),
            name: "agent".into(),
            args: json!({}).into(),
            effect: Default::default(),
            grant: None,
        }),
        AgentEvent::Tool(ToolEvent::End {
            call_id: "1".into(),
            name: "bash".into(),
            result: ToolResult::text("out").into(),
            is_error: false,
            duration_ms: 1,
            child_run_id: None,
        }),
        AgentEvent::Tool(ToolEvent::Blocked {
            call_id: "1".into(),
            name: "bash".into(),
            reason: "no".into(),
        }),
        AgentEvent::Child(ChildEvent::Start { child: child.clone().into(), task: "t".into() }),
        AgentEvent::Child(ChildEvent::End {
            child: child.into(),
            summary: "s".into(),
            usage: Usage::default(),
            is_error: true,
        }),
        AgentEvent::Context(ContextEvent::CompactionStart {
            trigger: CompactionTrigger::Auto,
            tokens_before: 1,
        }),
        AgentEvent::Context(ContextEvent::CompactionEnd {
            messages_dropped: 0,
            tokens_before: 1,
            tokens_after: 0,
            summary: None,
            cuts: Vec::new(),
            usage: Usage::default(),
            cost: None,
        }),
        AgentEvent::Model(ModelEvent::Retry { attempt: 1, attempts_max: 2, delay_ms: 3, cause: "x".into() }),
        AgentEvent::Session(SessionEvent::Mode { mode: PermissionMode::DontAsk }),
        AgentEvent::Context(ContextEvent::Usage { tokens_used: 5, tokens_window: 0 }),
        AgentEvent::Run(RunEvent::Hook {
            hook: "h".into(),
            point: HookPoint::AfterTool,
            veto: None,
            duration_ms: 0,
            call_id: Some("1".into()),
            arguments: Some(json!([1]).into()),
        }),
        AgentEvent::Run(RunEvent::Error { message: "m".into() }),
    ]
}

trait IntoShared {
    fn into_shared(self) -> std::sync::Arc<rheon_types::AgentMessage>;
}

impl IntoShared for Message {
    fn into_shared(self) -> std::sync::Arc<rheon_types::AgentMessage> {
        std::sync::Arc::new(self.into())
    }
}

proptest! {
    #[test]
    fn whatever_happens_lines_are_readable_and_a_result_is_the_last_of_its_run(
        picks in prop::collection::vec((any::<prop::sample::Index>(), 0..2usize), 0..60),
        shown in prop::sample::select(vec![ALL, StreamOptions::default()]),
    ) {
        let catalogue = [catalogue(), beside()].concat();
        let kinds = picks.iter().map(|(pick, run)| {
            (if *run == 0 { "a" } else { "b" }, pick.get(&catalogue).clone())
        });
        let mut projector = Projector::new(facts(), shown);
        let mut ids = HashSet::new();
        for event in numbered(kinds) {
            let lines = projector.take(&event);
            let mut last = Value::Null;
            for line in &lines {
                prop_assert!(!line.contains('\n'));
                last = serde_json::from_str(line).unwrap();
                assert_readable(&last);
                prop_assert!(ids.insert(last["uuid"].as_str().unwrap().to_owned()), "{last}");
            }
            let results = lines.iter().filter(|line| line.contains("\"type\":\"result\"")).count();
            let is_end = matches!(event.kind, AgentEvent::Run(RunEvent::End { .. }));
            if is_end && results > 0 {
                prop_assert_eq!((results, &last["type"]), (1, &json!("result")));
                prop_assert_eq!(projector.last_result(), lines.last().map(String::as_str));
            } else {
                prop_assert_eq!(results, 0);
            }
        }
        prop_assert!(projector.context_usage().is_object());
    }
}
