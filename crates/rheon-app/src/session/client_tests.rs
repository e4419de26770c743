//! A session of this process, driven by commands alone.

use std::sync::Arc;

use futures::StreamExt as _;
use rheon_agent::Agent;
use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_testkit::FnTool;
use rheon_types::event::{PermissionDecision, PermissionMode};
use rheon_types::{
    AgentEvent, ApprovalEvent, Client as _, ClientError, Command, Content, Effect, RunEvent, ToolEvent,
    ToolResult,
};

use super::{Asking, ClientParts, LocalClient};

fn client(scenario: Scenario, asking: Asking) -> LocalClient {
    let deploy = FnTool::new("deploy", |_, _| async { Ok(ToolResult::text("done")) }).effect(Effect::Unsafe);
    let agent = Agent::builder().provider(ScriptedProvider::new(scenario)).tool(deploy).build().unwrap();
    LocalClient::new(ClientParts { agent, gate: None, past: Arc::new(|_| Ok(Vec::new())), asking })
}

fn prompt(text: &str) -> Command {
    Command::Prompt { content: vec![Content::text(text)] }
}

#[tokio::test]
async fn two_watchers_see_the_same_run_and_one_of_them_answers() {
    let scenario = Scenario::new().turn(Turn::call("deploy", serde_json::json!({}))).turn("It is deployed.");
    let client = client(scenario, Asking::Somebody);
    let (mut first, mut second) = (client.watch(), client.watch());
    client.send(prompt("Deploy.")).await.unwrap();
    let mut names = Vec::new();
    loop {
        let event = first.next().await.unwrap();
        assert_eq!(second.next().await.unwrap(), event);
        if let AgentEvent::Approval(ApprovalEvent::Required { request }) = &event.kind {
            let (request_id, response) = (request.id.clone(), PermissionDecision::Allow.into());
            client.send(Command::RespondPermission { request_id, response }).await.unwrap();
        }
        if event.kind.is_durable() {
            names.push(event.kind.name().to_owned());
        }
        if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
            assert_eq!(output.text, "It is deployed.");
            break;
        }
    }
    assert!(names.contains(&"approval.resolved".to_owned()), "{names:?}");
}

#[tokio::test]
async fn where_nobody_can_be_asked_what_would_ask_is_refused_at_once() {
    let scenario = Scenario::new().turn(Turn::call("deploy", serde_json::json!({}))).turn("I may not.");
    let client = client(scenario, Asking::Nobody);
    let mut watch = client.watch();
    client.send(prompt("Deploy.")).await.unwrap();
    let mut refusals = 0;
    loop {
        let event = watch.next().await.unwrap();
        match &event.kind {
            AgentEvent::Tool(ToolEvent::Blocked { .. }) => refusals += 1,
            AgentEvent::Run(RunEvent::End { output }) => {
                assert_eq!((output.text.as_str(), refusals), ("I may not.", 1));
                return;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn a_watcher_that_left_holds_up_nothing() {
    let client = client(Scenario::new().turn("x".repeat(20_000)), Asking::Nobody);
    drop(client.watch());
    let mut events = client.events(0);
    client.send(prompt("Speak.")).await.unwrap();
    let mut last = String::new();
    while let Some(event) = events.next().await {
        let event = event.unwrap();
        if let AgentEvent::Run(RunEvent::End { output }) = &event.kind {
            last = output.text.clone();
            break;
        }
    }
    assert_eq!(last.len(), 20_000);
}

#[tokio::test]
async fn what_a_session_cannot_do_is_refused_with_the_reason() {
    let client = client(Scenario::new().turn("Hello."), Asking::Nobody);
    let mode = client.send(Command::SetMode { mode: PermissionMode::Plan }).await;
    assert_eq!(mode, Err(ClientError::Refused("this session has no permission mode".into())));
    let request_id = "x".into();
    let answer =
        client.send(Command::RespondPermission { request_id, response: PermissionDecision::Allow.into() });
    assert_eq!(answer.await, Err(ClientError::Refused("nobody is asked in this session".into())));
    let nothing = client.send(Command::Prompt { content: Vec::new() }).await;
    assert_eq!(nothing, Err(ClientError::Refused("the prompt is empty".into())));
}

#[tokio::test]
async fn the_past_comes_before_the_present_and_nothing_twice() {
    let first = client(Scenario::new().turn("One."), Asking::Nobody);
    let mut watch = first.watch();
    first.send(prompt("Say one.")).await.unwrap();
    let mut past = Vec::new();
    loop {
        let event = watch.next().await.unwrap();
        let is_over = matches!(event.kind, AgentEvent::Run(RunEvent::End { .. }));
        if event.kind.is_durable() {
            past.push(event);
        }
        if is_over {
            break;
        }
    }
    let agent =
        Agent::builder().provider(ScriptedProvider::new(Scenario::new().turn("Two."))).build().unwrap();
    let (kept, wanted) = (past.clone(), past.len() - 2);
    let second = LocalClient::new(ClientParts {
        agent,
        gate: None,
        past: Arc::new(move |after| Ok(kept.iter().filter(|event| event.seq > after).cloned().collect())),
        asking: Asking::Nobody,
    });
    let seen: Vec<_> = second.events(2).take(wanted).map(Result::unwrap).collect().await;
    assert_eq!(seen, past.split_off(2));
}
