//! A session recorded as a tree of runs and saved as one JSON file. Offline.
//!
//! Run it with `cargo run -p rheon --example recorder`.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon::store::tree::{
    FileSessionStore, LoopRecord, Session, SessionRecorder, SessionRecorderConfig, SessionStore,
};
use rheon::types::{ContinuationKind, Timestamp};

/// A model that answers four times.
fn model() -> ScriptedProvider {
    let usage = Usage { input: 100, output: 10, ..Usage::default() };
    let answers = ["Call it Flow.", "Call it Stream.", "Call it River.", "River is short and easy to spell."];
    let turns = answers.map(|answer| Turn::say(answer).usage(usage));
    ScriptedProvider::new(turns.into_iter().fold(Scenario::new(), Scenario::turn))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let recorder = Arc::new(Mutex::new(SessionRecorder::new(SessionRecorderConfig::default())));
    let recording = Arc::clone(&recorder);
    let agent = Agent::builder()
        .provider(model())
        .session("naming")
        .on_event(move |event| recording.lock().unwrap_or_else(PoisonError::into_inner).on_event(event))
        .build()?;

    let at = Timestamp::from_millis(1_700_000_000_000);
    agent.run("Find a name for my library.").await?;
    agent.continue_run(ContinuationKind::rerun(at))?.finish().await?;
    agent.continue_run(ContinuationKind::branch(at))?.finish().await?;
    agent.run("Why this one?").await?;

    // Every session without an open run can be saved; the store may as well be in memory or your own.
    let directory = tempfile::tempdir()?;
    let store = FileSessionStore::new(directory.path());
    let completed = recorder.lock().unwrap_or_else(PoisonError::into_inner).drain_completed();
    for session in &completed {
        store.save_session(session).get().await?;
    }

    for id in store.list_session_ids().get().await? {
        let session = store.load_session(&id).get().await?;
        let usage = session.total_usage();
        println!(
            "session {id}: {} runs, {} tokens in, {} out",
            session.loops.len(),
            usage.input,
            usage.output
        );
        session.root_loops().for_each(|root| show(&session, root, 1));
    }
    Ok(())
}

/// Prints a run and, below it, the runs that follow from it.
fn show(session: &Session, record: &LoopRecord, depth: usize) {
    let kind = match &record.continuation_kind {
        None => "prompt",
        Some(ContinuationKind::Default) => "continue",
        Some(ContinuationKind::Rerun { .. }) => "rerun",
        Some(ContinuationKind::Branch { .. }) => "branch",
    };
    let answer = record.messages.last().and_then(|message| message.as_llm()).map(Message::text);
    println!("{}{kind}, {:?}: {}", "  ".repeat(depth), record.status, answer.unwrap_or_default());
    session.children_of(&record.loop_id).for_each(|child| show(session, child, depth + 1));
}
