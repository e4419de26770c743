//! What the program says about itself.

use expect_test::{expect, expect_file};

use crate::support::Place;

fn stdout_of(arguments: &[&str]) -> String {
    let ran = Place::new().run(arguments);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    ran.stdout
}

fn stderr_of(arguments: &[&str]) -> String {
    let ran = Place::new().run(arguments);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(2)));
    ran.stderr
}

#[test]
fn version() {
    for flag in ["--version", "-V", "-v"] {
        assert_eq!(stdout_of(&[flag]), concat!("rheon ", env!("CARGO_PKG_VERSION"), "\n"));
    }
}

#[test]
fn help() {
    expect_file!["help/rheon.txt"].assert_eq(&stdout_of(&["--help"]));
}

#[test]
fn short_help() {
    expect_file!["help/short.txt"].assert_eq(&stdout_of(&["-h"]));
}

#[test]
fn help_of_demo() {
    expect![[r#"
        Watch an agent at work, offline and without a key

        A scripted model finds out why a test fails, fixes it and runs the test again, in a new repository.
        Only the model is scripted: tools, rules, sandbox and session are real. The session is saved, so you
        can list, replay, rewind and export it.

        Usage: rheon demo [OPTIONS]

        Options:
              --fast
                  Run without pauses

              --discard
                  Remove the repository and the session at the end

              --events
                  Print events instead, one JSON object per line

              --trace <FILE>
                  Also write every event to this file, one JSON object per line

          -h, --help
                  Print help (see a summary with '-h')
    "#]]
    .assert_eq(&stdout_of(&["demo", "--help"]));
}

#[test]
fn no_command() {
    assert_eq!(
        stderr_of(&[]),
        "error: no prompt: pass one, as in rheon -p \"explain this\", or pipe it in\n"
    );
}

#[test]
fn unknown_command() {
    expect![[r#"
        error: no model is configured, and no local server answers. One of these helps:
          a key:           export ANTHROPIC_API_KEY=...   (or OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY; `rheon models --vendors` lists all)
          a local server:  ollama serve, with a model     (or LM Studio, llama.cpp, vLLM on their usual ports)
          nothing at all:  rheon demo                     (a scripted model, offline)
    "#]]
    .assert_eq(&stderr_of(&["dmo"]));
}

#[test]
fn unknown_option() {
    expect![[r#"
        error: unexpected argument '--fats' found

          tip: a similar argument exists: '--fast'

        Usage: rheon demo --fast

        For more information, try '--help'.
    "#]]
    .assert_eq(&stderr_of(&["demo", "--fats"]));
}
