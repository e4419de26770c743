//! Plays a script with real agents in this process, through `AgentWorker`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rheon_agent::{Agent, AgentBuilder, AgentWorker, CheckSettings, LogPosition};
use rheon_providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon_types::{
    AgentEvent, AskFirst, Effect, Message, MessageEvent, ProviderError, ProviderErrorKind, Request,
    SessionId, Store, Task, ToolResult, WorkerError,
};
use serde_json::json;

use super::{WorkerScript, WorkerStep};
use crate::clock::{CountingRandom, TestClock};
use crate::store::InMemoryStore;
use crate::tools::FnTool;

/// The part of run ids that names the config.
const CONFIG_ID: &str = "w";

#[derive(Default)]
struct Sessions {
    tasks: usize,
    stores: HashMap<SessionId, Arc<InMemoryStore>>,
}

/// A worker named `agents` whose agents play `script`.
pub fn scripted_agent_worker(script: WorkerScript) -> AgentWorker {
    let sessions = Mutex::new(Sessions::default());
    AgentWorker::new("agents", move |task| {
        let mut sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let builder = agent(script.steps(sessions.tasks));
        sessions.tasks += 1;
        restore_session(&mut sessions, task, builder)
    })
}

fn agent(steps: Vec<WorkerStep>) -> AgentBuilder {
    let act = FnTool::new("act", |_, _| async { Ok(ToolResult::text("acted")) }).effect(Effect::Unsafe);
    let wait = FnTool::new("wait", |_, _| async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(ToolResult::text("nothing yet"))
    });
    Agent::builder()
        .provider(ScriptedProvider::new(steps.into_iter().fold(Scenario::new(), play)))
        .model("scripted")
        .permission_policy(AskFirst)
        .tool(act)
        .tool(wait)
        .clock(Arc::new(TestClock::default()))
        .random(Arc::new(CountingRandom::default()))
        .agent_id("child")
        .config_id(CONFIG_ID)
        .checks(CheckSettings { nudges_max: 0, ..CheckSettings::default() })
}

/// Saves the session of a task, and restores the one that it resumes.
fn restore_session(
    sessions: &mut Sessions,
    task: &Task,
    builder: AgentBuilder,
) -> Result<AgentBuilder, WorkerError> {
    let Some(session_id) = &task.resume else {
        let session_id = SessionId::from(format!("child-{}", sessions.tasks));
        let store = Arc::new(InMemoryStore::default());
        sessions.stores.insert(session_id.clone(), Arc::clone(&store));
        return Ok(builder.session(session_id).store(store as Arc<dyn Store>));
    };
    let Some(store) = sessions.stores.get(session_id) else {
        return Err(WorkerError::new("agents", format!("unknown session {session_id}")));
    };
    let events = store.events();
    let runs = events.iter().filter(|event| event.kind.name() == "agent.start").count();
    let position = LogPosition {
        seq: events.last().map_or(0, |event| event.seq),
        run_counts: [(CONFIG_ID.to_owned(), runs)].into_iter().collect(),
        ..LogPosition::default()
    };
    let messages = events.iter().filter_map(|event| match &event.kind {
        AgentEvent::Message(MessageEvent::End { message }) => Some(Arc::clone(message)),
        _ => None,
    });
    let store = Arc::clone(store) as Arc<dyn Store>;
    Ok(builder.store(store).history(messages.collect()).position(position))
}

#[allow(clippy::panic, reason = "this is the purpose of the step")]
fn play(scenario: Scenario, step: WorkerStep) -> Scenario {
    match step {
        WorkerStep::Say(text) => scenario.turn(Turn::say(text).usage(WorkerStep::USAGE)),
        WorkerStep::Act(arguments) => scenario.turn(Turn::call("act", arguments).usage(WorkerStep::USAGE)),
        WorkerStep::Listen => scenario.respond(listen),
        WorkerStep::Hang => scenario.turn(Turn::new().hang()),
        WorkerStep::Fail(message) => {
            scenario.turn(Turn::fail(ProviderError::new(ProviderErrorKind::InvalidRequest, message)))
        }
        WorkerStep::Panic => scenario.respond(|_| panic!("a bug in the child")),
    }
}

/// Waits in short turns until the user sends a message after the prompt.
fn listen(request: &Request) -> Option<Turn> {
    let texts = request.messages.for_model().filter(|message| matches!(message, Message::User(_)));
    let texts: Vec<String> = texts.map(Message::text).collect();
    let turn = match texts.get(1..).and_then(<[String]>::last) {
        Some(text) => Turn::say(format!("heard: {text}")),
        None => Turn::call("wait", json!({})),
    };
    Some(turn.usage(WorkerStep::USAGE))
}
