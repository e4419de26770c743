//! Commands that print keys, and commands that fail.

use std::sync::Arc;

use expect_test::expect;
use secrecy::ExposeSecret;

use super::AuthError;
use super::command::{OUTPUT_BYTES_MAX, SecretCommand, run, shorten};
use super::key::KeySource;
use super::test_support::exposed;

async fn outcome(command_line: &str) -> String {
    match run(command_line).await {
        Ok(secret) => format!("printed {:?}", secret.expose_secret()),
        Err(problem) => problem,
    }
}

fn failed(problem: String) -> AuthError {
    AuthError::Command { vendor: "v".to_owned(), setting: "api_key_command".to_owned(), problem }
}

#[tokio::test]
async fn command_output_is_trimmed() {
    assert_eq!(outcome("printf '\\n  key-1  \\n\\n'").await, r#"printed "key-1""#);
    assert_eq!(outcome("echo key | tr k K").await, r#"printed "Key""#);
}

#[tokio::test]
async fn command_has_closed_stdin() {
    assert_eq!(outcome("cat; echo key-2").await, r#"printed "key-2""#);
}

#[tokio::test]
async fn failing_command_is_reported_without_the_key() {
    let text = outcome(
        "echo secret-part; echo 'vault: locked\n  got secret-part and sk-abcdefghijklmnop12' >&2; exit 3",
    );
    expect!["failed (exit status: 3): vault: locked got [redacted] and [redacted]"].assert_eq(&text.await);
    expect!["failed (exit status: 1)"].assert_eq(&outcome("exit 1").await);
    expect!["printed nothing: no entry"].assert_eq(&outcome("echo no entry >&2").await);
    expect!["printed invalid UTF-8"].assert_eq(&outcome("printf '\\377'").await);
}

#[tokio::test]
async fn long_stderr_is_truncated_between_characters() {
    let text = outcome("i=0; while [ $i -lt 400 ]; do printf 'ä' >&2; i=$((i+1)); done; exit 1").await;
    assert_eq!(text, format!("failed (exit status: 1): {} ...", "ä".repeat(300)));
    assert_eq!(shorten(&"x".repeat(300)), "x".repeat(300));
}

#[tokio::test]
async fn command_output_has_a_limit() {
    let print = |bytes: usize| format!("head -c {bytes} /dev/zero | tr '\\0' x");
    let whole = run(&print(OUTPUT_BYTES_MAX)).await.unwrap();
    assert_eq!(whole.expose_secret().len(), OUTPUT_BYTES_MAX);
    expect!["printed more than 65536 bytes"].assert_eq(&outcome(&print(OUTPUT_BYTES_MAX + 1)).await);
    expect!["printed more than 65536 bytes"].assert_eq(&outcome("yes").await);
}

#[tokio::test]
async fn command_with_long_stderr_may_still_print_a_key() {
    let noisy = format!("head -c {} /dev/zero >&2 && echo key-4", 4 * OUTPUT_BYTES_MAX);
    assert_eq!(outcome(&noisy).await, r#"printed "key-4""#);
}

#[tokio::test(start_paused = true)]
async fn command_times_out() {
    expect!["did not finish within 30 s and was stopped"].assert_eq(&outcome("exec sleep 1000").await);
}

#[tokio::test]
async fn background_process_does_not_delay_the_key() {
    let printed = run("sleep 1000 & echo $!").await.unwrap();
    // Started by this test.
    let ended = std::process::Command::new("kill").arg(printed.expose_secret()).status().unwrap();
    assert!(ended.success());
}

#[tokio::test]
async fn concurrent_callers_share_one_run_and_its_failure() {
    let directory = tempfile::tempdir().unwrap();
    let runs = directory.path().join("runs");
    let count = || std::fs::read_to_string(&runs).unwrap().lines().count();
    let works = SecretCommand::new(format!("echo run >> '{}'; echo key-3", runs.display()));
    let keys = futures::future::join_all((0..20).map(|_| works.get(failed))).await;
    assert!(keys.iter().all(|key| key.as_ref().is_ok_and(|key| key.expose_secret() == "key-3")));
    assert_eq!(count(), 1);
    works.get(failed).await.unwrap();
    assert_eq!(count(), 1);

    let fails = SecretCommand::new(format!("echo run >> '{}'; exit 1", runs.display()));
    let errors = futures::future::join_all((0..20).map(|_| fails.get(failed))).await;
    assert!(errors.iter().all(Result::is_err));
    assert_eq!(count(), 2);
    assert!(fails.get(failed).await.is_err());
    assert_eq!(count(), 3);
}

#[tokio::test]
async fn forgotten_key_is_fetched_again_and_still_redacted() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("key");
    std::fs::write(&file, "first-key").unwrap();
    let source = KeySource::command("openai", &format!("cat '{}'", file.display()));
    let key = async || source.find().await.unwrap().unwrap().secret.expose_secret().to_owned();
    assert!(!source.forget());
    assert!(source.is_configured() && source.secrets().is_empty());
    assert_eq!(key().await, "first-key");
    std::fs::write(&file, "second-key").unwrap();
    assert_eq!(key().await, "first-key");
    assert!(source.forget());
    assert_eq!(exposed(source.secrets()), ["first-key"]);
    assert_eq!(key().await, "second-key");
    assert_eq!(exposed(source.secrets()), ["second-key", "first-key"]);
}

#[tokio::test]
async fn error_names_the_service_and_the_setting() {
    let source = KeySource::command("openai", "echo locked >&2; exit 2");
    expect!["api_key_command of openai failed (exit status: 2): locked"]
        .assert_eq(&source.find().await.unwrap_err().to_string());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn dropped_command_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let command = Arc::new(SecretCommand::new(format!("echo $$ > '{}'; exec sleep 1000", pipe.display())));
    let waiting = tokio::spawn({
        let command = Arc::clone(&command);
        async move { command.get(failed).await.is_ok() }
    });
    let process = tokio::task::spawn_blocking(move || std::fs::read_to_string(pipe).unwrap()).await.unwrap();
    waiting.abort();
    assert!(waiting.await.is_err());
    let stat = format!("/proc/{}/stat", process.trim());
    // A killed process stays a zombie (Z) until the runtime has reaped it.
    while std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        tokio::task::yield_now().await;
    }
}
