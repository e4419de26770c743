//! A session at work: a model that streams and calls a tool, until it is done or killed.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rheon::agent::{ExecutionLimits, LogPosition, SystemClock};
use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon::store::checkpoint::{CheckpointLimits, Checkpoints, TurnCheckpoints};
use rheon::store::claude::{TranscriptLocation, TranscriptWriter};
use rheon::store::sessions::JournalStore;
use rheon::types::History;
use rheon_testkit::FnTool;

use crate::acked_store::AckedStore;
use crate::acks::{Acked, Acks};
use crate::stage::{Outcome, Stage, name};

/// How many calls follow a prompt.
const STEPS: u64 = 3;
/// The result of every so many steps is large enough to be kept outside the journal.
const LARGE_EVERY: u64 = 3;

/// What is said when a message could not be written to the transcript.
pub(crate) const NO_TRANSCRIPT: &str = "no transcript";

/// How long to work.
#[derive(Clone, Copy)]
pub(crate) enum Extent {
    Endless,
    Prompts(u32),
}

/// The state of a session when work on it starts.
pub(crate) struct Standing {
    messages: History,
    position: LogPosition,
    steps: u64,
}

/// Starts or resumes the session and works.
pub(crate) async fn work(stage: &Stage, extent: Extent) -> Outcome {
    let acks = Arc::new(Acks::open(&stage.acks())?);
    let journals = Arc::new(stage.journals());
    let standing = stand(stage, &journals, &acks).await?;
    let agent = agent(stage, &journals, &acks, standing)?;
    match extent {
        Extent::Endless => loop {
            prompt(&agent).await?;
        },
        Extent::Prompts(prompts) => {
            for _ in 0..prompts {
                prompt(&agent).await?;
            }
            Ok(())
        }
    }
}

async fn prompt(agent: &Agent) -> Outcome {
    let output = agent.run("Take the next steps.").await?;
    match &output.end {
        RunEnd::Completed => Ok(()),
        end => Err(format!("the run ended: {end:?}").into()),
    }
}

/// Opens the session if there is one, and says outside what is in it.
pub(crate) async fn stand(stage: &Stage, journals: &JournalStore, acks: &Acks) -> Outcome<Standing> {
    let name = name()?;
    let mut standing = Standing { messages: History::default(), position: LogPosition::default(), steps: 0 };
    if !journals.sessions().list(None).iter().any(|listed| listed.name == name) {
        return Ok(standing);
    }
    acks.say("resuming")?;
    let resumed = journals.resume(&name).await?;
    let acked = Acked::read(&stage.acks())?.last();
    let mut events = Vec::new();
    journals.sessions().read(&name, |event| events.push(event))?;
    for event in &events {
        if event.seq > acked {
            acks.appended(event)?;
        }
        if let AgentEvent::Message(MessageEvent::End { message }) = &event.kind {
            standing.steps = standing.steps.max(last_step(&serde_json::to_string(message)?));
        }
    }
    acks.say(&format!("sync {}", resumed.state.seq))?;
    acks.say("resumed")?;
    for doubt in &resumed.unfinished_calls {
        println!("in doubt: {}", doubt.call_id);
    }
    let run_counts = resumed.state.run_counts().iter().map(|(name, n)| (name.clone(), *n)).collect();
    standing.messages = resumed.state.messages().into_iter().collect();
    standing.position =
        LogPosition { seq: resumed.state.seq, run_counts, tasks: resumed.state.tasks.clone() };
    Ok(standing)
}

/// The highest step that a text names.
fn last_step(text: &str) -> u64 {
    let numbers = text.split("\"step-").skip(1).filter_map(|rest| rest.split('"').next()?.parse().ok());
    numbers.max().unwrap_or_default()
}

/// An agent that goes on from where the session stands. Its log, transcript and checkpoints are acknowledged outside.
pub(crate) fn agent(
    stage: &Stage,
    journals: &Arc<JournalStore>,
    acks: &Arc<Acks>,
    standing: Standing,
) -> Outcome<Agent> {
    let last = Arc::new(AtomicU64::new(standing.position.seq));
    let store =
        AckedStore { journals: Arc::clone(journals), acks: Arc::clone(acks), last: Arc::clone(&last) };
    let transcript = Mutex::new(transcript(stage, acks)?);
    let (told, file) = (Arc::clone(acks), stage.workspace()?.join("file"));
    let agent = Agent::builder()
        .provider(model(standing.steps))
        .tool(tool(stage)?)
        .permission_policy(AllowAll)
        .session("s")
        .agent_id("victim")
        .config_id("c")
        .store(Arc::new(store))
        .history(standing.messages)
        .position(standing.position)
        .limits(ExecutionLimits::default())
        .hook(checkpoints(stage, &last)?)
        .on_event(move |event| {
            if let AgentEvent::Session(SessionEvent::Checkpoint { id, .. }) = &event.kind {
                say_captured(&told, id, &file);
            }
            if let AgentEvent::Message(MessageEvent::End { .. }) = &event.kind {
                let mut transcript = transcript.lock().unwrap_or_else(PoisonError::into_inner);
                let said = match transcript.record(event) {
                    Ok(()) => told.written(event),
                    // A transcript is a view; the session goes on without it.
                    Err(_) => told.say(NO_TRANSCRIPT),
                };
                if let Err(error) = said {
                    eprintln!("cannot say what is in the transcript: {error}");
                }
            }
        })
        .build()?;
    Ok(agent)
}

