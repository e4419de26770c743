//! The write paths, one at a time: what each does, and how it may be found afterwards.

use std::path::Path;

use rheon::store::SessionName;
use rheon::store::checkpoint::{CheckpointLimits, CheckpointMoment, Checkpoints, RestoreSelection};
use rheon::store::sqlite::{Index, SessionSource};
use rheon::store::tree::{
    FileSessionStore, Session, SessionRecorder, SessionRecorderConfig, SessionStore, load_session,
};
use rheon::types::{MessageEvent, Timestamp};
use rheon::{AgentEvent, Event};

use crate::acks::{Acked, Acks};
use crate::stage::{Outcome, Stage, ensure, lease, name};
use crate::verify::{After, verify};
use crate::work::{self, Extent};

/// The file that checkpoints are made of: not there at first, after the last step of a prompt, and after one more change.
const BEFORE: &str = "nothing";
const STEPPED: &str = "3";
const AFTER: &str = "as it is now";

/// Walks one write path and says outside that it came to its end.
pub(crate) async fn act(path: &str, stage: &Stage) -> Outcome {
    let acks = Acks::open(&stage.acks())?;
    match path {
        "work" => work::work(stage, Extent::Prompts(1)).await?,
        "open" => {
            drop(work::stand(stage, &stage.journals(), &acks).await?);
        }
        "fork" => drop(stage.journals().fork(&name()?, 5, &"fork".into()).await?),
        "delete" => stage.sessions().delete(&name()?, &lease())?,
        "transcript" => {
            let mut transcript = work::transcript(stage, &acks)?;
            let events = events(stage)?;
            let last = events.last().map_or(0, |event| event.seq);
            for mut event in events {
                // The session wrote these messages; with other numbers they are new ones.
                event.seq += last;
                transcript.record(&event)?;
                if let AgentEvent::Message(MessageEvent::End { .. }) = &event.kind {
                    acks.written(&event)?;
                }
            }
        }
        "capture" => {
            std::fs::write(stage.workspace()?.join("file"), AFTER)?;
            drop(checkpoints(stage)?.capture(&moment())?);
        }
        "restore" => {
            let checkpoints = checkpoints(stage)?;
            let first = checkpoints.list()?.into_iter().next().ok_or("nothing was captured")?;
            let plan = checkpoints.plan_restore(&first.id, RestoreSelection::All)?;
            let restored = checkpoints.restore(&plan, &moment())?;
            ensure(restored.errors.is_empty(), || format!("{:?}", restored.errors))?;
        }
        "tree" => {
            let (old, new) = trees(stage)?;
            let store = FileSessionStore::new(stage.store("tree"));
            store.save_session(&old).get().await?;
            acks.say("old")?;
            store.save_session(&new).get().await?;
        }
        "index" => {
            let (index, _) = Index::open(&stage.store("index.db"))?;
            index.record(&source(), &events(stage)?)?;
        }
        other => return Err(format!("there is no write path {other}").into()),
    }
    Ok(acks.say("done")?)
}

/// What is left of one write path: the old or the new, never half.
pub(crate) async fn check(path: &str, stage: &Stage) -> Outcome<String> {
    let acked = Acked::read(&stage.acks())?;
    let is_done = acked.has("done");
    match path {
        "work" | "transcript" => {}
        "open" => tail_is_kept(stage)?,
        "fork" => {
            let fork = SessionName::new("fork")?;
            if is_done || stage.sessions().list(None).iter().any(|listed| listed.name == fork) {
                let mut first = 0;
                stage.sessions().read(&fork, |event| first = first.max(event.seq))?;
                ensure(first >= 5, || format!("the fork has only {first} events"))?;
            }
        }
        "delete" => {
            let is_there = stage.sessions().list(None).iter().any(|listed| listed.name.to_string() == "s");
            ensure(!(is_done && is_there), || "deleted, but still there".into())?;
            return if is_there { verify(stage, After::Kill) } else { Ok("gone".into()) };
        }
        "capture" | "restore" => files_are_whole(path, stage, &acked)?,
        "tree" => {
            let (old, new) = trees(stage)?;
            match load_session(&"s".into(), &stage.store("tree")) {
                Ok(found) => ensure(found == new || (found == old && !is_done), || "another tree".into())?,
                Err(error) => ensure(!acked.has("old"), || error.to_string())?,
            }
            // What a save left that was cut off does no harm.
            FileSessionStore::new(stage.store("tree")).save_session(&new).get().await?;
        }
        "index" => index_is_whole(stage, &acked)?,
        other => return Err(format!("there is no write path {other}").into()),
    }
    verify(stage, After::Kill)
}

