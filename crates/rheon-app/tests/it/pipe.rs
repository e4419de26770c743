//! The pipe as bytes: a newer peer, a peer that sends garbage, one that sends too much, and a host that is none.

use std::sync::Arc;

use futures::StreamExt as _;
use rheon_app::pipe::{FRAME_BYTES_MAX, PipeHost, serve};
use rheon_testkit::{Scenario, Turn};
use rheon_types::protocol::{HostQuery, HostReply, OpenRequest, Subscription};
use rheon_types::{AgentEvent, ClientError, Host as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::protocol_fixture::{Over, Stage, everything, prompt, run_end};

/// The bytes between a peer and the host.
struct Raw {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: tokio::task::JoinHandle<()>,
}

impl Raw {
    fn to(stage: &Stage) -> Self {
        let (near, far) = tokio::io::duplex(1024 * 1024);
        let (reader, writer) = tokio::io::split(far);
        let served = tokio::spawn(serve(Arc::clone(&stage.host), reader, writer));
        let (reader, writer) = tokio::io::split(near);
        Self { lines: BufReader::new(reader).lines(), writer, served }
    }

    async fn say(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    async fn hear(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    async fn ask(&mut self, line: &Value) -> Value {
        self.say(&line.to_string()).await;
        self.hear().await.unwrap()
    }
}

#[tokio::test]
async fn what_a_newer_peer_says_is_answered_and_breaks_nothing() {
    let stage = Stage::new(Over::Nothing, Scenario::new().turn("Hello."));
    let mut raw = Raw::to(&stage);
    let unknown = json!({ "type": "invalid", "message": "this version does not know the command" });
    let opened = raw
        .ask(&json!({ "open": { "id": 1, "request": { "session": { "type": "new" }, "later": 1 } } }))
        .await;
    assert_eq!(opened, json!({ "opened": { "id": 1, "session": 1 } }));
    let command = json!({ "type": "dance", "steps": [1, 2] });
    let answer = raw.ask(&json!({ "send": { "id": 2, "session": 1, "command": command } })).await;
    assert_eq!(answer, json!({ "failed": { "id": 2, "error": unknown } }));
    let answer = raw.ask(&json!({ "ask": { "id": 3, "session": 1, "query": { "type": "mood" } } })).await;
    assert_eq!(answer["failed"]["error"]["message"], "this version does not know the query");
    // A kind of frame, and a value in a known one.
    let answer = raw.ask(&json!({ "teleport": { "id": 4, "to": "x" } })).await;
    assert_eq!((&answer["failed"]["id"], &answer["failed"]["error"]["type"]), (&json!(4), &json!("invalid")));
    let command = json!({ "type": "setMode", "mode": "wild" });
    let answer = raw.ask(&json!({ "send": { "id": 5, "session": 1, "command": command } })).await;
    assert_eq!((&answer["failed"]["id"], &answer["failed"]["error"]["type"]), (&json!(5), &json!("invalid")));
    let answer = raw.ask(&json!({ "teleport": {} })).await;
    assert_eq!(answer["refused"]["error"]["type"], "invalid");
    let answer = raw.ask(&json!({ "ask": { "id": 6, "session": 7, "query": { "type": "cost" } } })).await;
    assert_eq!(answer["failed"]["error"]["type"], "gone");
    // Any number of those is no garbage.
    for id in 100..200 {
        raw.ask(&json!({ "teleport": { "id": id } })).await;
    }
    let answer = raw.ask(&json!({ "ask": { "id": 8, "session": 1, "query": { "type": "cost" } } })).await;
    assert_eq!(answer["reply"]["reply"]["type"], "cost");
    // More was seen than there is.
    raw.say(r#"{"subscribe":{"id":9,"session":1,"subscription":{"after":{"cursor":{"seq":0}}}}}"#).await;
    raw.say(&json!({ "seen": { "id": 9, "bytes": u64::MAX } }).to_string()).await;
    raw.say(&json!({ "unsubscribe": { "id": 77 } }).to_string()).await;
    let event = raw.hear().await.unwrap();
    assert_eq!((&event["event"]["id"], &event["event"]["event"]["seq"]), (&json!(9), &json!(1)));
}

#[tokio::test]
async fn garbage_is_answered_and_then_it_is_enough() {
    let stage = Stage::new(Over::Nothing, Scenario::new());
    let mut raw = Raw::to(&stage);
    let garbage = ["", "hello", "{", "[1]", "{}", "{\"a\":1,\"b\":2}", "\u{0}", "{\"open\":"];
    for line in garbage.iter().cycle().take(16) {
        raw.say(line).await;
        let answer = raw.hear().await.unwrap();
        assert_eq!(answer["refused"]["error"]["type"], "invalid", "{line:?}: {answer}");
    }
    let answer = raw.ask(&json!({ "askHost": { "id": 1, "query": { "type": "config" } } })).await;
    assert_eq!(answer["hostReply"]["reply"]["type"], "config");
    raw.say("too much").await;
    assert_eq!(raw.hear().await.unwrap()["refused"]["error"]["type"], "invalid");
    assert_eq!(raw.hear().await, None);
    raw.served.await.unwrap();
}

#[tokio::test]
async fn a_frame_of_a_hundred_megabytes_is_refused_and_the_next_is_taken() {
    let stage = Stage::new(Over::Nothing, Scenario::new());
    let mut raw = Raw::to(&stage);
    raw.writer
        .write_all(br#"{"send":{"id":42,"session":1,"command":{"type":"prompt","text":""#)
        .await
        .unwrap();
    let piece = vec![b'x'; 1_000_000];
    for _ in 0..100 {
        raw.writer.write_all(&piece).await.unwrap();
    }
    raw.say("").await;
    let answer = raw.hear().await.unwrap();
    let message = "the message is larger than a pipe can carry (64 MiB); send or request less at once";
    assert_eq!(answer, json!({ "failed": { "id": 42, "error": { "type": "invalid", "message": message } } }));
    let answer = raw.ask(&json!({ "askHost": { "id": 43, "query": { "type": "config" } } })).await;
    assert_eq!(answer["hostReply"]["id"], 43);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_an_error_and_the_session_goes_on() {
    let stage = Stage::new(Over::Pipe, Scenario::new().turn("Hello."));
    let client = stage.open().await;
    let mut events = everything(&*client);
    let error = client.send(prompt(&"x".repeat(100_000_000))).await.unwrap_err();
    assert!(matches!(&error, ClientError::Invalid { message } if message.contains("64 MiB")), "{error:?}");
    client.send(prompt("Hi.")).await.unwrap();
    assert_eq!(run_end(&mut events).await.1, "Hello.");
}

#[tokio::test]
async fn a_large_answer_arrives_in_one_piece() {
    let text = "large ".repeat(1_000_000);
    let stage = Stage::new(Over::Pipe, Scenario::new().turn(Turn::say(text.clone()).chunked(2_000_000)));
    let client = stage.open().await;
    let mut events = everything(&*client);
    client.send(prompt("Speak.")).await.unwrap();
    assert!(run_end(&mut events).await.1 == text);
}

/// A host that says these lines as soon as it is asked anything, and then nothing more.
fn speaks(lines: String) -> PipeHost {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (mut heard, mut says) = tokio::io::split(far);
    tokio::spawn(async move {
        tokio::io::AsyncReadExt::read_u8(&mut heard).await.unwrap();
        says.write_all(lines.as_bytes()).await.ok();
        tokio::io::copy(&mut heard, &mut tokio::io::sink()).await.ok();
    });
    let (reader, writer) = tokio::io::split(near);
    PipeHost::connect(reader, writer)
}

#[tokio::test]
async fn a_host_that_speaks_another_language_is_gone() {
    let host = speaks("HTTP/1.1 400 Bad Request\r\n".repeat(17));
    let gone = host.query(HostQuery::Config).await.unwrap_err();
    assert!(
        matches!(&gone, ClientError::Closed { message } if message.contains("does not speak")),
        "{gone:?}"
    );
    let gone = host.open(OpenRequest::default()).await.err().unwrap();
    assert!(matches!(gone, ClientError::Closed { .. }), "{gone:?}");
}

#[tokio::test]
async fn what_a_newer_host_says_is_kept_or_passed_over() {
    let event = json!({
        "seq": 1, "at": 0, "session_id": "s", "kind": { "type": "mood.changed", "mood": "good" },
    });
    let lines = [
        json!({ "weather": { "is": "fine" } }),
        json!({ "opened": { "id": 1, "session": 3, "with": "more" } }),
        json!({ "refused": { "error": { "type": "tired" } } }),
    ];
    let more = [
        json!({ "progress": { "id": 2 } }),
        json!({ "event": { "id": 2, "event": event } }),
        json!({ "failed": { "id": 2, "error": { "type": "tired", "hours": 3 } } }),
    ];
    let text = |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(near);
    let host = PipeHost::connect(reader, writer);
    let (heard, mut says) = tokio::io::split(far);
    let mut heard = BufReader::new(heard).lines();
    let (client, ()) = tokio::join!(host.open(OpenRequest::default()), async {
        heard.next_line().await.unwrap();
        says.write_all(text(&lines).as_bytes()).await.unwrap();
    });
    let client = client.unwrap();
    let mut events = client.events(Subscription::after(0));
    heard.next_line().await.unwrap();
    says.write_all(text(&more).as_bytes()).await.unwrap();
    let event = events.next().await.unwrap().unwrap();
    assert!(matches!(&event.kind, AgentEvent::Unknown(_)), "{event:?}");
    assert_eq!(event.kind.name(), "mood.changed");
    assert_eq!(events.next().await, Some(Err(ClientError::Unknown)));
    assert!(events.next().await.is_none());
    // The host goes: whoever waits is told.
    let mut waiting = client.events(Subscription::after(0));
    drop((heard, says));
    assert!(matches!(waiting.next().await, Some(Err(ClientError::Closed { .. }))));
    assert!(matches!(host.query(HostQuery::Config).await, Err(ClientError::Closed { .. })));
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_an_error() {
    let line = format!("{{\"hostReply\":{{\"id\":1,\"reply\":\"{}", "x".repeat(FRAME_BYTES_MAX + 1));
    let host = speaks(
        line + "\n"
            + &json!({
                "hostReply": { "id": 2, "reply": { "type": "sessions", "sessions": [] } },
            })
            .to_string()
            + "\n",
    );
    let (first, second) = tokio::join!(host.query(HostQuery::Config), host.query(HostQuery::Config));
    assert!(
        matches!(&first, Err(ClientError::Invalid { message }) if message.contains("64 MiB")),
        "{first:?}"
    );
    assert_eq!(second, Ok(HostReply::Sessions { sessions: Vec::new() }));
}
