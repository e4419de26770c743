//! Sessions are kept, listed, found, gone on with, forked and deleted.

use expect_test::expect;
use rheon_app::sessions::{
    ForkAt, ListScope, Persistence, PersistenceSettings, SessionCreator, SessionManager, Transcripts,
};
use rheon_testkit::{Scenario, Turn};
use rheon_types::protocol::ResumePoint;
use serde_json::json;

use super::home::{Home, run, said, told, tools};

fn two_calls() -> Scenario {
    let calls = Turn::new().text("Both at once.").tool_call("write", json!({})).tool_call("look", json!({}));
    Scenario::new().turn(calls).turn(Turn::say("Done."))
}

fn say(text: &str) -> Scenario {
    Scenario::new().turn(Turn::say(text))
}

async fn lines(manager: &SessionManager) -> String {
    let lines = manager.list(ListScope::Project, 10).await.unwrap();
    let line = |line: rheon_app::sessions::SessionEntry| {
        let turns = line.details.map_or("?".to_owned(), |details| details.turns.to_string());
        format!("{:?} {:?} turns={turns}\n", line.maker, line.title)
    };
    lines.into_iter().map(line).collect()
}

#[tokio::test]
async fn a_session_is_kept_with_all_that_belongs_to_it() {
    let home = Home::with_claude_code();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    let id = session.session_id().clone();
    let ran = run(&session, two_calls(), &tools(&home.project()), "Write the note about whales.").await;
    ran.result.as_ref().unwrap();
    manager.settle().await;
    expect![[r#"
        user "Write the note about whales."
        assistant "Both at once." [write] [look]
        result "written"
        result "written"
        assistant "Done."
    "#]]
    .assert_eq(&home.transcript(&session));
    assert_eq!(session.checkpoints().unwrap().list().unwrap().len(), 1);
    expect![[r#"
        Rheon "Write the note about whales." turns=2
    "#]]
    .assert_eq(&lines(&manager).await);
    let hits = manager.search("whales", ListScope::Project, 5).await.unwrap();
    assert_eq!(hits.iter().map(|hit| hit.session_id.as_str()).collect::<Vec<_>>(), [id.as_str()]);
    assert_eq!(manager.search("whales", ListScope::Everywhere, 5).await.unwrap().len(), 1);
    drop(ran);
    session.close().await;

    let session = manager.resume_latest().await.unwrap();
    assert_eq!(session.session_id(), &id);
    assert_eq!(said(&session), home.transcript(&session));
    let ran = run(&session, say("Again."), &tools(&home.project()), "And again?").await;
    ran.result.as_ref().unwrap();
    assert_eq!(ran.sent(0).lines().count(), 6);
    assert!(home.transcript(&session).ends_with("user \"And again?\"\nassistant \"Again.\"\n"));
    drop(ran);
    session.close().await;

    let prefix = id.as_str().get(..id.as_str().len() - 2).unwrap();
    let fork = manager.fork(prefix, ForkAt::Event(4)).await.unwrap();
    assert_eq!(said(&fork), "user \"Write the note about whales.\"\n");
    assert_eq!(home.transcript(&fork), said(&fork));
    let child = fork.session_id().clone();
    fork.close().await;
    expect!["cannot delete session PARENT: it has forks (1); delete those first"].assert_eq(
        &manager.delete(id.as_str()).await.unwrap_err().to_string().replace(id.as_str(), "PARENT"),
    );
    manager.delete(child.as_str()).await.unwrap();
    let deleted = manager.delete(id.as_str()).await.unwrap();
    assert_eq!((deleted.checkpoints, deleted.transcript.is_some()), (1, true));
    // What is left for Claude Code is theirs now.
    assert!(
        manager
            .list(ListScope::Project, 9)
            .await
            .unwrap()
            .iter()
            .all(|line| line.maker == SessionCreator::ClaudeCode)
    );
    assert_eq!(manager.search("whales", ListScope::Everywhere, 5).await.unwrap(), []);
    assert_eq!(told(&notices), "");
}

/// Adds entries to a transcript as Claude Code does: prompts and answers in turn, after the entry `parent`.
fn claude_says(path: &std::path::Path, parent: Option<&str>, words: &[&str]) -> String {
    use std::io::Write as _;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    let mut parent = parent.map(str::to_owned);
    for (place, text) in words.iter().enumerate() {
        let uuid = format!("{text}-{place}");
        let (kind, message) = match place % 2 {
            0 => ("user", json!({"role": "user", "content": text})),
            _ => {
                let content = json!([{"type": "text", "text": text}]);
                let id = format!("msg_{text}");
                (
                    "assistant",
                    json!({"role": "assistant", "id": id, "model": "claude-test", "content": content}),
                )
            }
        };
        let line = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "timestamp": "2026-11-14T20:00:00.000Z",
            "entrypoint": "cli", "message": message,
        });
        writeln!(file, "{line}").unwrap();
        parent = Some(uuid);
    }
    parent.unwrap()
}

fn claude_session(home: &Home, id: &str, words: &[&str]) -> std::path::PathBuf {
    let projects = home.path(".claude/projects");
    let project = rheon_store::claude::project_dir_name(&home.project().canonicalize().unwrap());
    let path = projects.join(project).join(format!("{id}.jsonl"));
    claude_says(&path, None, words);
    path
}

#[tokio::test]
async fn a_session_of_claude_code_is_continued_by_both_programs() {
    let home = Home::new();
    let theirs = "7f3b6f0e-5a1c-4d2e-9b8a-1c2d3e4f5a6b";
    let path = claude_session(&home, theirs, &["hello", "Hi.", "and?"]);
    let before = std::fs::read_to_string(&path).unwrap();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    expect![[r#"
        ClaudeCode "hello" turns=?
    "#]]
    .assert_eq(&lines(&manager).await);

    // It is the newest session of this directory, and keeps its id.
    let session = manager.resume_latest().await.unwrap();
    assert_eq!(session.session_id().as_str(), theirs);
    let conversation = "user \"hello\"\nassistant \"Hi.\"\nuser \"and?\"\n";
    assert_eq!((said(&session).as_str(), home.transcript(&session).as_str()), (conversation, conversation));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    let ran = run(&session, say("Well."), &[], "go on").await;
    ran.result.as_ref().unwrap();
    drop(ran);
    let conversation = format!("{conversation}user \"go on\"\nassistant \"Well.\"\n");
    assert_eq!(home.transcript(&session), conversation);
    session.close().await;
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&before), "what Claude Code wrote has changed");

    let session = manager.resume("7f3b6f").await.unwrap();
    assert_eq!((session.session_id().as_str(), said(&session)), (theirs, conversation));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let journals = home.data().join("sessions/projects");
    let dir = std::fs::read_dir(journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(dir.join(format!("{theirs}.jsonl"))).unwrap();
    assert!(journal.contains(r#""importedFrom":{"#), "{journal}");
    assert_eq!(told(&notices), "");
    // A new session cannot take its id.
    assert!(manager.start_with_id(theirs.into()).await.is_err());
}

#[tokio::test]
async fn a_fork_of_a_session_of_claude_code_leaves_it_alone() {
    let home = Home::new();
    let theirs = "7f3b6f0e-5a1c-4d2e-9b8a-1c2d3e4f5a6b";
    let path = claude_session(&home, theirs, &["hello", "Hi."]);
    let before = std::fs::read_to_string(&path).unwrap();
    let (manager, _) = home.manager(PersistenceSettings::default());
    let session = manager.fork(theirs, ForkAt::End).await.unwrap();
    assert_ne!(session.session_id().as_str(), theirs);
    run(&session, say("Well."), &[], "go on").await.result.unwrap();
    let conversation = "user \"hello\"\nassistant \"Hi.\"\nuser \"go on\"\nassistant \"Well.\"\n";
    assert_eq!(home.transcript(&session), conversation);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
}

#[tokio::test]
async fn a_part_of_an_id_must_say_which() {
    let home = Home::new();
    let (manager, _) = home.manager(PersistenceSettings::default());
    for text in ["one", "two"] {
        let session = manager.start().await.unwrap();
        run(&session, say(text), &[], text).await.result.unwrap();
        session.close().await;
    }
    let listed = manager.list(ListScope::Project, 9).await.unwrap();
    let ids: Vec<&str> = listed.iter().map(|line| line.session_id.as_str()).collect();
    let common: String =
        ids[0].chars().zip(ids[1].chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let error = manager.resume(&common).await.err().unwrap().to_string();
    assert!(error.starts_with("2 sessions match") && error.ends_with("write more of the id"), "{error}");
    let latest =
        format!("the latest in this directory are {}; run `rheon sessions list` for all", ids.join(", "));
    for wanted in ["../../etc/passwd", "nobody", "zzzz"] {
        let error = manager.resume(wanted).await.err().unwrap().to_string();
        assert_eq!(error, format!("no such session: {wanted:?}; {latest}"));
    }
    let error = manager.resume("").await.err().unwrap().to_string();
    assert_eq!(error, format!("the session id is empty; write the id or its beginning; {latest}"));
}

#[tokio::test]
async fn an_index_that_is_missing_or_damaged_is_made_again() {
    let home = Home::new();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    run(&session, say("Hm."), &[], "hello").await.result.unwrap();
    session.close().await;
    let whole = "Rheon \"hello\" turns=1\n";
    assert_eq!(lines(&manager).await, whole);
    let index = home.data().join("index.db");
    for ending in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", index.display())).ok();
    }
    // The directory answers until the index can.
    assert_eq!(lines(&manager).await, "Rheon \"\" turns=?\n");
    manager.settle().await;
    assert_eq!(lines(&manager).await, whole);
    for ending in ["-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", index.display())).ok();
    }
    std::fs::write(&index, vec![b'x'; 100_000]).unwrap();
    assert_eq!(lines(&manager).await, "Rheon \"\" turns=?\n");
    manager.settle().await;
    assert_eq!(lines(&manager).await, whole);
    assert_eq!(told(&notices), "");
}

#[tokio::test]
async fn journals_that_the_index_never_heard_of_are_listed_however_many_and_old_they_are() {
    let home = Home::new();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    for number in 0..36 {
        let session = manager.start().await.unwrap();
        run(&session, say("Hm."), &[], &format!("hello {number}")).await.result.unwrap();
        session.close().await;
    }
    manager.settle().await;
    let whole = manager.list(ListScope::Project, 99).await.unwrap();
    assert_eq!(whole.len(), 36);
    let forget = |count: usize| {
        let (index, _) = rheon_store::sqlite::Index::open(&home.data().join("index.db")).unwrap();
        for line in whole.iter().rev().take(count) {
            assert!(index.remove_session(&line.session_id).unwrap());
        }
    };
    // As if somebody had copied them here, with the times they had.
    forget(3);
    assert_eq!(manager.list(ListScope::Project, 99).await.unwrap(), whole);
    forget(3);
    assert_eq!(manager.list(ListScope::Everywhere, 99).await.unwrap(), whole);
    forget(34);
    // The directory answers until the index can.
    assert_eq!(manager.list(ListScope::Project, 99).await.unwrap().len(), 36);
    manager.settle().await;
    assert_eq!(manager.list(ListScope::Project, 99).await.unwrap(), whole);
    assert_eq!(told(&notices), "");
}

#[tokio::test]
async fn a_transcript_that_was_cut_short_is_completed() {
    let home = Home::with_claude_code();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    run(&session, say("Hm."), &[], "hello").await.result.unwrap();
    let whole = home.transcript(&session);
    let id = session.session_id().clone();
    session.close().await;
    let path = rheon_store::claude::find(&home.path(".claude/projects"), id.as_str()).unwrap().unwrap();
    let text = std::fs::read(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    let session = manager.resume(id.as_str()).await.unwrap();
    assert_eq!(home.transcript(&session), whole);
    session.close().await;
    std::fs::remove_file(&path).unwrap();
    let session = manager.resume(id.as_str()).await.unwrap();
    assert_eq!(home.transcript(&session), whole);
    assert_eq!(told(&notices), "");
}

#[tokio::test]
async fn what_claude_code_added_to_a_session_of_ours_is_part_of_it() {
    let home = Home::with_claude_code();
    for transcripts in [Transcripts::On, Transcripts::Off] {
        let (manager, _) = home.manager(PersistenceSettings::default());
        let session = manager.start().await.unwrap();
        run(&session, say("Hm."), &[], "hello").await.result.unwrap();
        let id = session.session_id().clone();
        session.close().await;
        let path = rheon_store::claude::find(&home.path(".claude/projects"), id.as_str()).unwrap().unwrap();
        let tip = rheon_store::claude::Transcript::open(&path).unwrap().tip().unwrap().to_owned();
        claude_says(&path, Some(&tip), &["from there", "Yes."]);
        let text = std::fs::read_to_string(&path).unwrap();
        let conversation = "user \"hello\"\nassistant \"Hm.\"\nuser \"from there\"\nassistant \"Yes.\"\n";
        let (manager, notices) = home.manager(PersistenceSettings {
            transcripts: transcripts.clone(),
            ..PersistenceSettings::default()
        });
        // Once, however often it is resumed.
        for _ in 0..3 {
            let session = manager.resume_latest().await.unwrap();
            assert_eq!((session.session_id(), said(&session).as_str()), (&id, conversation));
            session.close().await;
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        expect![[r#"
            Claude Code continued this session: 2 messages were added from PATH
        "#]]
        .assert_eq(&told(&notices).replace(&path.display().to_string(), "PATH"));
    }
}

#[tokio::test]
async fn where_claude_code_went_back_we_go_back_too() {
    let home = Home::with_claude_code();
    let (manager, _) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    run(&session, say("One."), &[], "first").await.result.unwrap();
    let path = rheon_store::claude::find(&home.path(".claude/projects"), session.session_id().as_str());
    let path = path.unwrap().unwrap();
    let tip = rheon_store::claude::Transcript::open(&path).unwrap().tip().unwrap().to_owned();
    let id = session.session_id().clone();
    session.close().await;
    let session = manager.resume(id.as_str()).await.unwrap();
    run(&session, say("Two."), &[], "second").await.result.unwrap();
    session.close().await;
    claude_says(&path, Some(&tip), &["another", "Yes."]);
    let session = manager.resume(id.as_str()).await.unwrap();
    let conversation = "user \"first\"\nassistant \"One.\"\nuser \"another\"\nassistant \"Yes.\"\n";
    assert_eq!((said(&session).as_str(), home.transcript(&session).as_str()), (conversation, conversation));
}

#[tokio::test]
async fn a_session_resumes_at_an_earlier_message() {
    let home = Home::with_claude_code();
    let (manager, _) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    let id = session.session_id().clone();
    run(&session, say("One."), &[], "first").await.result.unwrap();
    session.close().await;
    let session = manager.resume(id.as_str()).await.unwrap();
    run(&session, say("Two."), &[], "second").await.result.unwrap();
    session.close().await;
    let path = rheon_store::claude::find(&home.path(".claude/projects"), id.as_str()).unwrap().unwrap();
    let transcript = rheon_store::claude::Transcript::open(&path).unwrap();
    let uuid = |place: usize| transcript.entries()[place].uuids[0].clone();
    let at = |message: usize, drops: Option<usize>| ResumePoint {
        message: uuid(message),
        drops_turn: drops.map(uuid),
    };
    let refused = |error: Option<rheon_app::sessions::SessionError>| error.unwrap().to_string();
    expect!["Resume rejected by --resume-drops-turn: 1 messages before its prompt would be dropped too; resume without it, or at a later message"]
        .assert_eq(&refused(manager.resume_at(Some(id.as_str()), &at(0, Some(2))).await.err()));
    let unknown = ResumePoint { message: "nobody".into(), drops_turn: None };
    expect![[r#"no message of this session has the uuid "nobody"; uuids are those of the transcript and of stream-json"#]]
        .assert_eq(&refused(manager.resume_at(Some(id.as_str()), &unknown).await.err()));
    // In a fork first: the session itself stays as it is.
    let first = "user \"first\"\nassistant \"One.\"\n";
    let fork = manager.fork_at(Some(id.as_str()), &at(1, Some(2))).await.unwrap();
    assert_eq!(said(&fork), first);
    run(&fork, say("Else."), &[], "other").await.result.unwrap();
    assert_eq!(home.transcript(&fork), format!("{first}user \"other\"\nassistant \"Else.\"\n"));
    fork.close().await;
    let session = manager.resume(id.as_str()).await.unwrap();
    assert_eq!(said(&session), format!("{first}user \"second\"\nassistant \"Two.\"\n"));
    session.close().await;
    // And in the session.
    let session = manager.resume_at(Some(id.as_str()), &at(1, None)).await.unwrap();
    assert_eq!(said(&session), first);
    run(&session, say("Three."), &[], "third").await.result.unwrap();
    session.close().await;
    let session = manager.resume(id.as_str()).await.unwrap();
    let conversation = format!("{first}user \"third\"\nassistant \"Three.\"\n");
    assert_eq!((said(&session), home.transcript(&session)), (conversation.clone(), conversation));
}

#[tokio::test]
async fn transcripts_can_be_turned_off_or_sent_elsewhere() {
    let home = Home::new();
    let elsewhere = home.dir.path().join("elsewhere");
    for transcripts in [Transcripts::Off, Transcripts::RedirectedTo(elsewhere.clone())] {
        let (manager, _) =
            home.manager(PersistenceSettings { transcripts, ..PersistenceSettings::default() });
        let session = manager.start().await.unwrap();
        run(&session, say("Hm."), &[], "hello").await.result.unwrap();
        session.close().await;
    }
    assert!(!home.path(".claude").exists());
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 1);
}

#[tokio::test]
async fn without_persistence_nothing_is_written() {
    let home = Home::new();
    let settings = PersistenceSettings { persistence: Persistence::Off, ..PersistenceSettings::default() };
    let (manager, notices) = home.manager(settings);
    let session = manager.start().await.unwrap();
    assert!(!session.is_saved());
    run(&session, two_calls(), &tools(&home.project()), "hello").await.result.unwrap();
    session.close().await;
    assert_eq!(std::fs::read_dir(home.path("")).unwrap().count(), 0);
    assert_eq!(told(&notices), "");

    // An earlier session can be resumed; new events are not saved.
    let (persistent, _) = home.manager(PersistenceSettings::default());
    let session = persistent.start().await.unwrap();
    run(&session, say("Hm."), &[], "kept").await.result.unwrap();
    session.close().await;
    let session = manager.resume_latest().await.unwrap();
    let ran = run(&session, say("Oh."), &[], "not kept").await;
    assert_eq!(ran.sent(0), "user \"kept\"\nassistant \"Hm.\"\nuser \"not kept\"");
    let id = session.session_id().clone();
    assert_eq!(said(&persistent.resume(id.as_str()).await.unwrap()), "user \"kept\"\nassistant \"Hm.\"\n");
    expect!["sessions are not saved in this run, so none can be changed; run again with session persistence"]
        .assert_eq(&manager.delete(id.as_str()).await.unwrap_err().to_string());
}
