//! Whole runs as lines.

use expect_test::{Expect, expect};
use rheon_providers::scripted::{Scenario, Turn};
use rheon_testkit::{FnTool, scripted};
use rheon_types::event::{ChildRef, CompactionTrigger, PermissionMode};
use rheon_types::{
    AgentEvent, AgentOutput, ChildEvent, Content, ContextEvent, Event, HookPoint, LimitKind, MessageEvent,
    ProviderError, ProviderErrorKind, RunEnd, RunEvent, RunFailure, SessionEvent, Signature, SignatureKind,
    StopReason, ToolEvent, ToolResult, Usage,
};
use serde_json::{Value, json};

use super::fixtures::{ALL, answer, brief, call, facts, lines, numbered, starts};
use super::tool::{claude_call, claude_result};
use super::{Projector, SessionActivity, StreamOptions};

fn check(lines: &[Value], expected: &Expect) {
    expected.assert_eq(&brief(lines));
}

fn tool(name: &str, text: &'static str, details: Value) -> FnTool {
    FnTool::new(name, move |_, _| {
        let result = ToolResult::text(text).with_details(details.clone());
        async move { Ok(result) }
    })
}

async fn events_of(scenario: Scenario, tools: Vec<FnTool>) -> Vec<Event> {
    let mut run = scripted(scenario);
    for tool in tools {
        run = run.tool(tool);
    }
    run.run("fix it").await.trace.events()
}

fn scenario() -> Scenario {
    Scenario::new()
        .turn(Turn::new().thinking("look first").text("I look.").tool_call_with_id(
            "call_1",
            "read",
            json!({ "path": "a.rs" }),
        ))
        .turn(Turn::call("bash", json!({ "command": "echo hi", "timeout_ms": 5 })))
        .turn(Turn::say("All done."))
}

fn tools() -> Vec<FnTool> {
    let read = json!({ "kind": "text", "firstLine": 1, "lines": 2, "totalLines": 2 });
    vec![tool("read", "1\thello", read), tool("bash", "hi", json!({ "exit_code": 0 }))]
}

