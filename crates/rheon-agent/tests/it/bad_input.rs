//! A model that misbehaves: each call is answered exactly once, nothing panics, the order holds.

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, Turn, echo, fails, fatal, panics, scripted};
use rheon_types::{AgentEvent, Message, StopReason, ToolEvent, ToolResult};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn invalid_calls_get_typed_errors() {
    let calls = Turn::new()
        .tool_call_with_id("a", "nope", json!({}))
        .tool_call_with_id("b", "echo", json!({ "text": 7, "more": true }))
        .raw_tool_call("c", "echo", "{\"text\": ")
        .raw_tool_call("d", "echo", "[1, 2]")
        .tool_call_with_id("e", "fails", json!({}))
        .tool_call_with_id("f", "panics", json!({}))
        .tool_call_with_id("g", "echo", json!({ "text": "good" }));
    let ran = scripted(Scenario::new().turn(calls).turn("I see."))
        .tool(echo())
        .tool(fails())
        .tool(panics())
        .run("go")
        .await;
    expect![[r#"
        tool.blocked nope a "there is no tool named \"nope\"; available: echo, fails, panics"
        tool.blocked echo b "invalid arguments for echo: /text: 7 is not of type \"string\"; the arguments: Additional properties are not allowed ('more' was unexpected)"
        tool.blocked echo c "the arguments are not JSON: EOF while parsing a value at line 1 column 9: {\"text\": "
        tool.blocked echo d "the arguments are an array, not a JSON object: [1, 2]"
        tool.start fails e {}
        tool.start panics f {}
        tool.start echo g {"text":"good"}
        tool.end fails e error "it does not work"
        tool.end panics f error "the tool panicked: a bug in the tool"
        tool.end echo g ok "good"
        message.end toolResult a error "there is no tool named \"nope\"; available: echo, fails, panics"
        message.end toolResult b error "invalid arguments for echo: /text: 7 is not of type \"string\"; the arguments: Additional properties are not allowed ('more' was unexpected)"
        message.end toolResult c error "the arguments are not JSON: EOF while parsing a value at line 1 column 9: {\"text\": "
        message.end toolResult d error "the arguments are an array, not a JSON object: [1, 2]"
        message.end toolResult e error "it does not work"
        message.end toolResult f error "the tool panicked: a bug in the tool"
        message.end toolResult g "good""#]].assert_eq(&ran.trace.only(&["tool.", "message.end toolResult"]));
    expect![[r#"
        user "go"
        assistant "" [nope a] [echo b] [echo c] [echo d] [fails e] [panics f] [echo g]
        toolResult a error "there is no tool named \"nope\"; available: echo, fails, panics"
        toolResult b error "invalid arguments for echo: /text: 7 is not of type \"string\"; the arguments: Additional properties are not allowed ('more' was unexpected)"
        toolResult c error "the arguments are not JSON: EOF while parsing a value at line 1 column 9: {\"text\": "
        toolResult d error "the arguments are an array, not a JSON object: [1, 2]"
        toolResult e error "it does not work"
        toolResult f error "the tool panicked: a bug in the tool"
        toolResult g "good""#]].assert_eq(&ran.sent(1));
    let kinds: Vec<Value> = ran
        .trace
        .events()
        .into_iter()
        .filter_map(|event| match event.kind {
            AgentEvent::Tool(ToolEvent::End { result, is_error: true, .. }) => Some(result.details.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, [json!({ "error": "failed" }), json!({ "error": "panicked" })]);
}

#[tokio::test(start_paused = true)]
async fn empty_and_repeated_ids_are_made_unique() {
    let say = |text: &str| json!({ "text": text });
    let calls = Turn::new()
        .tool_call_with_id("", "echo", say("one"))
        .tool_call_with_id("same", "echo", say("two"))
        .tool_call_with_id("", "echo", say("three"))
        .tool_call_with_id("same", "echo", say("four"));
    let again = Turn::new().tool_call_with_id("same", "echo", say("five"));
    let ran = scripted(Scenario::new().turn(calls).turn(again).turn("Done.")).tool(echo()).run("go").await;
    expect![[r#"
        user "go"
        assistant "" [echo call_0_0] [echo same] [echo call_0_2] [echo same_2]
        toolResult call_0_0 "one"
        toolResult same "two"
        toolResult call_0_2 "three"
        toolResult same_2 "four"
        assistant "" [echo same_3]
        toolResult same_3 "five""#]]
    .assert_eq(&ran.sent(2));
}

#[tokio::test(start_paused = true)]
async fn a_thousand_calls_in_one_turn_are_all_answered() {
    let mut turn = Turn::new();
    for n in 0..1_000 {
        turn = turn.tool_call_with_id(format!("c{n}"), "echo", json!({ "text": n.to_string() }));
    }
    let ran = scripted(Scenario::new().turn(turn).turn("Phew.")).tool(echo()).run("go").await;
    let messages = ran.agent.messages();
    let results: Vec<(String, bool, String)> = messages
        .for_model()
        .filter_map(|message| match message {
            Message::ToolResult(result) => {
                Some((result.tool_call_id.to_string(), result.is_error, message.text()))
            }
            Message::User(_) | Message::Assistant(_) => None,
        })
        .collect();
    let expected: Vec<(String, bool, String)> = (0..1_000)
        .map(|n| match n {
            0..256 => (format!("c{n}"), false, n.to_string()),
            _ => {
                let text = "not run: at most 256 tool calls run in one turn; call it again in the next";
                (format!("c{n}"), true, text.into())
            }
        })
        .collect();
    assert_eq!(results, expected);
    assert_eq!(ran.result.unwrap().text, "Phew.");
}

#[tokio::test(start_paused = true)]
async fn a_call_cut_by_the_token_limit_is_reported_to_the_model() {
    let half = Turn::new().raw_tool_call("x", "echo", "{\"text\": \"ha").partial().stop(StopReason::Length);
    let ran = scripted(Scenario::new().turn(half).turn("Shorter then.")).tool(echo()).run("go").await;
    expect![[r#"
        user "go"
        assistant "" [echo x]
        toolResult x error "the arguments were cut off: {\"text\": \"ha""#]]
    .assert_eq(&ran.sent(1));
    assert_eq!(ran.result.unwrap().text, "Shorter then.");
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_end_the_run_and_its_siblings_are_answered() {
    let stuck = FnTool::new("stuck", |_, _| std::future::pending());
    let calls = Turn::new()
        .tool_call_with_id("a", "echo", json!({ "text": "fine" }))
        .tool_call_with_id("b", "fatal", json!({}))
        .tool_call_with_id("c", "stuck", json!({}));
    let ran = scripted(Scenario::new().turn(calls).turn("never"))
        .tool(echo())
        .tool(fatal())
        .tool(stuck)
        .run("go")
        .await;
    expect![[r#"
        tool.start echo a {"text":"fine"}
        tool.start fatal b {}
        tool.start stuck c {}
        tool.end echo a ok "fine"
        tool.end fatal b error "the disk is on fire"
        tool.end stuck c error "the tool was stopped"
        message.end toolResult a "fine"
        message.end toolResult b error "the disk is on fire"
        message.end toolResult c error "the tool was stopped"
        agent.end failed(the tool fatal stopped the run: the disk is on fire) """#]]
    .assert_eq(&ran.trace.only(&["tool.", "message.end toolResult", "agent.end"]));
    expect!["the tool fatal stopped the run: the disk is on fire"]
        .assert_eq(&ran.result.unwrap_err().to_string());
}

#[tokio::test(start_paused = true)]
async fn empty_and_thinking_only_answers_end_the_run() {
    for turn in [Turn::new(), Turn::new().thinking("Nothing to say.")] {
        let ran = scripted(Scenario::new().turn(turn)).run("go").await;
        assert_eq!(ran.result.unwrap().text, "");
    }
}

#[tokio::test(start_paused = true)]
async fn a_huge_argument_is_quoted_only_in_part() {
    let long = "x".repeat(1_000_000);
    let calls = Turn::new().tool_call_with_id("a", "echo", json!({ "text": [long] })).raw_tool_call(
        "b",
        "echo",
        format!("{{\"text\": \"{long}"),
    );
    let ran = scripted(Scenario::new().turn(calls).turn("Ok.")).tool(echo()).run("go").await;
    let texts: Vec<usize> = ran.sent(1).lines().skip(2).map(str::len).collect();
    assert!(texts.len() == 2 && texts.iter().all(|len| *len < 3_000), "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn reports_after_the_end_of_a_tool_are_dropped() {
    let (sender, mut left_behind) = tokio::sync::mpsc::channel(1);
    let chatty = FnTool::new("chatty", move |_, context| {
        let sender = sender.clone();
        async move {
            context.progress("in time");
            sender.send(context).await.unwrap();
            Ok(ToolResult::text("done"))
        }
    });
    let ran = scripted(Scenario::new().turn(Turn::call("chatty", json!({}))).turn("Ok."))
        .tool(chatty)
        .run("go")
        .await;
    left_behind.recv().await.unwrap().progress("too late");
    ran.trace.assert_order();
    expect![[r#"
        tool.start chatty call_1_0 {}
        tool.progress chatty call_1_0 "in time"
        tool.end chatty call_1_0 ok "done""#]]
    .assert_eq(&ran.trace.only(&["tool."]));
}