fn events(stage: &Stage) -> Outcome<Vec<Event>> {
    let mut events = Vec::new();
    stage.sessions().read(&name()?, |event| events.push(event))?;
    Ok(events)
}

/// The torn tail that the session was given is still in the journal, or whole beside it.
fn tail_is_kept(stage: &Stage) -> Outcome {
    let listed = stage.sessions().list(None).into_iter().next().ok_or("no session")?;
    let journal = std::fs::read_to_string(&listed.path)?;
    let aside = std::fs::read_to_string(format!("{}.cut-1", listed.path.display())).unwrap_or_default();
    let again = std::fs::read_to_string(format!("{}.cut-2", listed.path.display())).unwrap_or_default();
    let is_kept = [journal, aside, again].iter().any(|text| text.ends_with("a line that was torn"));
    ensure(is_kept, || "the torn tail is gone".into())
}

fn checkpoints(stage: &Stage) -> Outcome<Checkpoints> {
    Ok(Checkpoints::open(&stage.store("checkpoints"), &stage.workspace()?, CheckpointLimits::default())?)
}

fn moment() -> CheckpointMoment {
    CheckpointMoment {
        label: "by hand".into(),
        at: Timestamp::from_millis(5),
        session_id: None,
        seq: 0,
        turn_index: 0,
    }
}

/// The file is the one or the other, and can be restored to what it was first.
fn files_are_whole(path: &str, stage: &Stage, acked: &Acked) -> Outcome {
    let is_done = acked.has("done");
    let file = stage.workspace()?.join("file");
    // Before the first step there was no file.
    let content = std::fs::read_to_string(&file).unwrap_or_else(|_| BEFORE.into());
    let is_one = content == AFTER || content == BEFORE || content == STEPPED;
    ensure(is_one, || format!("the file has {content:?}"))?;
    ensure(!(path == "restore" && is_done && content != BEFORE), || "the file was not restored".into())?;
    let checkpoints = checkpoints(stage)?;
    let all = checkpoints.list()?;
    for listed in &all {
        drop(checkpoints.plan_restore(&listed.id, RestoreSelection::All)?);
    }
    let first = all.first().ok_or("no checkpoint is left")?;
    let restored =
        checkpoints.restore(&checkpoints.plan_restore(&first.id, RestoreSelection::All)?, &moment())?;
    ensure(restored.errors.is_empty(), || format!("{:?}", restored.errors))
}

/// The session as a tree after its first half, and as a whole.
fn trees(stage: &Stage) -> Outcome<(Session, Session)> {
    let events = events(stage)?;
    let tree = |count: usize| {
        let mut recorder = SessionRecorder::new(SessionRecorderConfig::default());
        events.iter().take(count).for_each(|event| recorder.on_event(event));
        recorder.flush();
        recorder.drain_completed().into_iter().next().ok_or("no tree")
    };
    Ok((tree(events.len() / 2)?, tree(events.len())?))
}

fn source() -> SessionSource {
    SessionSource {
        session_id: "s".into(),
        project: "project".into(),
        path: Path::new("s.jsonl").into(),
        parent: None,
    }
}

/// The index has all of the session or nothing, and can be rebuilt from the log.
fn index_is_whole(stage: &Stage, acked: &Acked) -> Outcome {
    let is_done = acked.has("done");
    let events = events(stage)?;
    let last = events.last().map(|event| event.seq);
    let (index, _) = Index::open(&stage.store("index.db"))?;
    let position = index.position(&"s".into())?;
    ensure(position == last || (position.is_none() && !is_done), || format!("the index is at {position:?}"))?;
    index.rebuild([(source(), events)])?;
    ensure(index.position(&"s".into())? == last, || "the rebuilt index is not whole".into())
}