#[tokio::test(start_paused = true)]
async fn a_run_is_shown_line_by_line_and_ends_with_its_result() {
    let events = events_of(scenario(), tools()).await;
    check(
        &lines(StreamOptions::default(), &events),
        &expect![[r#"
        {"additional_directories":["/other"],"agents":["explore"],"apiKeySource":"none","capabilities":[],"claude_code_version":"0.1.0","cwd":"/project","fast_mode_state":"off","mcp_servers":[{"name":"files","status":"failed"}],"model":"scripted","original_cwd":"/project","output_style":"default","permissionMode":"default","plugins":[],"skills":["deploy"],"slash_commands":["compact"],"subtype":"init","terminal_slash_commands":[],"tools":["Bash","Read","Edit","TodoWrite","ExitPlanMode","own"],"type":"system"}
        {"message":{"content":[{"signature":"","thinking":"look first","type":"thinking"}],"model":"scripted","role":"assistant"},"type":"assistant"}
        {"message":{"content":[{"text":"I look.","type":"text"}],"model":"scripted","role":"assistant"},"type":"assistant"}
        {"message":{"content":[{"id":"call_1","input":{"file_path":"/project/a.rs"},"name":"Read","type":"tool_use"}],"model":"scripted","role":"assistant"},"type":"assistant"}
        {"message":{"content":[{"content":"1\thello","is_error":false,"tool_use_id":"call_1","type":"tool_result"}],"role":"user"},"tool_use_result":{"file":{"content":"1\thello","filePath":"/project/a.rs","numLines":2,"startLine":1,"totalLines":2},"type":"text"},"type":"user"}
        {"message":{"content":[{"id":"call_2_0","input":{"command":"echo hi","timeout":5},"name":"Bash","type":"tool_use"}],"model":"scripted","role":"assistant"},"type":"assistant"}
        {"message":{"content":[{"content":"hi","is_error":false,"tool_use_id":"call_2_0","type":"tool_result"}],"role":"user"},"tool_use_result":{"exitCode":0,"interrupted":false,"isImage":false,"noOutputExpected":false,"stderr":"","stdout":"hi"},"type":"user"}
        {"message":{"content":[{"text":"All done.","type":"text"}],"model":"scripted","role":"assistant"},"type":"assistant"}
        {"api_error_status":null,"duration_api_ms":0,"duration_ms":0,"fast_mode_state":"off","is_error":false,"modelUsage":{"scripted":{"cacheCreationInputTokens":0,"cacheReadInputTokens":0,"contextWindow":1000,"costUSD":0.0,"inputTokens":0,"maxOutputTokens":100,"outputTokens":0,"webSearchRequests":0}},"num_turns":3,"permission_denials":[],"result":"All done.","result_index":0,"stop_reason":"end_turn","subtype":"success","terminal_reason":"completed","total_cost_usd":0.0,"ttft_ms":0,"type":"result","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0,"server_tool_use":{"web_fetch_requests":0,"web_search_requests":0},"service_tier":"standard"}}
    "#]],
    );
}

#[tokio::test(start_paused = true)]
async fn every_line_has_all_its_ids() {
    let events = events_of(Scenario::new().turn(Turn::say("All done.")), Vec::new()).await;
    let lines = lines(StreamOptions { user_messages: true, ..StreamOptions::default() }, &events);
    expect![[r#"
        {"additional_directories":["/other"],"agents":["explore"],"apiKeySource":"none","capabilities":[],"claude_code_version":"0.1.0","cwd":"/project","fast_mode_state":"off","mcp_servers":[{"name":"files","status":"failed"}],"model":"scripted","original_cwd":"/project","output_style":"default","permissionMode":"default","plugins":[],"session_id":"s","skills":["deploy"],"slash_commands":["compact"],"subtype":"init","terminal_slash_commands":[],"tools":["Bash","Read","Edit","TodoWrite","ExitPlanMode","own"],"type":"system","uuid":"763e93c3-fc99-81c4-987c-5cdff57f62b5"}
        {"isReplay":true,"message":{"content":"fix it","role":"user"},"parent_tool_use_id":null,"session_id":"s","timestamp":"2023-11-14T22:13:20.000Z","type":"user","uuid":"d7b8aab1-4d6a-8516-9edf-bab26a5ce280"}
        {"message":{"content":[{"text":"All done.","type":"text"}],"context_management":null,"id":"msg_7dd84699b2f881a3b04ab861fec7de04","model":"scripted","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0}},"parent_tool_use_id":null,"session_id":"s","timestamp":"2023-11-14T22:13:20.000Z","type":"assistant","uuid":"0e48fa1b-2253-8750-abc1-51dd7dd964df"}
        {"api_error_status":null,"duration_api_ms":0,"duration_ms":0,"fast_mode_state":"off","is_error":false,"modelUsage":{"scripted":{"cacheCreationInputTokens":0,"cacheReadInputTokens":0,"contextWindow":1000,"costUSD":0.0,"inputTokens":0,"maxOutputTokens":100,"outputTokens":0,"webSearchRequests":0}},"num_turns":1,"permission_denials":[],"result":"All done.","result_index":0,"session_id":"s","stop_reason":"end_turn","subtype":"success","terminal_reason":"completed","total_cost_usd":0.0,"ttft_ms":0,"type":"result","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0,"server_tool_use":{"web_fetch_requests":0,"web_search_requests":0},"service_tier":"standard"},"uuid":"837fdbe9-aca2-8269-b4bb-0d5c14a58229"}
    "#]]
    .assert_eq(&lines.iter().map(|line| format!("{line}\n")).collect::<String>());
}

#[tokio::test(start_paused = true)]
async fn answers_are_shown_as_they_come_in_the_events_of_anthropic() {
    let events = events_of(scenario(), tools()).await;
    let lines = lines(StreamOptions { partial_messages: true, ..StreamOptions::default() }, &events);
    let partial: Vec<Value> = lines.into_iter().filter(|line| line["type"] != "result").take(22).collect();
    check(
        &partial,
        &expect![[r#"
            {"additional_directories":["/other"],"agents":["explore"],"apiKeySource":"none","capabilities":[],"claude_code_version":"0.1.0","cwd":"/project","fast_mode_state":"off","mcp_servers":[{"name":"files","status":"failed"}],"model":"scripted","original_cwd":"/project","output_style":"default","permissionMode":"default","plugins":[],"skills":["deploy"],"slash_commands":["compact"],"subtype":"init","terminal_slash_commands":[],"tools":["Bash","Read","Edit","TodoWrite","ExitPlanMode","own"],"type":"system"}
            {"status":"requesting","subtype":"status","type":"system"}
            {"event":{"message":{"content":[],"id":"msg_7dd84699b2f881a3b04ab861fec7de04","model":"scripted","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0}},"type":"message_start"},"type":"stream_event"}
            {"event":{"content_block":{"signature":"","thinking":"","type":"thinking"},"index":0,"type":"content_block_start"},"type":"stream_event"}
            {"event":{"delta":{"thinking":"look ","type":"thinking_delta"},"index":0,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"delta":{"thinking":"first","type":"thinking_delta"},"index":0,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"index":0,"type":"content_block_stop"},"type":"stream_event"}
            {"event":{"content_block":{"text":"","type":"text"},"index":1,"type":"content_block_start"},"type":"stream_event"}
            {"event":{"delta":{"text":"I ","type":"text_delta"},"index":1,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"delta":{"text":"look.","type":"text_delta"},"index":1,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"index":1,"type":"content_block_stop"},"type":"stream_event"}
            {"event":{"content_block":{"id":"call_1","input":{},"name":"Read","type":"tool_use"},"index":2,"type":"content_block_start"},"type":"stream_event"}
            {"event":{"delta":{"partial_json":"{\"file_path\":\"/project/a.rs\"}","type":"input_json_delta"},"index":2,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"index":2,"type":"content_block_stop"},"type":"stream_event"}
            {"message":{"content":[{"signature":"","thinking":"look first","type":"thinking"}],"model":"scripted","role":"assistant"},"type":"assistant"}
            {"message":{"content":[{"text":"I look.","type":"text"}],"model":"scripted","role":"assistant"},"type":"assistant"}
            {"message":{"content":[{"id":"call_1","input":{"file_path":"/project/a.rs"},"name":"Read","type":"tool_use"}],"model":"scripted","role":"assistant"},"type":"assistant"}
            {"event":{"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0}},"type":"stream_event"}
            {"event":{"type":"message_stop"},"type":"stream_event"}
            {"message":{"content":[{"content":"1\thello","is_error":false,"tool_use_id":"call_1","type":"tool_result"}],"role":"user"},"tool_use_result":{"file":{"content":"1\thello","filePath":"/project/a.rs","numLines":2,"startLine":1,"totalLines":2},"type":"text"},"type":"user"}
            {"status":"requesting","subtype":"status","type":"system"}
            {"event":{"message":{"content":[],"id":"msg_0589195bd99784e5a07df5744c91c1d9","model":"scripted","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0}},"type":"message_start"},"type":"stream_event"}
        "#]],
    );
}

#[test]
fn an_answer_that_came_without_pieces_is_shown_in_pieces_all_the_same() {
    let signed = Signature { data: "sig".into(), kind: SignatureKind::Proof, id: None, origin: "a/b".into() };
    let redacted = Signature { kind: SignatureKind::Redacted, data: "xx".into(), ..signed.clone() };
    let content = vec![
        Content::Thinking { thinking: "hm".into(), signature: Some(signed) },
        Content::Thinking { thinking: String::new(), signature: Some(redacted) },
        Content::text("a"),
        Content::ToolCall(call("bad id!", "own", json!({ "x": 1 }))),
    ];
    let begun = answer(Vec::new(), StopReason::Stop);
    let events = numbered([
        ("r", AgentEvent::Message(MessageEvent::Start { message: begun })),
        ("r", AgentEvent::Message(MessageEvent::End { message: answer(content, StopReason::ToolUse) })),
    ]);
    check(
        &lines(ALL, &events),
        &expect![[r#"
            {"event":{"message":{"content":[],"id":"msg_763e93c3fc9981c4987c5cdff57f62b5","model":"scripted","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0}},"type":"message_start"},"type":"stream_event"}
            {"event":{"content_block":{"signature":"","thinking":"","type":"thinking"},"index":0,"type":"content_block_start"},"type":"stream_event"}
            {"event":{"delta":{"thinking":"hm","type":"thinking_delta"},"index":0,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"index":0,"type":"content_block_stop"},"type":"stream_event"}
            {"event":{"content_block":{"text":"","type":"text"},"index":1,"type":"content_block_start"},"type":"stream_event"}
            {"event":{"delta":{"text":"a","type":"text_delta"},"index":1,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"index":1,"type":"content_block_stop"},"type":"stream_event"}
            {"event":{"content_block":{"id":"call_99973e2523861bb2d9cb2a91","input":{},"name":"own","type":"tool_use"},"index":2,"type":"content_block_start"},"type":"stream_event"}
            {"event":{"delta":{"partial_json":"{\"x\":1}","type":"input_json_delta"},"index":2,"type":"content_block_delta"},"type":"stream_event"}
            {"event":{"index":2,"type":"content_block_stop"},"type":"stream_event"}
            {"message":{"content":[{"signature":"sig","thinking":"hm","type":"thinking"}],"model":"scripted","role":"assistant"},"type":"assistant"}
            {"message":{"content":[{"data":"xx","type":"redacted_thinking"}],"model":"scripted","role":"assistant"},"type":"assistant"}
            {"message":{"content":[{"text":"a","type":"text"}],"model":"scripted","role":"assistant"},"type":"assistant"}
            {"message":{"content":[{"id":"call_99973e2523861bb2d9cb2a91","input":{"x":1},"name":"own","type":"tool_use"}],"model":"scripted","role":"assistant"},"type":"assistant"}
            {"event":{"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":10,"output_tokens":5}},"type":"stream_event"}
            {"event":{"type":"message_stop"},"type":"stream_event"}
        "#]],
    );
}

#[test]
fn several_calls_that_are_written_at_once_keep_their_blocks() {
    let piece = |id: &str, delta: &str| {
        (
            "r",
            AgentEvent::Message(MessageEvent::ToolCallDelta {
                call_id: id.into(),
                name: "bash".into(),
                delta: delta.into(),
            }),
        )
    };
    let content = vec![
        Content::ToolCall(call("1", "bash", json!({ "command": "a" }))),
        Content::ToolCall(call("2", "bash", json!({ "command": "b" }))),
    ];
    let events = numbered([
        ("r", AgentEvent::Message(MessageEvent::Start { message: answer(Vec::new(), StopReason::Stop) })),
        piece("1", ""),
        piece("2", "{\"command\""),
        piece("1", "{\"command\":\"a\",\"background\":true}"),
        piece("2", ":\"b\"}"),
        ("r", AgentEvent::Message(MessageEvent::End { message: answer(content, StopReason::ToolUse) })),
    ]);
    let shown = lines(ALL, &events);
    let stream: Vec<Value> = shown.iter().filter_map(|line| line.get("event").cloned()).collect();
    expect![[r#"
        {"message":{"content":[],"id":"msg_763e93c3fc9981c4987c5cdff57f62b5","model":"scripted","role":"assistant","stop_reason":null,"stop_sequence":null,"type":"message","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0}},"type":"message_start"}
        {"content_block":{"id":"1","input":{},"name":"Bash","type":"tool_use"},"index":0,"type":"content_block_start"}
        {"content_block":{"id":"2","input":{},"name":"Bash","type":"tool_use"},"index":1,"type":"content_block_start"}
        {"delta":{"partial_json":"{\"command\":\"a\",\"run_in_background\":true}","type":"input_json_delta"},"index":0,"type":"content_block_delta"}
        {"index":0,"type":"content_block_stop"}
        {"delta":{"partial_json":"{\"command\":\"b\"}","type":"input_json_delta"},"index":1,"type":"content_block_delta"}
        {"index":1,"type":"content_block_stop"}
        {"delta":{"stop_reason":"tool_use","stop_sequence":null},"type":"message_delta","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":10,"output_tokens":5}}
        {"type":"message_stop"}
    "#]].assert_eq(&stream.iter().map(|event| format!("{event}\n")).collect::<String>());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_tried_again_says_so_and_shows_nothing_of_the_failed_try() {
    let overloaded = ProviderError::new(ProviderErrorKind::Overloaded, "try later");
    let scenario =
        Scenario::new().turn(Turn::new().text("half an").error(overloaded)).turn(Turn::say("whole"));
    check(
        &lines(StreamOptions::default(), &events_of(scenario, Vec::new()).await),
        &expect![[r#"
        {"additional_directories":["/other"],"agents":["explore"],"apiKeySource":"none","capabilities":[],"claude_code_version":"0.1.0","cwd":"/project","fast_mode_state":"off","mcp_servers":[{"name":"files","status":"failed"}],"model":"scripted","original_cwd":"/project","output_style":"default","permissionMode":"default","plugins":[],"skills":["deploy"],"slash_commands":["compact"],"subtype":"init","terminal_slash_commands":[],"tools":["Bash","Read","Edit","TodoWrite","ExitPlanMode","own"],"type":"system"}
        {"attempt":1,"error":"try later","error_status":null,"max_retries":3,"retry_delay_ms":800,"subtype":"api_retry","type":"system"}
        {"message":{"content":[{"text":"whole","type":"text"}],"model":"scripted","role":"assistant"},"type":"assistant"}
        {"api_error_status":null,"duration_api_ms":800,"duration_ms":800,"fast_mode_state":"off","is_error":false,"modelUsage":{"scripted":{"cacheCreationInputTokens":0,"cacheReadInputTokens":0,"contextWindow":1000,"costUSD":0.0,"inputTokens":0,"maxOutputTokens":100,"outputTokens":0,"webSearchRequests":0}},"num_turns":1,"permission_denials":[],"result":"whole","result_index":0,"stop_reason":"end_turn","subtype":"success","terminal_reason":"completed","total_cost_usd":0.0,"ttft_ms":0,"type":"result","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0,"server_tool_use":{"web_fetch_requests":0,"web_search_requests":0},"service_tier":"standard"}}
    "#]],
    );
}

fn result_of(end: RunEnd) -> Value {
    let output = AgentOutput { text: "words".into(), turns: 2, ..AgentOutput::new(end) };
    let events = numbered([("r", starts()), ("r", AgentEvent::Run(RunEvent::End { output: output.into() }))]);
    lines(StreamOptions::default(), &events).pop().unwrap()
}

#[test]
fn every_end_has_its_subtype() {
    let limit = |limit| RunEnd::Limit { limit, message: "enough".into() };
    let failed = |failure| RunEnd::Failed { failure };
    let auth = ProviderError::new(ProviderErrorKind::Auth, "bad key");
    let ends = [
        RunEnd::Completed,
        RunEnd::Truncated,
        limit(LimitKind::Turns),
        limit(LimitKind::Budget),
        limit(LimitKind::Tokens),
        limit(LimitKind::Duration),
        RunEnd::Rejected { rejection: "no secrets".into() },
        RunEnd::Vetoed { point: HookPoint::BeforeTurn, message: "stop".into() },
        RunEnd::Aborted,
        failed(RunFailure::Provider { error: auth }),
        failed(RunFailure::Output { message: "no JSON".into() }),
        failed(RunFailure::Window { message: "full".into() }),
    ];
    let mut rows = String::new();
    for end in ends {
        let line = result_of(end);
        let of = |key: &str| line.get(key).cloned().unwrap_or_default();
        rows += &format!(
            "{} error={} {} result={} errors={} status={}\n",
            of("subtype"),
            of("is_error"),
            of("terminal_reason"),
            of("result"),
            of("errors"),
            of("api_error_status")
        );
    }
    expect![[r#"
        "success" error=false "completed" result="words" errors=null status=null
        "success" error=false "completed" result="words" errors=null status=null
        "error_max_turns" error=true "max_turns" result=null errors=["enough"] status=null
        "error_max_budget_usd" error=true "max_budget" result=null errors=["enough"] status=null
        "error_during_execution" error=true "max_tokens" result=null errors=["enough"] status=null
        "error_during_execution" error=true "max_duration" result=null errors=["enough"] status=null
        "error_during_execution" error=true "rejected" result=null errors=["no secrets"] status=null
        "error_during_execution" error=true "hook_stopped" result=null errors=["stop"] status=null
        "error_during_execution" error=true "aborted_streaming" result=null errors=["the run was cancelled"] status=null
        "success" error=true "api_error" result="API Error: bad key" errors=null status=401
        "error_max_structured_output_retries" error=true "structured_output" result=null errors=["no JSON"] status=null
        "error_during_execution" error=true "failed" result=null errors=["the context window is full: full"] status=null
    "#]].assert_eq(&rows);
}

#[test]
fn what_was_refused_is_listed_in_the_result_and_what_could_not_run_is_not() {
    let content = ["1", "2", "3"].map(|id| Content::ToolCall(call(id, "write", json!({ "path": id }))));
    let blocked = |id: &str, reason: &str| {
        let (call_id, name) = (id.into(), "write".into());
        ("r", AgentEvent::Tool(ToolEvent::Blocked { call_id, name, reason: reason.into() }))
    };
    let output = AgentOutput::new(RunEnd::Completed).into();
    let events = numbered([
        ("r", starts()),
        (
            "r",
            AgentEvent::Message(MessageEvent::End { message: answer(content.to_vec(), StopReason::ToolUse) }),
        ),
        blocked("1", "permission denied: nobody is there"),
        blocked("2", "invalid arguments for write: no content"),
        blocked("3", "a rule says no"),
        blocked("3", "a rule says no"),
        ("r", AgentEvent::Run(RunEvent::End { output })),
    ]);
    let result = lines(StreamOptions::default(), &events).pop().unwrap();
    expect![[r#"
        [
          {
            "tool_input": {
              "file_path": "/project/1"
            },
            "tool_name": "Write",
            "tool_use_id": "1"
          },
          {
            "tool_input": {
              "file_path": "/project/3"
            },
            "tool_name": "Write",
            "tool_use_id": "3"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", result["permission_denials"]));
}

fn guard() -> AgentEvent {
    AgentEvent::Run(RunEvent::Hook {
        hook: "guard".into(),
        point: HookPoint::PermitTool,
        veto: Some("no".into()),
        duration_ms: 3,
        call_id: None,
        arguments: None,
    })
}

fn compacted() -> AgentEvent {
    AgentEvent::Context(ContextEvent::CompactionEnd {
        messages_dropped: 3,
        tokens_before: 900,
        tokens_after: 90,
        summary: Some("we looked".into()),
        cuts: Vec::new(),
        usage: Usage { output: 7, ..Usage::default() },
        cost: None,
    })
}

fn compacting() -> AgentEvent {
    let trigger = CompactionTrigger::Manual;
    AgentEvent::Context(ContextEvent::CompactionStart { trigger, tokens_before: 900 })
}

/// The run of a child of the run `r` begins.
fn child_begins() -> AgentEvent {
    AgentEvent::Run(RunEvent::Start {
        agent_id: "child".into(),
        parent_run_id: Some("r".into()),
        continuation: None,
        model: "small".into(),
        metadata: None,
        settings: None,
        history: None,
        cuts: Vec::new(),
    })
}

#[test]
fn sub_agents_shorter_windows_modes_and_hooks_have_lines_of_their_own() {
    let child = ChildRef { agent_id: "child".into(), session_id: "s".into(), run_id: "c".into() };
    let agent_call = Content::ToolCall(call("call_9", "agent", json!({ "prompt": "look" })));
    let started = AgentEvent::Tool(ToolEvent::Start {
        call_id: "call_9".into(),
        name: "agent".into(),
        args: json!({ "prompt": "look" }).into(),
        effect: Default::default(),
        grant: None,
    });
    let lost = ChildRef { agent_id: "lost".into(), session_id: "s".into(), run_id: "d".into() };
    let (hook, compacted) = (guard(), compacted());
    let usage = Usage { input: 3, output: 4, ..Usage::default() };
    let output = || AgentEvent::Run(RunEvent::End { output: AgentOutput::new(RunEnd::Completed).into() });
    let events = numbered([
        ("r", starts()),
        (
            "r",
            AgentEvent::Message(MessageEvent::End { message: answer(vec![agent_call], StopReason::ToolUse) }),
        ),
        ("r", started),
        (
            "r",
            AgentEvent::Child(ChildEvent::Start { child: child.clone().into(), task: "look around".into() }),
        ),
        ("c", child_begins()),
        (
            "c",
            AgentEvent::Message(MessageEvent::End {
                message: answer(vec![Content::text("found")], StopReason::Stop),
            }),
        ),
        ("c", output()),
        (
            "r",
            AgentEvent::Child(ChildEvent::End {
                child: child.into(),
                summary: "found".into(),
                usage,
                is_error: false,
            }),
        ),
        ("r", AgentEvent::Child(ChildEvent::Start { child: lost.into(), task: "get lost".into() })),
        ("r", hook),
        ("r", AgentEvent::Session(SessionEvent::Mode { mode: PermissionMode::Plan })),
        ("r", compacting()),
        ("r", compacted),
        ("r", output()),
    ]);
    check(
        &lines(StreamOptions { hook_events: true, ..StreamOptions::default() }, &events),
        &expect![[r#"
        {"additional_directories":["/other"],"agents":["explore"],"apiKeySource":"none","capabilities":[],"claude_code_version":"0.1.0","cwd":"/project","fast_mode_state":"off","mcp_servers":[{"name":"files","status":"failed"}],"model":"scripted","original_cwd":"/project","output_style":"default","permissionMode":"default","plugins":[],"skills":["deploy"],"slash_commands":["compact"],"subtype":"init","terminal_slash_commands":[],"tools":["Bash","Read","Edit","TodoWrite","ExitPlanMode","own"],"type":"system"}
        {"message":{"content":[{"id":"call_9","input":{"prompt":"look"},"name":"Agent","type":"tool_use"}],"model":"scripted","role":"assistant"},"type":"assistant"}
        {"description":"look around","prompt":"look around","subtype":"task_started","task_id":"child","task_type":"local_agent","tool_use_id":"call_9","type":"system"}
        {"agent_id":"child","message":{"content":[{"text":"found","type":"text"}],"model":"scripted","role":"assistant"},"parent_tool_use_id":"call_9","task_description":"look around","type":"assistant"}
        {"output_file":"","status":"completed","subtype":"task_notification","summary":"found","task_id":"child","tool_use_id":"call_9","type":"system","usage":{"duration_ms":0,"tool_uses":0,"total_tokens":7}}
        {"description":"get lost","prompt":"get lost","subtype":"task_started","task_id":"lost","task_type":"local_agent","tool_use_id":null,"type":"system"}
        {"duration_ms":3,"hook_event":"PreToolUse","hook_name":"guard","outcome":"error","output":"no","subtype":"hook_response","type":"system"}
        {"permissionMode":"plan","status":null,"subtype":"status","type":"system"}
        {"status":"compacting","subtype":"status","type":"system"}
        {"compact_result":"success","status":null,"subtype":"status","type":"system"}
        {"compact_metadata":{"duration_ms":10,"post_tokens":90,"pre_tokens":900,"trigger":"manual"},"subtype":"compact_boundary","type":"system"}
        {"isReplay":false,"isSynthetic":true,"message":{"content":"we looked","role":"user"},"type":"user"}
        {"output_file":"","status":"stopped","subtype":"task_notification","summary":"stopped with the run that started it","task_id":"lost","tool_use_id":null,"type":"system","usage":{"duration_ms":0,"tool_uses":0,"total_tokens":0}}
        {"api_error_status":null,"duration_api_ms":0,"duration_ms":130,"fast_mode_state":"off","is_error":false,"modelUsage":{"scripted":{"cacheCreationInputTokens":0,"cacheReadInputTokens":0,"contextWindow":1000,"costUSD":0.0,"inputTokens":0,"maxOutputTokens":100,"outputTokens":7,"webSearchRequests":0}},"num_turns":0,"permission_denials":[],"result":"","result_index":0,"stop_reason":null,"subtype":"success","terminal_reason":"completed","total_cost_usd":0.0,"type":"result","usage":{"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"input_tokens":0,"output_tokens":0,"server_tool_use":{"web_fetch_requests":0,"web_search_requests":0},"service_tier":"standard"}}
    "#]],
    );
}

#[test]
fn a_run_that_cannot_begin_still_has_a_result() {
    let mut projector = Projector::new(facts(), StreamOptions::default());
    let lines = projector.refused(rheon_types::Timestamp::from_millis(5), "there is no model");
    let last: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    assert_eq!(projector.last_result(), lines.last().map(String::as_str));
    assert_eq!(
        (&last["subtype"], &last["is_error"], &last["errors"]),
        (&json!("error_during_execution"), &json!(true), &json!(["there is no model"]))
    );
}

#[test]
fn the_first_line_says_what_the_session_offers_and_so_does_the_answer_to_initialize() {
    expect![[r#"
        {"additional_directories":["/other"],"agents":["explore"],"apiKeySource":"none","capabilities":[],"claude_code_version":"0.1.0","cwd":"/project","fast_mode_state":"off","mcp_servers":[{"name":"files","status":"failed"}],"model":"scripted","original_cwd":"/project","output_style":"default","permissionMode":"default","plugins":[],"skills":["deploy"],"slash_commands":["compact"],"subtype":"init","terminal_slash_commands":[],"tools":["Bash","Read","Edit","TodoWrite","ExitPlanMode","own"],"type":"system"}
        {"account":{"apiKeySource":"none"},"agents":[{"description":"what explore does","name":"explore"}],"available_output_styles":["default"],"commands":[{"argumentHint":"","description":"what compact does","name":"compact"}],"hook_on_failure_supported":true,"hooks_applied":true,"models":[{"description":"","displayName":"scripted","value":"scripted"}],"output_style":"default"}
        {"mcpServers":[{"name":"files","status":"failed","tools":[]}]}"#]]
    .assert_eq(&format!("{}\n{}\n{}", facts().init(), facts().initialized(), facts().mcp_status()));
}

#[test]
fn programs_are_told_when_nothing_is_left_to_do() {
    let mut projector = Projector::new(facts(), StreamOptions::default());
    let states = [SessionActivity::Running, SessionActivity::RequiresAction, SessionActivity::Idle];
    let lines = states.map(|state| projector.session_state(state));
    expect![[r#"
        {"sdk_host_only":true,"session_id":"s","state":"running","subtype":"session_state_changed","type":"system","uuid":"887aeea9-f1ec-8d8d-aa0f-841c8146a5b0"}
        {"sdk_host_only":true,"session_id":"s","state":"requires_action","subtype":"session_state_changed","type":"system","uuid":"a3c26423-d61b-8cde-8a0a-cbda9e43db6f"}
        {"sdk_host_only":true,"session_id":"s","state":"idle","subtype":"session_state_changed","type":"system","uuid":"cfff7cc9-101d-8b00-bdee-c515f20b42f2"}"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn results_are_told_in_the_shapes_of_claude_code() {
    let path = json!({ "path": "a.rs" });
    let edit = json!({ "path": "a.rs", "edits": [{ "old_string": "a", "new_string": "b" }] });
    let tasks = json!({ "tasks": [{ "text": "look", "status": "inProgress" }, { "text": "act" }] });
    let diff = json!({ "diff": "-a\n+b", "created": true });
    let rows = [
        ("read", path.clone(), json!({ "kind": "image" })),
        ("edit", edit, diff.clone()),
        ("write", json!({ "path": "a.rs", "content": "b" }), diff),
        ("glob", json!({ "pattern": "*" }), json!({ "files": 3, "shown": 1 })),
        ("search", json!({ "pattern": "x", "output": "files" }), json!({ "matches": 2, "files": 1 })),
        ("todo", tasks, json!({ "open": 2 })),
        (
            "web_fetch",
            json!({ "url": "https://e.com" }),
            json!({ "url": "https://e.com/", "status": 200, "characters": 4 }),
        ),
        ("plan", json!({ "action": "exit", "plan": "# do it" }), Value::Null),
        ("own", path, Value::Null),
    ];
    let mut text = String::new();
    for (name, arguments, details) in rows {
        let call = call("1", name, arguments);
        let result = ToolResult::text("said").with_details(details);
        let foreign = claude_call(&call, std::path::Path::new("/p"));
        let told = claude_result(&call, std::path::Path::new("/p"), &result, 7);
        text += &format!("{} {}\n    {told}\n", foreign.tool_name, foreign.tool_input);
    }
    expect![[r##"
        Read {"file_path":"/p/a.rs"}
            {"content":"said","details":{"kind":"image"}}
        Edit {"file_path":"/p/a.rs","new_string":"b","old_string":"a"}
            {"diff":"-a\n+b","filePath":"/p/a.rs","newString":"b","oldString":"a","originalFile":null,"replaceAll":false,"structuredPatch":[],"userModified":false}
        Write {"content":"b","file_path":"/p/a.rs"}
            {"content":"b","diff":"-a\n+b","filePath":"/p/a.rs","originalFile":null,"structuredPatch":[],"type":"create"}
        Glob {"pattern":"*"}
            {"durationMs":7,"filenames":["said"],"numFiles":3,"truncated":true}
        Grep {"output_mode":"files_with_matches","pattern":"x"}
            {"content":"said","filenames":[],"mode":"files_with_matches","numFiles":1,"numMatches":2}
        TodoWrite {"todos":[{"activeForm":"look","content":"look","status":"in_progress"},{"activeForm":"act","content":"act","status":"pending"}]}
            {"newTodos":[{"activeForm":"look","content":"look","status":"in_progress"},{"activeForm":"act","content":"act","status":"pending"}],"oldTodos":[]}
        WebFetch {"url":"https://e.com"}
            {"bytes":4,"code":200,"durationMs":7,"result":"said","url":"https://e.com/"}
        ExitPlanMode {"plan":"# do it"}
            "said"
        own {"path":"a.rs"}
            "said"
    "##]].assert_eq(&text);
}
