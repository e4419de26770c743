//! The standard tools change files over three prompts; the conversation and the files are rewound, and the rewind undone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::sdk;
use rheon::prelude::*;
use rheon::store::SessionName;
use rheon::store::checkpoint::{CheckpointLimits, Checkpoints, TurnCheckpoints};
use rheon::store::journal::Lease;
use rheon::store::rewind::{
    ConflictPolicy, PointFiles, RestoreScope, RewindRequest, RewindTo, plan_rewind, points, rewind, undo,
};
use rheon::store::sessions::{BLOB_BYTES_MAX, JournalStore, SessionFiles};
use rheon::tools::Toolkit;
use rheon::types::{Answer, Message, SessionId, Timestamp, ToolCall};
use rheon_testkit::{Scenario, TestClock, Turn, scripted};
use tokio::sync::Notify;

use crate::toolkit::toolkit;

struct World {
    temp: tempfile::TempDir,
    sessions: SessionFiles,
    checkpoints: Arc<Checkpoints>,
}

fn lease() -> Lease {
    Lease { pid: 7, host: None, at: Timestamp::from_millis(5) }
}

fn name(id: &str) -> SessionName {
    SessionName::new(id).unwrap()
}

impl World {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let work = temp.path().join("work");
        fs::create_dir(&work).unwrap();
        fs::write(work.join("notes.txt"), "one\n").unwrap();
        let sessions = SessionFiles::new(temp.path().join("data"), BLOB_BYTES_MAX);
        let checkpoints =
            Checkpoints::open(&temp.path().join("undo"), &work, CheckpointLimits::default()).unwrap();
        Self { temp, sessions, checkpoints: Arc::new(checkpoints) }
    }

    fn work(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    fn journals(&self) -> Arc<JournalStore> {
        Arc::new(JournalStore::new(self.sessions.clone(), Some(self.work()), lease()))
    }

    fn hook(&self, id: &SessionId, journals: &Arc<JournalStore>) -> TurnCheckpoints {
        let (journals, session) = (Arc::clone(journals), id.clone());
        let looks = ["read", "list", "glob", "search"];
        let may_change = move |call: &ToolCall| !looks.contains(&call.name.as_str());
        TurnCheckpoints::new(Arc::clone(&self.checkpoints), Arc::new(TestClock::default()), may_change)
            .session(id.clone(), move || journals.last_seq(&session))
    }

    /// All files, with their content.
    fn tree(&self) -> String {
        let script = "find . -type f | sort | while read f; do echo \"$f: $(cat $f | tr '\\n' ' ')\"; done";
        let done = Command::new("sh").args(["-c", script]).current_dir(self.work()).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    }

    /// Three prompts, and the files after each of them.
    async fn three_prompts(&self, kit: &Toolkit) -> Vec<String> {
        let scenario = Scenario::new()
            .turn(Turn::call("read", json!({ "path": "notes.txt" })))
            .turn(Turn::call(
                "edit",
                json!({ "path": "notes.txt", "edits": [{ "old_string": "one", "new_string": "two" }] }),
            ))
            .turn(Turn::call("write", json!({ "path": "src/new.txt", "content": "new\n" })))
            .turn("First.")
            .turn(Turn::call(
                "bash",
                json!({ "command": "rm notes.txt; echo shell > src/new.txt; echo s > shell.txt" }),
            ))
            .turn("Second.")
            .turn(Turn::call("write", json!({ "path": "third.txt", "content": "third\n" })))
            .turn(Turn::call("bash", json!({ "command": "rm -r src; mkdir src; echo 3 > src/other.txt" })))
            .turn("Third.");
        let (id, journals) = (SessionId::from("work"), self.journals());
        let hook = self.hook(&id, &journals);
        let (agent, trace, _) = scripted(scenario)
            .with(sdk(|builder| {
                builder
                    .session(id)
                    .toolkit(kit)
                    .hook(hook)
                    .journals(&journals)
                    .on_approval(|_| async { PermissionDecision::Allow })
            }))
            .build();
        let mut trees = Vec::new();
        for prompt in ["Do the first.", "Do the second.", "Do the third."] {
            agent.run(prompt).await.unwrap();
            trees.push(self.tree());
        }
        trace.assert_order();
        drop(agent);
        released(&journals).await;
        trees
    }
}

/// A sync that began beside the last model call may still hold the journals.
async fn released(journals: &Arc<JournalStore>) {
    while Arc::strong_count(journals) > 1 {
        tokio::task::yield_now().await;
    }
}

async fn texts(journals: &Arc<JournalStore>, id: &str) -> Vec<String> {
    let resumed = journals.resume(&name(id)).await.unwrap();
    assert_eq!(resumed.unfinished_calls.len(), 0);
    let messages = resumed.state.messages();
    let said = messages.iter().filter_map(|message| match message.as_llm() {
        Some(said @ (Message::User(_) | Message::Assistant(_))) => Some(said.text()),
        Some(Message::ToolResult(_)) | None => None,
    });
    said.filter(|text| !text.is_empty()).collect()
}

