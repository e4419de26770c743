//! A snapshot of a session of 10,000 messages, directly and over a pipe.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;
use rheon_app::pipe::over_memory;
use rheon_types::protocol::{OpenRequest, Query, Reply, SessionChoice, Snapshot, Subscription};
use rheon_types::{AgentEvent, Client, RunEvent};

use crate::best::Best;
use crate::stage::{Answer, Stage, open, prompt};
use crate::{report, runtime};

const MESSAGES: usize = 10_000;
/// What an interface shows at first.
const SHOWN: u32 = 100;
const TEXT_BYTES: usize = 500;
const ROUNDS: usize = 20;

pub(crate) fn measure() {
    let runtime = runtime();
    let best = runtime.block_on(async {
        let stage = Stage::new(false);
        let local = open(&stage.host).await;
        fill(&local, &stage).await;
        let whole = snapshot(&local, None).await;
        assert_eq!(whole.messages.len(), MESSAGES, "all messages are there");
        let id = whole.facts.session_id.to_string();
        let request = OpenRequest { session: SessionChoice::Named { id }, ..OpenRequest::default() };
        let piped = over_memory(Arc::clone(&stage.host)).open(request).await.expect("the session is open");
        let mut best = Best::default();
        for round in 0..=ROUNDS {
            let mut take = |case: &str, start: Instant| {
                if round > 0 {
                    best.take(case, start.elapsed());
                }
            };
            for (name, client) in [("local", &local), ("pipe", &piped)] {
                for (part, most) in [("all", None), ("last", Some(SHOWN))] {
                    let start = Instant::now();
                    let snapshot = snapshot(client, most).await;
                    take(&format!("{name}/{part}"), start);
                    drop(snapshot);
                }
            }
            let start = Instant::now();
            drop(black_box(whole.messages.clone()));
            take("clone", start);
            let start = Instant::now();
            let bytes = serde_json::to_vec(&whole).expect("a snapshot is JSON");
            let again: Snapshot = serde_json::from_slice(&bytes).expect("it is read as it was written");
            take("json", start);
            assert_eq!(again.messages.len(), MESSAGES);
        }
        best
    });
    for case in ["local/all", "local/last", "pipe/all", "pipe/last", "clone", "json"] {
        report(&format!("snapshot/{case}"), best.nanos(case));
    }
}

/// Prompts and answers until there are enough messages.
async fn fill(client: &Arc<dyn Client>, stage: &Stage) {
    let text = "word ".repeat(TEXT_BYTES / 5);
    stage.model.will_say(Answer { pieces: 1, piece: text.as_str().into(), burst: 1, pace: None });
    let mut events = client.events(Subscription::from_now());
    for _ in 0..MESSAGES / 2 {
        client.send(prompt(&text)).await.expect("the run begins");
        loop {
            let event = events.next().await.expect("the end of the run comes").expect("all events come");
            if let AgentEvent::Run(RunEvent::End { .. }) = event.kind {
                break;
            }
        }
    }
}

async fn snapshot(client: &Arc<dyn Client>, messages_max: Option<u32>) -> Snapshot {
    match client.query(Query::Snapshot { messages_max }).await {
        Ok(Reply::Snapshot { snapshot }) => *snapshot,
        other => panic!("not a snapshot: {other:?}"),
    }
}
