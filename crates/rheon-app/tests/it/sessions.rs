//! Sessions are kept, listed, found, gone on with, forked and deleted.

use std::sync::Arc;

use expect_test::expect;
use rheon_app::sessions::{
    ForkAt, ListScope, Persistence, PersistenceSettings, SessionCreator, SessionManager, Transcripts,
};
use rheon_store::claude::{TranscriptLocation, TranscriptWriter};
use rheon_testkit::{CountingRandom, Scenario, Turn};
use rheon_types::{AssistantMessage, Content, Message, StopReason, Timestamp, Usage};
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

fn claude_session(home: &Home, id: &str, words: &[&str]) -> std::path::PathBuf {
    let place = TranscriptLocation {
        projects_dir: home.path(".claude/projects"),
        cwd: home.project(),
        session_id: id.into(),
        git_branch: None,
    };
    let mut writer = TranscriptWriter::open(place, Arc::new(CountingRandom::default())).unwrap();
    for (place, text) in words.iter().enumerate() {
        let message = if place % 2 == 0 {
            Message::user(*text, Timestamp::default())
        } else {
            Message::Assistant(AssistantMessage {
                content: vec![Content::text(*text)],
                stop_reason: StopReason::Stop,
                model: "claude-test".into(),
                provider: "anthropic".into(),
                usage: Usage::default(),
                timestamp: Timestamp::default(),
                error_message: None,
            })
        };
        writer.record_message(&message.into()).unwrap();
    }
    writer.path().to_owned()
}

#[tokio::test]
async fn a_session_of_claude_code_becomes_one_of_ours_and_stays_as_it_is() {
    let home = Home::new();
    let theirs = "7f3b6f0e-5a1c-4d2e-9b8a-1c2d3e4f5a6b";
    let path = claude_session(&home, theirs, &["hello", "Hi.", "and?"]);
    let before = std::fs::read(&path).unwrap();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    expect![[r#"
        ClaudeCode "hello" turns=?
    "#]]
    .assert_eq(&lines(&manager).await);
    let project = home.project().display().to_string();
    expect!["no session to continue in PROJECT; Claude Code has one, which you can resume by its id"]
        .assert_eq(&manager.resume_latest().await.err().unwrap().to_string().replace(&project, "PROJECT"));

    let session = manager.resume("7f3b6f").await.unwrap();
    assert_ne!(session.session_id().as_str(), theirs);
    let id = session.session_id().clone();
    let conversation = "user \"hello\"\nassistant \"Hi.\"\nuser \"and?\"\n";
    assert_eq!((said(&session).as_str(), home.transcript(&session).as_str()), (conversation, conversation));
    let ran = run(&session, say("Well."), &[], "go on").await;
    ran.result.as_ref().unwrap();
    drop(ran);
    session.close().await;
    assert_eq!(std::fs::read(&path).unwrap(), before);

    let session = manager.resume_latest().await.unwrap();
    assert_eq!(session.session_id(), &id);
    assert_eq!(said(&session), format!("{conversation}user \"go on\"\nassistant \"Well.\"\n"));
    let journals = home.data().join("sessions/projects");
    let folder = std::fs::read_dir(journals).unwrap().next().unwrap().unwrap().path();
    let journal = std::fs::read_to_string(folder.join(format!("{id}.jsonl"))).unwrap();
    assert!(journal.contains(r#""importedFrom":{"#) && journal.contains(theirs), "{journal}");
    assert_eq!(told(&notices), "");
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
    // The folder answers until the index can.
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
    // The folder answers until the index can.
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
async fn what_claude_code_added_to_a_session_of_ours_is_told() {
    let home = Home::with_claude_code();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    run(&session, say("Hm."), &[], "hello").await.result.unwrap();
    let id = session.session_id().clone();
    session.close().await;
    let path = claude_session_goes_on(&home, id.as_str());
    let session = manager.resume(id.as_str()).await.unwrap();
    assert_eq!(said(&session), "user \"hello\"\nassistant \"Hm.\"\n");
    expect![[r#"
        Claude Code continued this session: 1 messages in PATH are missing here; import the transcript to continue from there
    "#]]
        .assert_eq(&told(&notices).replace(&path, "PATH"));
}

fn claude_session_goes_on(home: &Home, id: &str) -> String {
    let place = TranscriptLocation {
        projects_dir: home.path(".claude/projects"),
        cwd: home.project(),
        session_id: id.into(),
        git_branch: None,
    };
    let dice = CountingRandom::default();
    for _ in 0..500 {
        let _: u64 = rheon_types::Random::next_u64(&dice);
    }
    let mut writer = TranscriptWriter::open(place, Arc::new(dice)).unwrap();
    writer.record_message(&Message::user("from there", Timestamp::default()).into()).unwrap();
    writer.path().display().to_string()
}

#[tokio::test]
async fn transcripts_can_be_turned_off_or_sent_elsewhere() {
    let home = Home::new();
    let elsewhere = home.folder.path().join("elsewhere");
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
