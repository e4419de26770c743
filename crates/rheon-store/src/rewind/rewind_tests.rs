//! Rewinds a session that changed files over three prompts, completely and in part, and undoes it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use expect_test::expect;
use rheon_testkit::{FnTool, Scenario, TestClock, Turn, scripted};
use rheon_types::{Effect, SessionId, Store, Timestamp, ToolCall, ToolError, ToolResult};
use serde_json::json;
use tempfile::TempDir;

use super::point::shortened;
use super::{
    ConflictPolicy, PointFiles, RestoreScope, RewindError, RewindOutcome, RewindPlan, RewindPoint,
    RewindRequest, RewindTo, plan_rewind, points, rewind, sweep, undo,
};
use crate::SessionName;
use crate::checkpoint::{CheckpointLimits, CheckpointMoment, Checkpoints, PathChange, TurnCheckpoints};
use crate::journal::Lease;
use crate::sessions::{JournalStore, SessionFiles};

struct TestEnv {
    temp: TempDir,
    sessions: SessionFiles,
    checkpoints: Arc<Checkpoints>,
}

fn lease() -> Lease {
    Lease { pid: 7, host: None, at: Timestamp::from_millis(5) }
}

fn name(id: &str) -> SessionName {
    SessionName::new(id).unwrap()
}

fn request(id: &str, others: ConflictPolicy) -> RewindRequest {
    RewindRequest { session_id: id.into(), lease: lease(), others }
}

/// Runs the given script.
fn shell(root: &Path) -> FnTool {
    let root = root.to_owned();
    FnTool::new("shell", move |arguments, _| {
        let script = arguments["script"].as_str().unwrap_or_default().to_owned();
        let done = Command::new("sh").args(["-ec", &script]).current_dir(&root).status();
        async move {
            match done {
                Ok(status) if status.success() => Ok(ToolResult::text("ok")),
                other => Err(ToolError::Failed(format!("{other:?}"))),
            }
        }
    })
    .effect(Effect::Unsafe)
}

impl TestEnv {
    fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("work")).unwrap();
        let sessions = SessionFiles::new(temp.path().join("data"), 1 << 30);
        let (store, root) = (temp.path().join("store"), temp.path().join("work"));
        let checkpoints = Arc::new(Checkpoints::open(&store, &root, CheckpointLimits::default()).unwrap());
        Self { temp, sessions, checkpoints }
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("work")
    }

    /// One prompt per script, in session `s`.
    async fn run(&self, scripts: &[&str]) {
        self.run_where(scripts, |_| true).await;
    }

    /// The same, but captures only before calls for which `may_change` returns true.
    async fn run_where(&self, scripts: &[&str], may_change: fn(&ToolCall) -> bool) {
        let turns = scripts.iter().enumerate().fold(Scenario::new(), |scenario, (nth, script)| {
            scenario.turn(Turn::call("shell", json!({ "script": script }))).turn(format!("done {nth}"))
        });
        let journals = Arc::new(JournalStore::new(self.sessions.clone(), Some(self.root()), lease()));
        let id = SessionId::from("s");
        let seen = (Arc::clone(&journals), id.clone());
        let clock = Arc::new(TestClock::default());
        let hook = TurnCheckpoints::new(Arc::clone(&self.checkpoints), clock, may_change)
            .session(id.clone(), move || seen.0.last_seq(&seen.1));
        let (agent, _, _) = scripted(turns)
            .tool(shell(&self.root()))
            .with(|it| it.session(id).hook(hook).store(Arc::clone(&journals) as Arc<dyn Store>))
            .build();
        for nth in 0..scripts.len() {
            agent.run(format!("prompt {nth}")).await.unwrap();
        }
        drop(agent);
        while Arc::strong_count(&journals) > 1 {
            tokio::task::yield_now().await;
        }
    }

    fn points(&self, id: &str) -> Vec<RewindPoint> {
        points(&self.sessions, &self.checkpoints, &name(id)).unwrap()
    }

    fn plan(&self, id: &str, to: RewindTo, scope: RestoreScope) -> RewindPlan {
        plan_rewind(&self.sessions, &self.checkpoints, &name(id), to, scope).unwrap()
    }

    fn rewind(&self, plan: &RewindPlan, request: &RewindRequest) -> Result<RewindOutcome, RewindError> {
        rewind(&self.sessions, &self.checkpoints, plan, request)
    }

    fn tree(&self) -> String {
        let listed = Command::new("sh")
            .args(["-c", "find . -name .git -prune -o -type f -print | sort | while read f; do echo \"$f $(cat $f)\"; done"])
            .current_dir(self.root())
            .output()
            .unwrap();
        String::from_utf8(listed.stdout).unwrap()
    }

    fn texts(&self, id: &str) -> Vec<String> {
        let mut state = crate::fold::SessionState::new();
        self.sessions.read(&name(id), |event| state.apply(&event)).unwrap();
        let text = |message: &Arc<rheon_types::AgentMessage>| message.as_llm().unwrap().text();
        state.messages().iter().map(text).filter(|text| !text.is_empty()).collect()
    }

    /// A change by the user, late enough for the clock of the file system to tell it apart.
    fn edit(&self, path: &str, content: &str) {
        let mark = fs::metadata(self.temp.path().join("store/marks/s")).unwrap();
        let path = self.root().join(path);
        loop {
            fs::write(&path, content).unwrap();
            let found = fs::metadata(&path).unwrap();
            if (found.ctime(), found.ctime_nsec()) > (mark.mtime(), mark.mtime_nsec()) {
                return;
            }
        }
    }
}

