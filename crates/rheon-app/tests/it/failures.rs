//! Sessions that cannot be kept: the error comes before a model is asked, says what to do, and nothing that was kept is lost.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use expect_test::expect;
use rheon_app::sessions::{OnStorageFailure, PersistenceSettings, SessionError, Transcripts};
use rheon_testkit::{CountingRandom, Scenario, Turn};
use rheon_types::RunEnd;

use super::home::{Home, manager, run, said, told, tools};

fn say(text: &str) -> Scenario {
    Scenario::new().turn(Turn::say(text))
}

fn in_memory() -> PersistenceSettings {
    PersistenceSettings { on_failure: OnStorageFailure::InMemory, ..PersistenceSettings::default() }
}

#[tokio::test]
async fn a_file_in_place_of_the_dir_is_told_before_a_model_is_asked() {
    let home = Home::new();
    std::fs::create_dir_all(home.path(".local")).unwrap();
    std::fs::write(home.path(".local/share"), "a file").unwrap();
    let (refusing, _) = home.manager(PersistenceSettings::default());
    let data = home.data().display().to_string();
    let error = refusing.start().await.err().unwrap();
    assert!(matches!(error, SessionError::Unkeepable { .. }));
    expect!["cannot save sessions: cannot create the directory DATA: Not a directory (os error 20); a file is in the way of a directory: move it, or use another directory"]
        .assert_eq(&error.to_string().replace(&data, "DATA"));

    let (forgiving, notices) = home.manager(in_memory());
    let session = forgiving.start().await.unwrap();
    assert!(!session.is_saved());
    run(&session, say("Hm."), &tools(&home.project()), "hello").await.result.unwrap();
    expect![[r#"
        session ID is no longer being saved: cannot save sessions: cannot create the directory DATA: Not a directory (os error 20); a file is in the way of a directory: move it, or use another directory
    "#]]
        .assert_eq(&told(&notices).replace(&data, "DATA").replace(session.session_id().as_str(), "ID"));
    assert!(!home.path(".claude").exists());
}

#[tokio::test]
async fn a_dir_that_goes_in_the_middle_stops_the_run_before_the_next_model_call() {
    let home = Home::new();
    let (manager, _) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    // Between the try and the first event.
    std::fs::remove_dir_all(home.data()).unwrap();
    std::fs::write(home.data(), "a file").unwrap();
    let ran = run(&session, say("Hm."), &[], "hello").await;
    assert_eq!(ran.provider.requests().len(), 0);
    let error = ran.result.as_ref().unwrap_err().to_string();
    assert!(error.contains("a file is in the way of a directory: move it"), "{error}");
    // The directory is back: the next run stores what was missed first.
    std::fs::remove_file(home.data()).unwrap();
    ran.agent.run("still there?").await.unwrap();
    drop(ran.agent);
    session.close().await;
    let session = manager.resume_latest().await.unwrap();
    assert!(said(&session).starts_with("user \"hello\"\n"), "{}", said(&session));
}

#[tokio::test]
async fn without_a_home_only_what_is_not_kept_goes_on() {
    let home = Home::new();
    let (refusing, _) =
        manager(Path::new("nowhere"), &home.project(), PersistenceSettings::default(), Arc::default());
    expect!["cannot find the data directory: set XDG_DATA_HOME or HOME to an absolute path"]
        .assert_eq(&refusing.start().await.err().unwrap().to_string());
    let (forgiving, notices) = manager(Path::new("nowhere"), &home.project(), in_memory(), Arc::default());
    let session = forgiving.start().await.unwrap();
    run(&session, say("Hm."), &[], "hello").await.result.unwrap();
    assert_eq!(told(&notices).lines().count(), 1);
}

#[tokio::test]
async fn a_transcript_that_cannot_be_written_is_told_once_and_fails_nothing() {
    let home = Home::new();
    std::fs::write(home.path(".claude"), "a file").unwrap();
    let (manager, notices) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    run(&session, say("Hm."), &[], "hello").await.result.unwrap();
    let id = session.session_id().clone();
    session.close().await;
    assert_eq!(said(&manager.resume(id.as_str()).await.unwrap()), "user \"hello\"\nassistant \"Hm.\"\n");
    let claude = home.path(".claude").display().to_string();
    let told = told(&notices).replace(&claude, "CLAUDE");
    // Once for each time that the session was opened.
    expect![[r#"
        the transcript for Claude Code is no longer being written: cannot write in CLAUDE/projects: cannot read the directory CLAUDE/projects: Not a directory (os error 20); the session itself is saved
        cannot read what Claude Code added to this session: cannot read the directory CLAUDE/projects: Not a directory (os error 20); the session continues without it
        the transcript for Claude Code is no longer being written: cannot write in CLAUDE/projects: cannot read the directory CLAUDE/projects: Not a directory (os error 20); the session itself is saved
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn a_session_that_is_in_use_says_by_whom_and_can_be_read() {
    let home = Home::new();
    let (manager, _) = home.manager(PersistenceSettings::default());
    let session = manager.start().await.unwrap();
    let ran = run(&session, say("Hm."), &[], "hello").await;
    ran.result.as_ref().unwrap();
    let id = session.session_id().clone();
    // In memory is no answer to this: whoever writes would be hidden.
    let (second, _) = home.manager(in_memory());
    let error = second.resume(id.as_str()).await.err().unwrap();
    let SessionError::InUse { holder, .. } = &error else { panic!("{error}") };
    assert!(holder.starts_with(&format!("process {}", std::process::id())), "{holder}");
    assert!(error.to_string().ends_with("close it there, open it read-only, or fork it"), "{error}");
    assert_eq!(second.read(id.as_str()).await.unwrap().messages().len(), 2);
    drop(ran);
    session.close().await;
    second.resume(id.as_str()).await.unwrap();
}

#[tokio::test]
async fn no_checkpoints_are_made_of_a_project_that_holds_the_sessions() {
    let home = Home::new();
    let (manager, notices) =
        manager(&home.project(), &home.project(), PersistenceSettings::default(), Arc::default());
    let session = manager.start().await.unwrap();
    assert!(session.checkpoints().is_none());
    assert!(told(&notices).starts_with("changes to files cannot be undone: sessions are saved in "));
}

/// Starts one of the tests below in a process of its own, prepared by `script`, which ends with `exec "$@"`.
fn child(script: &str, test: &str, dir: &Path) -> Option<String> {
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(program)
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
        .env("RHEON_TEST_DIR", dir)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if text.contains("cannot prepare") {
        println!("skipped: this machine does not allow it: {text}");
        return None;
    }
    assert!(output.status.success(), "{}: {text}", output.status);
    Some(text)
}

fn given_dir() -> std::path::PathBuf {
    std::env::var_os("RHEON_TEST_DIR").expect("started by another test").into()
}

#[test]
fn whatever_the_umask_files_are_for_their_owner_alone() {
    let home = Home::with_claude_code();
    child("umask 000; exec \"$@\"", "failures::child_with_any_umask", home.dir.path()).unwrap();
    let mut seen = 0;
    let mut open = vec![home.path(".local/share/rheon"), home.path(".claude")];
    while let Some(path) = open.pop() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{}: {mode:o}", path.display());
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
}

#[tokio::test]
#[ignore = "started by whatever_the_umask_files_are_for_their_owner_alone"]
async fn child_with_any_umask() {
    let (home, project) = (given_dir().join("home"), given_dir().join("project"));
    let (manager, notices) = manager(&home, &project, PersistenceSettings::default(), Arc::default());
    let session = manager.start().await.unwrap();
    let large = "large ".repeat(50_000);
    let scenario = Scenario::new().turn(Turn::call("write", serde_json::json!({}))).turn(Turn::say(large));
    run(&session, scenario, &tools(&project), "hello").await.result.unwrap();
    session.close().await;
    assert_eq!(told(&notices), "");
}

#[test]
fn a_limit_for_the_size_of_files_is_an_error_and_not_the_end() {
    let home = Home::new();
    let script = "ulimit -f 256 || { echo cannot prepare; exit 0; }; exec \"$@\"";
    child(script, "failures::child_with_small_files", home.dir.path());
}

#[tokio::test]
#[ignore = "started by a_limit_for_the_size_of_files_is_an_error_and_not_the_end"]
async fn child_with_small_files() {
    let (home, project) = (given_dir().join("home"), given_dir().join("project"));
    let settings = |on_failure| PersistenceSettings {
        on_failure,
        transcripts: Transcripts::Off,
        ..PersistenceSettings::default()
    };
    let dice = Arc::new(CountingRandom::default());
    let (refusing, _) = manager(&home, &project, settings(OnStorageFailure::Refuse), Arc::clone(&dice));
    let session = refusing.start().await.unwrap();
    let ran = run(&session, talkative(), &tools(&project), "hello").await;
    let error = ran.result.as_ref().unwrap_err().to_string();
    assert!(error.contains("cannot write to ") && error.contains("(os error 27)"), "{error}");
    assert!(error.contains("raise the file size limit (ulimit -f) and try again"), "{error}");
    let asked = ran.provider.requests().len();
    assert!(asked < TURNS as usize, "it went on: {asked}");
    drop(ran);
    session.close().await;
    // What was kept is whole.
    let id = refusing.list(rheon_app::sessions::ListScope::Project, 1).await.unwrap().remove(0).session_id;
    assert!(refusing.read(id.as_str()).await.unwrap().messages().len() > 4);

    let (forgiving, notices) = manager(&home, &project, settings(OnStorageFailure::InMemory), dice);
    let session = forgiving.start().await.unwrap();
    let ran = run(&session, talkative(), &tools(&project), "hello").await;
    let output = ran.result.unwrap();
    assert_eq!((output.turns, &output.end), (TURNS, &RunEnd::Completed));
    let told = told(&notices);
    assert!(told.contains("is no longer being saved") && told.contains("ulimit -f"), "{told}");
}

/// How many turns of 12 KB each the model takes: more than a file or a disk of these tests has room for.
const TURNS: u32 = 20;

fn talkative() -> Scenario {
    let words = "words ".repeat(2_000);
    let turn = |n| Turn::new().text(format!("{n} {words}")).tool_call("look", serde_json::json!({}));
    let scenario = (1..TURNS).map(turn).fold(Scenario::new(), Scenario::turn);
    scenario.turn(Turn::say("Done."))
}

const SMALL_DISK: &str = "exec unshare -Urm sh -c 'mount -t tmpfs -o size=1600k tmpfs \"$RHEON_TEST_DIR/home\" \
    || { echo cannot prepare; exit 0; }; exec \"$@\"' sh \"$@\" || echo cannot prepare";

#[test]
fn a_full_disk_stops_the_run_and_the_next_goes_on_when_there_is_room() {
    let home = Home::new();
    let can = Command::new("unshare").args(["-Urm", "true"]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        println!("skipped: this machine does not allow it: unshare");
        return;
    }
    child(SMALL_DISK, "failures::child_on_a_small_disk", home.dir.path());
}

#[tokio::test]
#[ignore = "started by a_full_disk_stops_the_run_and_the_next_goes_on_when_there_is_room"]
async fn child_on_a_small_disk() {
    let (home, project) = (given_dir().join("home"), given_dir().join("project"));
    let filler = home.join("filler");
    let settings = PersistenceSettings { transcripts: Transcripts::Off, ..PersistenceSettings::default() };
    let (manager, _) = manager(&home, &project, settings, Arc::default());
    let session = manager.start().await.unwrap();
    // A directory with this file is full.
    std::fs::write(&filler, vec![0; 1500 * 1024]).unwrap();
    let ran = run(&session, talkative(), &[], "hello").await;
    let error = ran.result.as_ref().unwrap_err().to_string();
    assert!(error.contains("(os error 28)"), "{error}");
    assert!(error.contains("free some disk space and try again; everything saved so far is safe"), "{error}");
    assert!(ran.provider.requests().len() < TURNS as usize);
    // Full at the start, too.
    std::fs::OpenOptions::new().append(true).open(&filler).map(|mut file| fill(&mut file)).unwrap();
    let error = manager.start().await.err().unwrap().to_string();
    assert!(error.contains("free some disk space and try again"), "{error}");
    // There is room again: no restart is needed.
    std::fs::remove_file(&filler).unwrap();
    let before = ran.agent.messages().len();
    // The script goes on where it was.
    ran.agent.run("and now?").await.unwrap();
    let id = session.session_id().clone();
    drop(ran);
    session.close().await;
    let whole = manager.read(id.as_str()).await.unwrap().messages().len();
    assert!(whole > before, "{whole} of more than {before}");
}

fn fill(file: &mut std::fs::File) {
    use std::io::Write as _;
    for bytes in [4096, 1024, 256, 16, 1] {
        while file.write_all(&vec![0; bytes]).is_ok() {}
    }
}

/// A process that holds a session and is killed leaves it free at once.
#[test]
fn a_session_of_a_process_that_was_killed_is_free() {
    let home = Home::new();
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "failures::child_holds_a_session", "--ignored", "--nocapture"])
        .env("RHEON_TEST_DIR", home.dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(holder.stdout.take().unwrap()));
    let id = lines.find_map(|line| line.unwrap().split_once("HOLDS ").map(|(_, id)| id.to_owned())).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (manager, _) = runtime.block_on(async { home.manager(PersistenceSettings::default()) });
    let error = runtime.block_on(manager.resume(&id)).err().unwrap().to_string();
    assert!(error.contains(&format!("is in use by process {}", holder.id())), "{error}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let session = runtime.block_on(manager.resume(&id)).unwrap();
    assert_eq!(said(&session), "user \"hello\"\nassistant \"Hm.\"\n");
}

#[tokio::test]
#[ignore = "started by a_session_of_a_process_that_was_killed_is_free"]
async fn child_holds_a_session() {
    let (home, project) = (given_dir().join("home"), given_dir().join("project"));
    let (manager, _) = manager(&home, &project, PersistenceSettings::default(), Arc::default());
    let session = manager.start().await.unwrap();
    let ran = run(&session, say("Hm."), &[], "hello").await;
    println!("\nHOLDS {}", session.session_id());
    // Until it is killed.
    std::io::Read::read(&mut std::io::stdin(), &mut [0]).unwrap();
    drop(ran);
}
