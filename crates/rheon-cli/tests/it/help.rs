//! What the program says about itself.

use expect_test::expect;

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
    assert_eq!(stdout_of(&["--version"]), concat!("rheon ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn help() {
    expect![[r#"
        Runs coding agents: a model, its tools, and a log of all that happens

        A run is a log of events. What you see on the screen and what a program reads as JSON are views of
        that one log.

        Usage: rheon <COMMAND>

        Commands:
          demo  Watch an agent at work; needs no network and no key
          help  Print this message or the help of the given subcommand(s)

        Options:
          -h, --help
                  Print help (see a summary with '-h')

          -V, --version
                  Print version

        Examples:
          rheon demo            Watch an agent at work; needs no network and no key
          rheon demo --fast     The same without pauses
          rheon demo --events   The same as a log: one JSON object per line

        Exit codes:
            0  done
            1  error
            2  wrong usage
            3  the token budget is spent
            4  the turn or time limit was reached
            5  a filter or a hook refused
          130  interrupted (Ctrl-C)
          143  terminated
    "#]]
    .assert_eq(&stdout_of(&["--help"]));
}

#[test]
fn short_help() {
    expect![[r#"
        Runs coding agents: a model, its tools, and a log of all that happens

        Usage: rheon <COMMAND>

        Commands:
          demo  Watch an agent at work; needs no network and no key
          help  Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Examples:
          rheon demo            Watch an agent at work; needs no network and no key
          rheon demo --fast     The same without pauses
          rheon demo --events   The same as a log: one JSON object per line
    "#]]
    .assert_eq(&stdout_of(&["-h"]));
}

#[test]
fn help_of_demo() {
    expect![[r#"
        Watch an agent at work; needs no network and no key

        A scripted model plays a bundled scenario through the real agent: it thinks, writes and reads notes
        with two small tools, gets one name wrong and recovers. The notes are files in a temporary folder,
        which is removed at the end.

        Usage: rheon demo [OPTIONS]

        Options:
              --fast
                  Play without pauses

              --keep
                  Keep the folder with the notes and say where it is

              --events
                  Print every event as one line of JSON instead

          -h, --help
                  Print help (see a summary with '-h')
    "#]]
    .assert_eq(&stdout_of(&["demo", "--help"]));
}

#[test]
fn no_command() {
    assert_eq!(stderr_of(&[]), stdout_of(&["-h"]));
}

#[test]
fn unknown_command() {
    expect![[r#"
        error: unrecognized subcommand 'dmo'

          tip: a similar subcommand exists: 'demo'

        Usage: rheon <COMMAND>

        For more information, try '--help'.
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
