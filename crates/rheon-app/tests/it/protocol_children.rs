//! Children of a session, directly and over a pipe: what the user says to them, and what they ask.

use std::sync::Arc;

use rheon_testkit::{Scenario, Turn, WorkerScript, WorkerStep, delegate, scripted_agent_worker};
use rheon_types::event::{PermissionDecision, PermissionMode};
use rheon_types::{
    AgentEvent, ApprovalEvent, ChildEvent, ClientError, Command, Content, EventStream, SessionId, Tool,
};
use serde_json::json;

use super::protocol_fixture::{Over, Stage, both_ways, everything, prompt, run_end, until};

both_ways! {
    a_child_is_steered_by_its_session
    a_child_is_cancelled_alone
    a_child_asks_by_its_name_and_hears_a_follow_up
}

fn stage(over: Over, steps: impl IntoIterator<Item = WorkerStep>) -> Stage {
    let worker = Arc::new(scripted_agent_worker(WorkerScript::new(steps)));
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(delegate(worker))];
    let call = Turn::call("delegate", json!({ "task": "Look around." }));
    let stage = Stage::with_tools(over, Scenario::new().turn(call).turn("All done."), tools);
    stage.model.allow_all();
    stage
}

async fn child(events: &mut EventStream) -> SessionId {
    let started = |kind: &AgentEvent| match kind {
        AgentEvent::Child(ChildEvent::Start { child, .. }) => Some(child.session_id.clone()),
        _ => None,
    };
    until(events, started).await.1
}

async fn child_end(events: &mut EventStream) -> String {
    let ended = |kind: &AgentEvent| match kind {
        AgentEvent::Child(ChildEvent::End { summary, .. }) => Some(summary.clone()),
        _ => None,
    };
    until(events, ended).await.1
}

fn steer(text: &str, child: &SessionId) -> Command {
    Command::Steer { content: vec![Content::text(text)], child: Some(child.clone()) }
}

async fn a_child_is_steered_by_its_session(over: Over) {
    let stage = stage(over, [WorkerStep::Listen]);
    let client = stage.open().await;
    let mut events = everything(&*client);
    client.send(Command::SetMode { mode: PermissionMode::BypassPermissions }).await.unwrap();
    client.send(prompt("Go.")).await.unwrap();
    let child = child(&mut events).await;
    let nobody = SessionId::from("nobody");
    let unknown = |id: &SessionId| Err(ClientError::UnknownChild { session_id: id.clone() });
    assert_eq!(client.send(steer("left", &nobody)).await, unknown(&nobody));
    client.send(steer("left", &child)).await.unwrap();
    assert_eq!(child_end(&mut events).await, "heard: left");
    assert_eq!(run_end(&mut events).await.1, "All done.");
    assert_eq!(client.send(steer("right", &child)).await, unknown(&child));
    assert_eq!(client.send(Command::Cancel { child: Some(child.clone()) }).await, unknown(&child));
}

async fn a_child_is_cancelled_alone(over: Over) {
    let stage = stage(over, [WorkerStep::Hang]);
    let client = stage.open().await;
    let mut events = everything(&*client);
    client.send(Command::SetMode { mode: PermissionMode::BypassPermissions }).await.unwrap();
    client.send(prompt("Go.")).await.unwrap();
    let child = child(&mut events).await;
    client.send(Command::Cancel { child: Some(child) }).await.unwrap();
    child_end(&mut events).await;
    assert_eq!(run_end(&mut events).await.1, "All done.");
}

async fn a_child_asks_by_its_name_and_hears_a_follow_up(over: Over) {
    let steps = [WorkerStep::Act(json!({})), WorkerStep::say("First."), WorkerStep::say("Second.")];
    let stage = stage(over, steps);
    let client = stage.open().await;
    let mut events = everything(&*client);
    client.send(Command::SetMode { mode: PermissionMode::BypassPermissions }).await.unwrap();
    client.send(prompt("Go.")).await.unwrap();
    let child = child(&mut events).await;
    let asked = |kind: &AgentEvent| match kind {
        AgentEvent::Approval(ApprovalEvent::Required { request }) if request.child.is_some() => {
            Some(Arc::clone(request))
        }
        _ => None,
    };
    let (_, request) = until(&mut events, asked).await;
    assert_eq!(
        (request.child.as_deref(), request.tool_name.as_str(), request.reason.as_str()),
        (Some("helper"), "act", "this tool may change something")
    );
    let content = vec![Content::text("And then?")];
    client.send(Command::FollowUp { content, child: Some(child) }).await.unwrap();
    let response = PermissionDecision::Allow.into();
    client.send(Command::RespondPermission { request_id: request.id.clone(), response }).await.unwrap();
    assert_eq!(child_end(&mut events).await, "Second.");
    assert_eq!(run_end(&mut events).await.1, "All done.");
}
