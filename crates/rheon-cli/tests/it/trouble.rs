//! `rheon demo` when it is interrupted, when nobody reads, and when there is no place to work.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use expect_test::expect;

use crate::support::{Begun, Place, Ran, kill};

const PROMPT: &str = "› The tests fail. Find out why, fix it, and show me that they pass.\n";

#[cfg(unix)]
#[test]
fn a_signal_ends_the_run_in_order() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let place = Place::new();
        let begun = Begun::new(place.rheon(&["demo", "--discard"]));
        assert_eq!(begun.line, PROMPT);
        kill(signal, &begun.child);
        let ran = begun.finish();
        assert!(ran.stdout.contains("\n\ninterrupted · "), "{}", ran.stdout);
        assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(code)));
        assert!(place.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_log_that_is_interrupted_still_ends() {
    let place = Place::new();
    let begun = Begun::new(place.rheon(&["demo", "--events", "--discard"]));
    kill("INT", &begun.child);
    let ran = begun.finish();
    let last: rheon_types::Event = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert_eq!((last.kind.name(), ran.code), ("agent.end", Some(130)));
    assert!(place.is_empty());
}

#[cfg(unix)]
#[test]
fn a_second_signal_ends_a_program_whose_output_nobody_reads() {
    // The pipe is full before the program begins, so that its first write waits for ever.
    let place = Place::new();
    let (_reader, writer) = std::io::pipe().unwrap();
    let mut filler = File::from(std::os::fd::OwnedFd::from(writer.try_clone().unwrap()));
    filler.write_all(&[b'\n'; 65_536]).unwrap();
    let mut child = place.rheon(&["demo"]).stdout(writer).spawn().unwrap();
    // Signals are heard before the workspace is made.
    while place.is_empty() {
        std::thread::yield_now();
    }
    // Signals that come together count as one, so two may not be enough.
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None => kill("INT", &child),
        }
    };
    assert_eq!(code, Some(130));
}

#[test]
fn a_reader_who_leaves_is_no_error() {
    for arguments in [&["demo", "--discard"][..], &["demo", "--events", "--discard"]] {
        let place = Place::new();
        let Begun { child, line, stdout } = Begun::new(place.rheon(arguments));
        assert!(line.ends_with('\n'));
        drop(stdout);
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran, Ran { stdout: String::new(), stderr: String::new(), code: Some(0) });
        assert!(place.is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ran = Ran::from(place.rheon(&["demo", "--fast", "--discard"]).stdout(full).output().unwrap());
    expect![[r#"
        error: cannot write to standard output: No space left on device (os error 28)
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(ran.code, Some(1));
    assert!(place.is_empty());
}

/// What the program says when its temporary directory is `dir`, which is then called DIR.
fn stderr_with_dir(dir: &Path) -> String {
    let ran = Ran::from(Place::new().rheon(&["demo", "--fast"]).env("TMPDIR", dir).output().unwrap());
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(1)));
    ran.stderr.replace(&dir.display().to_string(), "DIR")
}

#[test]
fn a_temporary_dir_that_is_missing() {
    expect![[r#"
        error: cannot create a workspace in DIR: no such directory; set TMPDIR to a writable directory
    "#]]
    .assert_eq(&stderr_with_dir(&Place::new().path().join("missing")));
}

#[test]
fn a_temporary_dir_that_is_a_file() {
    let place = Place::new();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    expect![[r#"
        error: cannot create a workspace in DIR: not a directory; set TMPDIR to a writable directory
    "#]]
    .assert_eq(&stderr_with_dir(&file));
}

#[cfg(unix)]
#[test]
fn a_temporary_dir_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o555)).unwrap();
    if File::create(place.path().join("probe")).is_ok() {
        // Nothing is forbidden to the superuser.
        return;
    }
    let said = stderr_with_dir(place.path());
    assert_eq!(
        said,
        "error: cannot create a workspace in DIR: permission denied; set TMPDIR to a writable directory\n"
    );
}
