//! Subscribers that stop reading, come and go in great numbers, and answer or do not answer questions.

use futures::{FutureExt as _, StreamExt as _};
use rheon_testkit::{Scenario, Turn};
use rheon_types::event::PermissionDecision;
use rheon_types::protocol::{Cursor, Subscription};
use rheon_types::{
    AgentEvent, ApprovalEvent, ApprovalId, Client, ClientError, Command, EventStream, ToolEvent,
};

use super::protocol_fixture::{
    Over, Stage, both_ways, everything, facts, next, numbers, open_named, prompt, run_end, snapshot, until,
    written,
};

both_ways! {
    one_that_stops_reading_stops_nobody_and_gets_everything_later
    one_that_stops_reading_is_cut_off_and_comes_back
    one_that_stops_reading_gets_everything_after_the_store_gave_up
    ten_thousand_subscribers_come_and_go
    a_client_that_disappears_with_a_question_open_has_said_no
    of_two_answers_the_first_counts
    where_nobody_answers_what_would_ask_is_denied_until_somebody_joins
    a_session_that_nobody_holds_ends_its_run
}

/// Enough pieces to fill the ring of recent events and whatever a pipe holds.
const PIECES: usize = 12_000;

fn long_answer() -> String {
    "0123456789".repeat(PIECES / 10)
}

async fn one_that_stops_reading_stops_nobody_and_gets_everything_later(over: Over) {
    let stage = Stage::new(over, Scenario::new().turn(Turn::say(long_answer()).chunked(1)));
    let client = stage.open().await;
    let mut stalled = client.events(Subscription::after(0));
    let mut reading = everything(&*client);
    let first = next(&mut stalled).await;
    client.send(prompt("Count.")).await.unwrap();
    let (seen, text) = run_end(&mut reading).await;
    assert_eq!((text.len(), written(&seen) == text), (PIECES, true));
    // Nor does it hold up questions.
    assert_eq!(snapshot(&*client).await.cursor.seq, seen.last().unwrap().seq);
    let (mut late, _) = run_end(&mut stalled).await;
    late.insert(0, first);
    assert_eq!(numbers(&late), numbers(&seen));
    assert_eq!(written(&late), text);
    assert!(late.len() < seen.len(), "{} of {}", late.len(), seen.len());
}

