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
    let words = ["dmo", "rewind", "rewnd", "sesions", "list", "delete"];
    let errors: String = words.iter().map(|word| stderr_of(&[word])).collect();
    expect![[r#"
        error: unknown command "dmo"; did you mean "demo"? To send it to the model, use rheon -p dmo
        error: unknown command "rewind"; did you mean "sessions rewind"? To send it to the model, use rheon -p rewind
        error: unknown command "rewnd"; did you mean "sessions rewind"? To send it to the model, use rheon -p rewnd
        error: unknown command "sesions"; did you mean "sessions"? To send it to the model, use rheon -p sesions
        error: unknown command "list"; did you mean "sessions list" or "mcp list" or "openapi list" or "memory list"? To send it to the model, use rheon -p list
        error: unknown command "delete"; did you mean "sessions delete" or "memory delete"? To send it to the model, use rheon -p delete
    "#]]
    .assert_eq(&errors);
}

/// A word that is no command is a prompt; without a model it goes nowhere.
#[test]
fn a_word_that_no_command_resembles() {
    for word in ["test", "explain", "edit", "hello", "hi"] {
        assert!(stderr_of(&[word]).starts_with("error: no model is configured"), "{word}");
    }
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