#[tokio::test]
async fn three_prompts_are_rewound_to_after_the_first_and_the_rewind_is_undone() {
    let world = World::new();
    let kit = toolkit(&world.work(), "{}").await;
    let trees = world.three_prompts(&kit).await;
    assert_eq!(trees[0], "./notes.txt: two \n./src/new.txt: new \n");
    assert_eq!(trees[1], "./shell.txt: s \n./src/new.txt: shell \n");
    assert_eq!(trees[2], "./shell.txt: s \n./src/other.txt: 3 \n./third.txt: third \n");
    // Every checkpoint in the log stands before the call that it undoes, and after the answer that asked for it.
    let mut order = Vec::new();
    let told = |event: Event| match event.kind {
        AgentEvent::Session(SessionEvent::Checkpoint { label, .. }) => order.push(label),
        AgentEvent::Tool(ToolEvent::Start { name, .. }) => order.push(name.to_string()),
        _ => {}
    };
    world.sessions.read(&name("work"), told).unwrap();
    let expected = [
        "read",
        "before edit in turn 1",
        "edit",
        "before write in turn 2",
        "write",
        "before bash in turn 0",
        "bash",
        "before write in turn 0",
        "write",
        "before bash in turn 1",
        "bash",
    ];
    assert_eq!(order, expected);
    let points = points(&world.sessions, &world.checkpoints, &name("work")).unwrap();
    assert!(points.iter().all(|point| point.files == PointFiles::Saved), "{points:?}");
    let to = RewindTo::Before(points[1].seq);
    let plan =
        plan_rewind(&world.sessions, &world.checkpoints, &name("work"), to, RestoreScope::Both).unwrap();
    let files = plan.files.as_ref().unwrap();
    assert_eq!((files.created, files.modified, files.removed, files.conflicts_count), (2, 0, 3, 0));
    let by = RewindRequest { session_id: "again".into(), lease: lease(), others: ConflictPolicy::Refuse };
    let rewound = rewind(&world.sessions, &world.checkpoints, &plan, &by).unwrap();
    assert_eq!(world.tree(), trees[0]);
    let journals = world.journals();
    assert_eq!(texts(&journals, "again").await, ["Do the first.", "First."]);
    // The old one is whole, and goes on if its files are put back.
    let said = ["Do the first.", "First.", "Do the second.", "Second.", "Do the third.", "Third."];
    assert_eq!(texts(&journals, "work").await, said);
    let restored = undo(&world.checkpoints, &rewound, ConflictPolicy::Refuse, lease().at).unwrap().unwrap();
    assert_eq!((world.tree(), restored.errors), (trees[2].clone(), vec![]));
    // The one that was made goes on, too.
    let session = journals.fork(&name("again"), plan.seq, &"other".into()).await.unwrap();
    let (agent, _, _) = scripted(Scenario::new().turn("Something else."))
        .with(sdk(|builder| builder.resumed(&journals, &session)))
        .build();
    agent.run("And now?").await.unwrap();
    assert_eq!(agent.messages().len(), session.state.messages().len() + 2);
}

/// A hook that is asked after the files were captured, and never answers.
struct Never {
    asked: Arc<Notify>,
    data: PathBuf,
    copy: PathBuf,
}

impl Hook for Never {
    fn before_tool<'a>(&'a self, _: &'a ToolCall) -> Answer<'a, Flow> {
        // What a kill at this moment would leave.
        let (from, to) = (self.data.as_os_str(), self.copy.as_os_str());
        assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
        self.asked.notify_one();
        Answer::later(std::future::pending())
    }
}

/// The session opens, nothing is in doubt, and rewinding to its only prompt leaves the files as they are.
async fn goes_on(world: &World, data: &Path, new: &str) {
    let sessions = SessionFiles::new(data, BLOB_BYTES_MAX);
    let journals = Arc::new(JournalStore::new(sessions.clone(), Some(world.work()), lease()));
    assert_eq!(texts(&journals, "work").await, ["Write."]);
    drop(journals);
    let points = points(&sessions, &world.checkpoints, &name("work")).unwrap();
    assert_eq!(points[0].files, PointFiles::Saved);
    let to = RewindTo::Before(points[0].seq);
    let plan = plan_rewind(&sessions, &world.checkpoints, &name("work"), to, RestoreScope::Both).unwrap();
    assert_eq!(plan.files.as_ref().unwrap().changes, []);
    let by = RewindRequest { session_id: new.into(), lease: lease(), others: ConflictPolicy::Refuse };
    rewind(&sessions, &world.checkpoints, &plan, &by).unwrap();
    assert_eq!(world.tree(), "./notes.txt: one \n");
}

#[tokio::test]
async fn a_run_that_ends_between_a_capture_and_its_call_leaves_nothing_broken() {
    let world = World::new();
    let kit = toolkit(&world.work(), "{}").await;
    let (id, journals, asked) = (SessionId::from("work"), world.journals(), Arc::new(Notify::new()));
    let (data, copy) = (world.temp.path().join("data"), world.temp.path().join("killed"));
    let never = Never { asked: Arc::clone(&asked), data: data.clone(), copy: copy.clone() };
    let hook = world.hook(&id, &journals);
    let scenario =
        Scenario::new().turn(Turn::call("write", json!({ "path": "new.txt", "content": "new\n" })));
    let (agent, trace, _) = scripted(scenario)
        .with(sdk(|builder| {
            builder
                .session(id)
                .toolkit(&kit)
                .hook(hook)
                .hook(never)
                .journals(&journals)
                .on_approval(|_| async { PermissionDecision::Allow })
        }))
        .build();
    {
        let mut run = Box::pin(agent.run("Write."));
        tokio::select! {
            ran = &mut run => panic!("the run ended: {ran:?}"),
            () = asked.notified() => {}
        }
    }
    drop(agent);
    released(&journals).await;
    drop(journals);
    trace.assert_order();
    assert_eq!(world.tree(), "./notes.txt: one \n");
    goes_on(&world, &copy, "after-kill").await;
    goes_on(&world, &data, "after-drop").await;
}
