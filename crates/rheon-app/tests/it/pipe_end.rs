//! A pipe that breaks without a word: whoever waits is told, and the session goes on without whoever was at its other end.

use std::future::pending;
use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _};
use rheon_app::pipe::{PipeHost, serve};
use rheon_testkit::{Scenario, Turn};
use rheon_types::event::{PermissionDecision, Responder};
use rheon_types::protocol::{HostCommand, HostQuery, HostReply, OpenRequest, Subscription};
use rheon_types::{AgentEvent, ApprovalEvent, BoxFuture, Client, ClientError, EventStream, Host};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::protocol_fixture::{Over, Stage, everything, facts, open_named, prompt, run_end, until};

/// A host that never answers a query.
struct Silent(Arc<dyn Host>);

impl Host for Silent {
    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>> {
        self.0.open(request)
    }

    fn query(&self, _query: HostQuery) -> BoxFuture<'_, Result<HostReply, ClientError>> {
        Box::pin(pending())
    }

    fn send(&self, command: HostCommand) -> BoxFuture<'_, Result<HostReply, ClientError>> {
        self.0.send(command)
    }
}

/// A cable between a host and its peer, which can be cut: both ends then see that the other is gone, and nothing more.
struct Cable(tokio::task::JoinHandle<()>);

impl Cable {
    fn to(host: Arc<dyn Host>) -> (PipeHost, Self) {
        let (peer, mut peer_end) = tokio::io::duplex(64 * 1024);
        let (served, mut host_end) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(served);
        drop(tokio::spawn(serve(host, reader, writer)));
        let carrying = tokio::spawn(async move {
            tokio::io::copy_bidirectional(&mut peer_end, &mut host_end).await.ok();
        });
        let (reader, writer) = tokio::io::split(peer);
        (PipeHost::connect(reader, writer), Self(carrying))
    }

    async fn cut(self) {
        self.0.abort();
        self.0.await.ok();
    }
}

/// The model writes a file, for which it has to ask, and goes on.
fn writes() -> Scenario {
    let call = Turn::call("write", json!({ "path": "made.txt", "content": "made" }));
    Scenario::new().turn(call).turn("I may not.").turn("Still here.")
}

async fn question(events: &mut EventStream) {
    let asked = |kind: &AgentEvent| {
        matches!(kind, AgentEvent::Approval(ApprovalEvent::Required { .. })).then_some(())
    };
    until(events, asked).await;
}

/// The question is denied because nobody is left, and the session takes another prompt.
async fn goes_on(stage: &Stage, client: &dyn Client, watching: &mut EventStream) {
    let resolved = |kind: &AgentEvent| match kind {
        AgentEvent::Approval(ApprovalEvent::Resolved { decision, by, .. }) => Some((*decision, *by)),
        _ => None,
    };
    let answer = until(watching, resolved).await.1;
    assert_eq!(answer, (PermissionDecision::Deny, Responder::NonInteractive));
    assert_eq!(run_end(watching).await.1, "I may not.");
    assert!(!stage.has("made.txt"));
    client.send(prompt("Are you there?")).await.unwrap();
    assert_eq!(run_end(watching).await.1, "Still here.");
}

#[tokio::test]
async fn a_pipe_that_breaks_is_an_error_for_whoever_waits_and_no_end_of_the_session() {
    let stage = Stage::new(Over::Nothing, writes());
    let (pipe, cable) = Cable::to(Arc::new(Silent(Arc::clone(&stage.host))));
    let far = pipe.open(OpenRequest::default()).await.unwrap();
    let near = open_named(&*stage.host, facts(&*far).await.session_id.as_str()).await;
    let mut watching = near.events(Subscription::after(0));
    let mut answering = everything(&*far);
    far.send(prompt("Write.")).await.unwrap();
    question(&mut answering).await;
    let mut waiting = pipe.query(HostQuery::Config);
    assert!((&mut waiting).now_or_never().is_none());
    cable.cut().await;
    let gone = waiting.await;
    assert!(matches!(gone, Err(ClientError::Closed { .. })), "{gone:?}");
    let last = loop {
        match answering.next().await {
            Some(Ok(_)) => {}
            last => break last,
        }
    };
    assert!(matches!(last, Some(Err(ClientError::Closed { .. }))), "{last:?}");
    assert!(answering.next().await.is_none());
    let gone = far.send(prompt("Are you there?")).await;
    assert!(matches!(gone, Err(ClientError::Closed { .. })), "{gone:?}");
    let gone = far.events(Subscription::from_now()).next().await;
    assert!(matches!(gone, Some(Err(ClientError::Closed { .. }))), "{gone:?}");
    goes_on(&stage, &*near, &mut watching).await;
}

#[tokio::test]
async fn a_peer_that_dies_in_the_middle_of_a_request_has_said_nothing() {
    let stage = Stage::new(Over::Nothing, writes());
    let near = stage.open().await;
    let id = facts(&*near).await.session_id;
    let mut watching = near.events(Subscription::after(0));
    let (peer, served) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(served);
    let serving = tokio::spawn(serve(Arc::clone(&stage.host), reader, writer));
    let (reader, mut writer) = tokio::io::split(peer);
    let mut lines = BufReader::new(reader).lines();
    let requests = [
        json!({ "open": { "id": 1, "request": { "session": { "type": "named", "id": id } } } }),
        json!({ "subscribe": { "id": 2, "session": 1, "subscription": {
            "after": { "cursor": { "seq": 0 } }, "answers": true,
        } } }),
    ];
    for request in requests {
        writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
        lines.next_line().await.unwrap().unwrap();
    }
    near.send(prompt("Write.")).await.unwrap();
    let request_id = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        let frame: serde_json::Value = serde_json::from_str(&line).unwrap();
        let kind = &frame["event"]["event"]["kind"];
        if kind["type"] == "approval.required" {
            break kind["request"]["id"].clone();
        }
    };
    // A whole yes, but for the end of its line.
    let command =
        json!({ "type": "respondPermission", "request_id": request_id, "response": { "decision": "allow" } });
    let yes = json!({ "send": { "id": 3, "session": 1, "command": command } }).to_string();
    writer.write_all(yes.as_bytes()).await.unwrap();
    drop((lines, writer));
    serving.await.unwrap();
    goes_on(&stage, &*near, &mut watching).await;
}