async fn one_that_stops_reading_is_cut_off_and_comes_back(over: Over) {
    let stage = Stage::new(over, Scenario::new().turn(Turn::say(long_answer()).chunked(1)));
    let client = stage.open().await;
    let mut stalled = client.events(Subscription::after(0).cut_off());
    let mut reading = everything(&*client);
    client.send(prompt("Count.")).await.unwrap();
    let (seen, text) = run_end(&mut reading).await;
    let mut late = Vec::new();
    let cut_off = loop {
        match stalled.next().await.expect("an error before the end") {
            Ok(event) => late.push(event),
            Err(ClientError::CutOff { seq }) => break seq,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(stalled.next().await.is_none());
    assert_eq!(cut_off, *numbers(&late).last().unwrap());
    let cursor = Cursor { seq: cut_off, text_bytes: written(&late).len() as u64, thinking_bytes: 0 };
    let (rest, _) = run_end(&mut client.events(Subscription::from_cursor(cursor))).await;
    late.extend(rest);
    assert_eq!(numbers(&late), numbers(&seen));
    assert_eq!(written(&late), text);
}

async fn one_that_stops_reading_gets_everything_after_the_store_gave_up(over: Over) {
    let stage = Stage::new(over, Scenario::new().turn(Turn::say(long_answer()).chunked(1)));
    let client = stage.open().await;
    let mut stalled = client.events(Subscription::after(0));
    let mut reading = everything(&*client);
    let first = next(&mut stalled).await;
    stage.break_disk();
    client.send(prompt("Count.")).await.unwrap();
    let (seen, text) = run_end(&mut reading).await;
    assert!(text.len() == PIECES && written(&seen) == text);
    let told = |kind: &AgentEvent| match kind {
        AgentEvent::Session(rheon_types::SessionEvent::Notice { notice }) => Some(notice.message.clone()),
        _ => None,
    };
    let notices: Vec<String> = seen.iter().filter_map(|event| told(&event.kind)).collect();
    assert!(
        notices.iter().any(|notice| notice.contains("a file is in the way of a directory")),
        "{notices:?}"
    );
    let (mut late, _) = run_end(&mut stalled).await;
    late.insert(0, first);
    assert_eq!((numbers(&late), written(&late)), (numbers(&seen), text));
    let (again, _) = run_end(&mut client.events(Subscription::after(0))).await;
    assert_eq!(numbers(&again), numbers(&seen));
}

async fn ten_thousand_subscribers_come_and_go(over: Over) {
    let stage = Stage::silent(over, Scenario::new().turn("Hello."));
    let client = stage.open().await;
    let id = facts(&*client).await.session_id;
    let mut reading = everything(&*client);
    client.send(prompt("Hi.")).await.unwrap();
    for batch in 0..100 {
        let mut events: Vec<EventStream> =
            (0..100).map(|_| client.events(Subscription::after(0).answering())).collect();
        // Some read, most leave without a word.
        next(&mut events[batch % 100]).await;
        let load = stage.local.load(&id).unwrap();
        assert!(load.recent_events <= load.recent_events_max, "{load:?}");
    }
    stage.model.allow_all();
    assert_eq!(run_end(&mut reading).await.1, "Hello.");
    // Those who left are gone, also those whose leaving is still on its way through a pipe.
    drop(reading);
    while stage.local.load(&id).unwrap().subscribers > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(stage.local.load(&id).unwrap().recent_events, 0);
    let mut last = client.events(Subscription::after(0));
    assert_eq!(run_end(&mut last).await.1, "Hello.");
}

/// The model writes a file, for which it has to ask, and says so.
fn writes() -> Scenario {
    let call = Turn::call("write", serde_json::json!({ "path": "made.txt", "content": "made" }));
    Scenario::new()
        .turn(call)
        .turn(Turn::say("It is done.").when_tool_result_is_ok())
        .turn(Turn::say("I may not.").when_tool_result_is_error())
}

async fn question(events: &mut EventStream) -> ApprovalId {
    let asked = |kind: &AgentEvent| match kind {
        AgentEvent::Approval(ApprovalEvent::Required { request }) => Some(request.id.clone()),
        _ => None,
    };
    until(events, asked).await.1
}

async fn answer(client: &dyn Client, request_id: ApprovalId) -> Result<(), ClientError> {
    let response = PermissionDecision::Allow.into();
    client.send(Command::RespondPermission { request_id, response }).await.map(drop)
}

async fn a_client_that_disappears_with_a_question_open_has_said_no(over: Over) {
    let stage = Stage::new(over, writes());
    let client = stage.open().await;
    let id = facts(&*client).await.session_id;
    let peer = stage.peer();
    let second = open_named(&*peer, id.as_str()).await;
    let mut answering = everything(&*second);
    let mut watching = client.events(Subscription::after(0));
    client.send(prompt("Write.")).await.unwrap();
    let request_id = question(&mut answering).await;
    drop((answering, second, peer));
    let (_, text) = run_end(&mut watching).await;
    assert_eq!((text.as_str(), stage.has("made.txt")), ("I may not.", false));
    let late = answer(&*client, request_id.clone()).await;
    assert_eq!(late, Err(ClientError::UnknownApproval { request_id }));
}

async fn of_two_answers_the_first_counts(over: Over) {
    let stage = Stage::new(over, writes());
    let client = stage.open().await;
    let second = open_named(&*stage.peer(), facts(&*client).await.session_id.as_str()).await;
    let (mut first_events, mut second_events) = (everything(&*client), everything(&*second));
    // Both are there before anything is asked.
    snapshot(&*second).await;
    client.send(prompt("Write.")).await.unwrap();
    let request_id = question(&mut first_events).await;
    assert_eq!(question(&mut second_events).await, request_id);
    assert_eq!(snapshot(&*client).await.approvals.len(), 1);
    let (first, then) =
        (answer(&*second, request_id.clone()).await, answer(&*client, request_id.clone()).await);
    assert_eq!((first, then), (Ok(()), Err(ClientError::UnknownApproval { request_id })));
    assert_eq!(run_end(&mut first_events).await.1, "It is done.");
    assert_eq!(run_end(&mut second_events).await.1, "It is done.");
    assert!(stage.has("made.txt"));
}

async fn where_nobody_answers_what_would_ask_is_denied_until_somebody_joins(over: Over) {
    let call = || Turn::call("write", serde_json::json!({ "path": "made.txt", "content": "made" }));
    let stage = Stage::new(over, Scenario::new().turn(call()).turn("I may not.").turn(call()).turn("Done."));
    let client = stage.open().await;
    let mut watching = client.events(Subscription::after(0));
    client.send(prompt("Write.")).await.unwrap();
    let blocked =
        |kind: &AgentEvent| matches!(kind, AgentEvent::Tool(ToolEvent::Blocked { .. })).then_some(());
    until(&mut watching, blocked).await;
    assert_eq!(run_end(&mut watching).await.1, "I may not.");
    assert!(!stage.has("made.txt"));

    let second = open_named(&*stage.peer(), facts(&*client).await.session_id.as_str()).await;
    let mut answering = second.events(Subscription::from_now().answering());
    snapshot(&*second).await;
    client.send(prompt("Write again.")).await.unwrap();
    let request_id = question(&mut answering).await;
    answer(&*second, request_id).await.unwrap();
    assert_eq!(run_end(&mut watching).await.1, "Done.");
    assert!(stage.has("made.txt"));
}

async fn a_session_that_nobody_holds_ends_its_run(over: Over) {
    let stage = Stage::silent(over, Scenario::new().turn("Hello."));
    let client = stage.open().await;
    let id = facts(&*client).await.session_id;
    let mut events = everything(&*client);
    client.send(prompt("Hi.")).await.unwrap();
    let started = |kind: &AgentEvent| matches!(kind, AgentEvent::Turn(_)).then_some(());
    until(&mut events, started).await;
    drop(client);
    while let Some(event) = events.next().await {
        event.unwrap();
    }
    assert!(events.next().now_or_never().flatten().is_none());
    // It can be opened again once its log is let go.
    let resumed = loop {
        let session = rheon_types::protocol::SessionChoice::Named { id: id.to_string() };
        let request = rheon_types::protocol::OpenRequest { session, ..Default::default() };
        match stage.host.open(request).await {
            Ok(client) => break client,
            Err(error) if error.to_string().contains("in use") => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    };
    let (seen, _) = run_end(&mut resumed.events(Subscription::after(0))).await;
    assert_eq!(numbers(&seen), (1..=seen.len() as u64).collect::<Vec<_>>());
}