const SCRIPTS: [&str; 3] =
    ["echo 1 > a", "echo 2 > a; echo x > b; mkdir sub; echo y > sub/c", "rm a; echo 3 > b"];

const AFTER: [&str; 3] = ["./a 1\n", "./a 2\n./b x\n./sub/c y\n", "./b 3\n./sub/c y\n"];

fn summary(changes: &[PathChange]) -> Vec<String> {
    changes.iter().map(|change| format!("{:?} {}", change.kind, change.path.display())).collect()
}

#[tokio::test]
async fn both_are_rewound_to_any_prompt_and_the_rewind_is_undone() {
    let env = TestEnv::new();
    env.run(&SCRIPTS).await;
    assert_eq!(env.tree(), AFTER[2]);
    let points = env.points("s");
    let listed: Vec<_> = points.iter().map(|point| (point.text.as_str(), point.files)).collect();
    let saved = PointFiles::Saved;
    assert_eq!(listed, [("prompt 0", saved), ("prompt 1", saved), ("prompt 2", saved)]);
    let plan = env.plan("s", RewindTo::Before(points[1].seq), RestoreScope::Both);
    let conversation = plan.conversation.clone().unwrap();
    assert_eq!(conversation.prompt.as_deref(), Some("prompt 1"));
    let removed: Vec<_> =
        conversation.removed.iter().map(|it| format!("{:?} {}", it.speaker, it.text)).collect();
    expect![[r#"
        User prompt 1
        Assistant 
        Tool ok
        Assistant done 1
        User prompt 2
        Assistant 
        Tool ok
        Assistant done 2"#]]
    .assert_eq(&removed.join("\n"));
    assert_eq!(conversation.count, 8);
    let files = plan.files.as_ref().unwrap();
    assert_eq!(summary(&files.changes), ["Added a", "Removed b", "Removed sub", "Removed sub/c"]);
    assert_eq!((files.created, files.modified, files.removed), (1, 0, 3));
    assert_eq!((files.conflicts_count, files.unguarded.len()), (0, 0));
    let old = env.texts("s");
    let rewound = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap();
    assert_eq!(rewound.session, Some(name("t")));
    assert_eq!(env.tree(), AFTER[0]);
    assert_eq!(env.texts("t"), ["prompt 0", "ok", "done 0"]);
    // The completed run is not closed again.
    let journals = JournalStore::new(env.sessions.clone(), None, lease());
    let resumed = journals.resume(&name("t")).await.unwrap();
    assert_eq!((resumed.state.seq, resumed.unfinished_calls.len()), (plan.seq, 0));
    drop(journals);
    assert_eq!(env.texts("s"), old);
    assert_eq!(env.sessions.list(None).len(), 2);
    let restored = undo(&env.checkpoints, &rewound, ConflictPolicy::Refuse, lease().at).unwrap().unwrap();
    assert_eq!(restored.errors, []);
    assert_eq!(env.tree(), AFTER[2]);
    // And again from the new session, whose history includes the old one.
    let plan = env.plan("t", RewindTo::Before(points[0].seq), RestoreScope::Both);
    env.rewind(&plan, &request("u", ConflictPolicy::Refuse)).unwrap();
    assert_eq!((env.tree().as_str(), env.texts("u").len()), ("", 0));
    let marks = fs::read_dir(env.temp.path().join("store/marks")).unwrap().count();
    assert_eq!(marks, 3);
}

#[tokio::test]
async fn only_the_files_or_only_the_conversation() {
    let env = TestEnv::new();
    env.run(&SCRIPTS).await;
    let points = env.points("s");
    let plan = env.plan("s", RewindTo::Before(points[2].seq), RestoreScope::Files);
    let rewound = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap();
    assert_eq!((rewound.session, env.tree().as_str()), (None, AFTER[1]));
    assert_eq!(env.sessions.list(None).len(), 1);
    let plan = env.plan("s", RewindTo::After(points[1].seq), RestoreScope::Conversation);
    let rewound = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap();
    assert_eq!((rewound.files, env.tree().as_str()), (None, AFTER[1]));
    assert_eq!(env.texts("t"), ["prompt 0", "ok", "done 0", "prompt 1"]);
    // Only user messages can be rewound to, and only existing ones.
    let answer = env
        .plan("s", RewindTo::Before(points[0].seq), RestoreScope::Conversation)
        .conversation
        .unwrap()
        .removed[3]
        .seq;
    let refused =
        |to| plan_rewind(&env.sessions, &env.checkpoints, &name("s"), to, RestoreScope::Both).unwrap_err();
    assert!(matches!(refused(RewindTo::Before(answer)), RewindError::NotAPrompt { .. }));
    assert!(matches!(refused(RewindTo::After(1)), RewindError::NoSuchMessage { .. }));
    let taken = env.rewind(&plan, &request("s", ConflictPolicy::Refuse)).unwrap_err();
    assert!(matches!(taken, RewindError::Exists { .. }), "{taken}");
}

#[tokio::test]
async fn conflicting_changes_are_only_overwritten_on_request() {
    let env = TestEnv::new();
    env.run(&SCRIPTS).await;
    env.edit("b", "mine");
    env.edit("new", "mine too");
    // Another session captured it, but it is still the user's work.
    let at = lease().at;
    let other = CheckpointMoment {
        label: "other".into(),
        at,
        session_id: Some("other".into()),
        seq: 1,
        turn_index: 0,
    };
    env.checkpoints.capture(&other).unwrap();
    let points = env.points("s");
    let plan = env.plan("s", RewindTo::Before(points[1].seq), RestoreScope::Both);
    let files = plan.files.as_ref().unwrap();
    assert_eq!((files.conflicts_count, files.others.clone()), (2, vec!["b".into(), "new".into()]));
    let before = env.tree();
    let refused = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap_err();
    expect!["2 files changed after the session's last call, such as b; confirm overwriting them, or save them first"]
        .assert_eq(&refused.to_string());
    assert_eq!((env.tree(), env.sessions.list(None).len()), (before.clone(), 1));
    let rewound = env.rewind(&plan, &request("t", ConflictPolicy::Overwrite)).unwrap();
    assert_eq!(env.tree(), AFTER[0]);
    undo(&env.checkpoints, &rewound, ConflictPolicy::Refuse, lease().at).unwrap();
    assert_eq!(env.tree(), before);
}

#[tokio::test]
async fn if_one_of_both_fails_neither_is_rewound() {
    // The files fail: a directory with an ignored file is in the way of a file.
    let env = TestEnv::new();
    fs::write(env.root().join(".gitignore"), "*.log\n").unwrap();
    env.run(&["echo 1 > a; echo 1 > d", "echo 2 > a; rm d; mkdir d; echo l > d/x.log"]).await;
    let points = env.points("s");
    let before = env.tree();
    let plan = env.plan("s", RewindTo::Before(points[1].seq), RestoreScope::Both);
    let failed = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap_err();
    assert!(matches!(failed, RewindError::PutBack { .. }), "{failed}");
    assert_eq!((env.tree(), env.sessions.list(None).len()), (before.clone(), 1));
    // Rewinding only files does as much as possible and reports the rest.
    let plan = env.plan("s", RewindTo::Before(points[1].seq), RestoreScope::Files);
    let rewound = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap();
    let failed: Vec<_> = rewound.files.unwrap().errors.into_iter().map(|(path, _)| path).collect();
    assert_eq!(failed, [PathBuf::from("d")]);
    assert!(env.tree().contains("./a 1\n"), "{}", env.tree());
    // The conversation fails: its journal was removed after the plan was made.
    let env = TestEnv::new();
    env.run(&SCRIPTS).await;
    let plan = env.plan("s", RewindTo::Before(env.points("s")[1].seq), RestoreScope::Both);
    fs::remove_file(&env.sessions.list(None)[0].path).unwrap();
    let failed = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap_err();
    expect!["nothing was rewound: no session s; the files are unchanged"].assert_eq(&failed.to_string());
    assert_eq!(env.tree(), AFTER[2]);
}

#[tokio::test]
async fn pruned_and_missing_checkpoints_are_reported() {
    let env = TestEnv::new();
    env.run(&SCRIPTS).await;
    env.checkpoints.prune(1, u64::MAX).unwrap();
    let points = env.points("s");
    let files: Vec<_> = points.iter().map(|point| point.files).collect();
    assert_eq!(files, [PointFiles::Pruned, PointFiles::Pruned, PointFiles::Saved]);
    let to = RewindTo::Before(points[0].seq);
    let lost = plan_rewind(&env.sessions, &env.checkpoints, &name("s"), to, RestoreScope::Both).unwrap_err();
    assert!(matches!(lost, RewindError::Lost { .. }), "{lost}");
    // Two files changed after the last prompt, none after its answer.
    let last = env.plan("s", RewindTo::After(points[2].seq), RestoreScope::Files);
    assert_eq!(last.files.unwrap().restore.map(|plan| plan.steps().len()), Some(2));
    let end = env
        .plan("s", RewindTo::Before(points[2].seq), RestoreScope::Conversation)
        .conversation
        .unwrap()
        .removed[3]
        .seq;
    let plan = env.plan("s", RewindTo::After(end), RestoreScope::Files);
    assert!(plan.files.unwrap().restore.is_none());
}

#[tokio::test]
async fn calls_that_ran_without_a_capture_are_named() {
    let env = TestEnv::new();
    env.run_where(&SCRIPTS, |call| call.arguments["script"] == SCRIPTS[1]).await;
    let points = env.points("s");
    let unguarded = |nth: usize| {
        let plan = env.plan("s", RewindTo::Before(points[nth].seq), RestoreScope::Files);
        plan.files.unwrap().unguarded.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        [unguarded(0), unguarded(1), unguarded(2)],
        [vec!["shell".to_owned()], vec![], vec!["shell".into()]]
    );
}

#[tokio::test]
async fn an_unlogged_capture_is_found_by_its_moment() {
    let env = TestEnv::new();
    env.run(&SCRIPTS[..1]).await;
    let end = env.sessions.read(&name("s"), |_| {}).unwrap().seq;
    // The program ended between the capture and the call, and a file changed afterwards.
    let moment = CheckpointMoment {
        label: "before shell in turn 0".into(),
        at: lease().at,
        session_id: Some("s".into()),
        seq: end,
        turn_index: 0,
    };
    env.checkpoints.capture(&moment).unwrap();
    fs::write(env.root().join("a"), "half").unwrap();
    let point = &env.points("s")[0];
    let after_first = |plan: &RewindPlan| plan.conversation.clone().unwrap().removed[3].seq;
    let end = after_first(&env.plan("s", RewindTo::Before(point.seq), RestoreScope::Both));
    let plan = env.plan("s", RewindTo::After(end), RestoreScope::Files);
    env.rewind(&plan, &request("t", ConflictPolicy::Overwrite)).unwrap();
    assert_eq!(env.tree(), AFTER[0]);
    // A capture of another session does not count.
    let moment = CheckpointMoment { session_id: Some("other".into()), ..moment };
    env.checkpoints.prune(1, u64::MAX).unwrap();
    env.checkpoints.capture(&moment).unwrap();
    let plan = env.plan("s", RewindTo::After(end), RestoreScope::Files);
    assert!(plan.files.unwrap().restore.is_none());
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e", "-c", "commit.gpgsign=false"])
        .args(arguments)
        .current_dir(root)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?} {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[tokio::test]
async fn git_is_never_touched() {
    let env = TestEnv::new();
    let root = env.root();
    git(&root, &["init", "-q"]);
    fs::write(root.join("a"), "0\n").unwrap();
    git(&root, &["add", "a"]);
    git(&root, &["commit", "-qm", "first"]);
    fs::write(root.join("staged"), "s\n").unwrap();
    git(&root, &["add", "staged"]);
    let status = git(&root, &["status", "--porcelain"]);
    env.run(&SCRIPTS).await;
    let inside = || {
        let refs = git(&root, &["for-each-ref"]) + &git(&root, &["stash", "list"]);
        let objects = git(&root, &["count-objects"]);
        (refs, objects, fs::read(root.join(".git/index")).unwrap(), fs::read(root.join(".git/HEAD")).unwrap())
    };
    let before = inside();
    let plan = env.plan("s", RewindTo::Before(env.points("s")[0].seq), RestoreScope::Both);
    let rewound = env.rewind(&plan, &request("t", ConflictPolicy::Refuse)).unwrap();
    assert_eq!(inside(), before);
    assert_eq!(git(&root, &["status", "--porcelain"]), status);
    undo(&env.checkpoints, &rewound, ConflictPolicy::Refuse, lease().at).unwrap();
    assert_eq!(inside(), before);
    assert_eq!(env.tree(), "./b 3\n./staged s\n./sub/c y\n");
}

#[tokio::test]
async fn deleting_a_session_removes_its_checkpoints_on_the_next_sweep() {
    let env = TestEnv::new();
    env.run(&SCRIPTS).await;
    let other = CheckpointMoment {
        label: "nobody's".into(),
        at: lease().at,
        session_id: None,
        seq: 0,
        turn_index: 0,
    };
    env.checkpoints.capture(&other).unwrap();
    let pruned = sweep(&env.sessions, &env.checkpoints).unwrap();
    assert_eq!((pruned.checkpoints, env.checkpoints.list().unwrap().len()), (0, 4));
    env.sessions.delete(&name("s"), &lease()).unwrap();
    let pruned = sweep(&env.sessions, &env.checkpoints).unwrap();
    assert_eq!((pruned.checkpoints, pruned.bytes > 0), (3, true));
    assert_eq!(env.checkpoints.list().unwrap().len(), 1);
    assert_eq!(fs::read_dir(env.temp.path().join("store/marks")).unwrap().count(), 0);
    // If the sessions cannot be read, nothing is removed.
    let moment = CheckpointMoment { session_id: Some("s".into()), ..other };
    env.checkpoints.capture(&moment).unwrap();
    fs::rename(env.temp.path().join("data"), env.temp.path().join("elsewhere")).unwrap();
    assert_eq!(sweep(&env.sessions, &env.checkpoints).unwrap().checkpoints, 0);
}

#[tokio::test]
async fn a_plan_lists_some_and_counts_all() {
    let env = TestEnv::new();
    env.run(&["for n in $(seq 201); do echo $n > f$n; done"]).await;
    let plan = env.plan("s", RewindTo::Before(env.points("s")[0].seq), RestoreScope::Files);
    let files = plan.files.unwrap();
    assert_eq!((files.removed, files.changes.len()), (201, 200));
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    assert_eq!(shortened("two\n  lines"), "two lines");
    assert_eq!(shortened(&"ä".repeat(200)), "ä".repeat(200));
    assert_eq!(shortened(&"ä".repeat(201)), format!("{}…", "ä".repeat(199)));
    assert_eq!(shortened(&"word ".repeat(100_000)).chars().count(), 200);
    assert_eq!(shortened(""), "");
}
