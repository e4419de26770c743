//! What is logged of a run: names and figures, no keys, nothing that was said or found.

use std::path::Path;
use std::sync::Arc;

use expect_test::{Expect, expect};
use rheon_testkit::TestClock;
use rheon_types::event::{Notice, NoticeTopic};
use rheon_types::{AgentEvent, Clock, Event, RunEvent, SessionEvent};
use secrecy::SecretString;

use super::super::subscriber::LINE_BYTES_MAX;
use super::{DayFiles, Log, Redactor};
use crate::config::LogLevel;
use crate::observe::fixtures::{CANARY, SAID, SHAPED, run, told};
use crate::observe::notify_once::Once;
use crate::sessions::EnvVars;

/// A log in a directory, whose redactor knows the canary from the environment.
fn log(dir: &Path, level: LogLevel, redact: bool) -> Option<Log> {
    let environment: EnvVars = [("ACME_API_KEY", CANARY), ("PATH", "/bin")].into_iter().collect();
    let keys = [SecretString::from("configured-key-of-a-vendor")];
    let redactor = Redactor::new(&environment, &keys, redact);
    let clock: Arc<dyn Clock> = Arc::new(TestClock::default());
    let (tell, _) = told();
    Log::new(level, DayFiles::new(dir.to_owned(), 14), redactor, clock, Once::new(&tell))
}

async fn logged(level: LogLevel, redact: bool) -> String {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path(), level, redact).unwrap();
    log.opened(&"s".into(), "acme/large", "/project");
    let notice = Notice::warning(NoticeTopic::Policy, "a rule names configured-key-of-a-vendor");
    let kind = SessionEvent::Notice { notice: Arc::new(notice) }.into();
    let at = TestClock::default().now();
    log.observe(&Event { seq: 1, at, session_id: "s".into(), run_id: None, kind });
    let observer = log.clone();
    run().with(|builder| builder.on_event(move |event| observer.observe(event))).run(SAID).await;
    log.closed(&"s".into());
    std::fs::read_to_string(dir.path().join("rheon-2023-11-14.log")).unwrap()
}

async fn check(level: LogLevel, expected: Expect) {
    let text = logged(level, true).await;
    for secret in [CANARY, SHAPED, "configured-key", SAID, "\u{1b}"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    expected.assert_eq(&text);
}

#[tokio::test(start_paused = true)]
async fn the_usual_log_of_a_run() {
    check(LogLevel::Info, expect![[r#"
        2023-11-14T22:13:20Z INFO  session opened session=s model=acme/large dir=/project
        2023-11-14T22:13:20Z WARN  notice: a rule names [redacted]
        2023-11-14T22:13:20Z INFO  run began run=s.c.1 model=scripted
        2023-11-14T22:13:20Z WARN  model call is tried again: too many requests of [redacted] and [redacted: GitHub token]�[2J run=s.c.1 attempt=1 attempts_max=3 delay_ms=800
        2023-11-14T22:13:20.8Z INFO  model call recovered run=s.c.1 attempts=2
        2023-11-14T22:13:20.8Z INFO  model answered run=s.c.1 stop=tool_use input=100 cache_read=900 cache_write=5 output=20 cost=unknown first_token_ms=800 ms=800
        2023-11-14T22:13:20.8Z INFO  tool done run=s.c.1 tool=echo call=call_2_0 outcome=ok ms=0
        2023-11-14T22:13:20.8Z INFO  tool done run=s.c.1 tool=fails call=call_2_1 outcome=failed ms=0
        2023-11-14T22:13:20.8Z INFO  turn over run=s.c.1 turn=0 tools=2
        2023-11-14T22:13:20.8Z INFO  model answered run=s.c.1 stop=stop input=100 cache_read=900 cache_write=5 output=20 cost=unknown first_token_ms=0 ms=0
        2023-11-14T22:13:20.8Z INFO  turn over run=s.c.1 turn=1 tools=0
        2023-11-14T22:13:20.8Z INFO  run completed run=s.c.1 turns=2 tokens=2050 cost=unknown
        2023-11-14T22:13:20.8Z INFO  session closed session=s
    "#]]).await;
}

#[tokio::test(start_paused = true)]
async fn only_what_is_odd() {
    check(LogLevel::Warn, expect![[r#"
        2023-11-14T22:13:20Z WARN  notice: a rule names [redacted]
        2023-11-14T22:13:20Z WARN  model call is tried again: too many requests of [redacted] and [redacted: GitHub token]�[2J run=s.c.1 attempt=1 attempts_max=3 delay_ms=800
    "#]]).await;
}

#[tokio::test(start_paused = true)]
async fn even_the_longest_log_has_nothing_that_was_said() {
    let text = logged(LogLevel::Trace, true).await;
    for secret in [CANARY, SHAPED, SAID] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert!(text.contains("TRACE event turn.start run="), "{text}");
}

#[tokio::test(start_paused = true)]
async fn own_keys_go_even_where_nothing_else_does() {
    let text = logged(LogLevel::Info, false).await;
    assert!(!text.contains(CANARY) && !text.contains("configured-key") && text.contains(SHAPED), "{text}");
}

#[test]
fn a_log_that_is_off_is_none() {
    let dir = tempfile::tempdir().unwrap();
    assert!(log(dir.path(), LogLevel::Off, true).is_none());
}

#[test]
fn a_long_line_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let log = log(dir.path(), LogLevel::Info, true).unwrap();
    let kind = AgentEvent::Run(RunEvent::Error { message: "ä\n".repeat(LINE_BYTES_MAX) });
    let (session_id, run_id) = ("s".into(), "r".into());
    log.observe(&Event { seq: 1, at: TestClock::default().now(), session_id, run_id: Some(run_id), kind });
    let text = std::fs::read_to_string(dir.path().join("rheon-2023-11-14.log")).unwrap();
    assert!(text.ends_with("…\n") && text.lines().count() == 1, "{text}");
    assert!((LINE_BYTES_MAX - 4..=LINE_BYTES_MAX).contains(&text.len()), "{}", text.len());
}