/// The transcript, made equal to the log first. Its messages are acknowledged outside.
pub(crate) fn transcript(stage: &Stage, acks: &Acks) -> Outcome<TranscriptWriter> {
    let place = TranscriptLocation {
        projects_dir: stage.store("claude"),
        cwd: stage.workspace()?,
        session_id: "s".into(),
        git_branch: None,
    };
    let mut transcript = TranscriptWriter::open(place)?;
    let (sessions, name) = (stage.sessions(), name()?);
    if !sessions.list(None).iter().any(|listed| listed.name == name) {
        return Ok(transcript);
    }
    let mut events = Vec::new();
    sessions.read(&name, |event| events.push(event))?;
    transcript.begin_replay()?;
    events.iter().try_for_each(|event| transcript.replay(event))?;
    transcript.end_replay()?;
    let is_message = |event: &&Event| matches!(event.kind, AgentEvent::Message(MessageEvent::End { .. }));
    events.iter().filter(is_message).try_for_each(|event| acks.written(event))?;
    Ok(transcript)
}

/// Streams a text and calls the tool, `STEPS` times; then says that it is done.
fn model(steps: u64) -> ScriptedProvider {
    let (requests, step) = (AtomicU64::new(0), AtomicU64::new(steps));
    ScriptedProvider::new(Scenario::new().respond(move |_| {
        let words = "I look at what is there, word by word, and then I go on. ".repeat(8);
        if requests.fetch_add(1, Ordering::Relaxed) % (STEPS + 1) == STEPS {
            return Some(Turn::new().text(words).chunked(8));
        }
        let step = step.fetch_add(1, Ordering::Relaxed) + 1;
        let turn = Turn::new().text(words).chunked(8);
        Some(turn.tool_call_with_id(format!("step-{step}"), "effect", json!({ "step": step })))
    }))
}

/// Does something to the world that everybody can count.
fn tool(stage: &Stage) -> Outcome<FnTool> {
    let (effects, file) = (stage.effects(), stage.workspace()?.join("file"));
    let tool = FnTool::new("effect", move |arguments, _| {
        let done = act(&effects, &file, &arguments);
        async move { done.map_err(|error| ToolError::Failed(error.to_string())) }
    });
    Ok(tool.effect(Effect::Unsafe))
}

fn act(effects: &PathBuf, file: &PathBuf, arguments: &Value) -> std::io::Result<ToolResult> {
    let step = arguments.get("step").and_then(Value::as_u64).unwrap_or_default();
    let mut world = std::fs::OpenOptions::new().append(true).create(true).open(effects)?;
    world.write_all(format!("step-{step}\n").as_bytes())?;
    world.sync_data()?;
    std::fs::write(file, format!("{step}"))?;
    Ok(ToolResult::text(match step % LARGE_EVERY {
        0 => format!("{step:08}").repeat(4_400),
        _ => format!("step {step} is done"),
    }))
}

/// Keeps the files before each step.
fn checkpoints(stage: &Stage, last: &Arc<AtomicU64>) -> Outcome<TurnCheckpoints> {
    let (workspace, last) = (stage.workspace()?, Arc::clone(last));
    let checkpoints =
        Checkpoints::open(&stage.store("checkpoints"), &workspace, CheckpointLimits::default())?;
    Ok(TurnCheckpoints::new(Arc::new(checkpoints), Arc::new(SystemClock::default()), |_| true)
        .session("s".into(), move || last.load(Ordering::Relaxed)))
}

/// Says outside which checkpoint has what. The event comes before the tool that changes the file.
fn say_captured(acks: &Acks, id: &str, file: &Path) {
    // Empty if the process was killed while the tool wrote it.
    let content = std::fs::read_to_string(file).ok().filter(|content| !content.is_empty());
    let content = content.unwrap_or_else(|| "none".into());
    if let Err(error) = acks.say(&format!("capture {id} {content}")) {
        eprintln!("cannot say what was captured: {error}");
    }
}
