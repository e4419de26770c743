//! `rheon demo` as it should be.

use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use rheon_types::event::OrderChecker;
use rheon_types::{AgentEvent, Event, RunEnd};

use crate::support::{Place, Ran, mask};

#[test]
fn the_whole_text() {
    let place = Place::new();
    let ran = place.run(&["demo", "--fast"]);
    expect![[r#"
        › Write a short plan for releasing our library, with its risks, as notes. Then read me the plan.

        thinking: Two notes will do: the plan, and what could go wrong. Neither needs the other, so I can write both at once.

        I am a scripted model, so no network is needed; the loop, the tools and the files are real. I begin with two notes.

        ● write_note name=release-plan text="1. Freeze the public interface.\n2. Let two users try it for …"
          └ kept release-plan (98 bytes) · N ms
        ● write_note name=risks text="- A breaking change slips in: compare the interface before t…"
          └ kept risks (68 bytes) · N ms

        Both are kept. Now I read the plan back.

        ● read_note name=plan
          └ failed: there is no note named "plan"; there are: release-plan, risks · N ms

        thinking: There is no such note, but the error lists the names. It is called release-plan.

        I had the name wrong; the error lists the right one.

        ● read_note name=release-plan
          └ 1. Freeze the public interface. (+2 lines) · N ms

        The plan, as it stands in the file:

        1. Freeze the public interface.
        2. Let two users try it for a week.
        3. Tag, publish, tell people.

        The one risk I see is a breaking change; it has a note of its own.

        4 turns · 4 tools · 2,290 in (1,586 cached) / 260 out tokens · cost unknown · N ms
        2 notes (166 bytes) were written and removed again; --keep keeps them
    "#]].assert_eq(&mask(&ran.stdout));
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    assert!(place.is_empty());
}

#[test]
fn the_whole_log() {
    let place = Place::new();
    let ran = place.run(&["demo", "--fast", "--events"]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let events: Vec<Event> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut order = OrderChecker::new();
    events.iter().for_each(|event| order.observe(event).unwrap());
    assert_eq!((order.open_runs().len(), events[0].seq), (0, 1));
    let AgentEvent::AgentEnd { output } = &events[events.len() - 1].kind else { panic!("the log goes on") };
    assert_eq!((&output.end, output.turns), (&RunEnd::Completed, 4));
    // The log is written as it is read: nothing is lost on the way.
    let again: String = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    assert_eq!(again, ran.stdout);
    assert!(place.is_empty());
}

/// The one folder that the program left, and the line in which it says so.
fn kept_in(place: &Place) -> (PathBuf, String) {
    let kept = fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
    let line = format!("2 notes (166 bytes) kept in {}\n", kept.display());
    (kept, line)
}

#[test]
fn the_notes_are_kept_if_asked() {
    let place = Place::new();
    let ran = place.run(&["demo", "--fast", "--keep"]);
    let (kept, line) = kept_in(&place);
    assert!(ran.stdout.ends_with(&line), "{}", ran.stdout);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    assert_eq!(
        fs::read_to_string(kept.join("release-plan.md")).unwrap(),
        "1. Freeze the public interface.\n2. Let two users try it for a week.\n3. Tag, publish, tell people.\n"
    );
}

#[test]
fn beside_a_log_standard_error_says_what_was_kept() {
    let place = Place::new();
    let ran = place.run(&["demo", "--fast", "--keep", "--events"]);
    assert_eq!((ran.stderr, ran.code), (kept_in(&place).1, Some(0)));
}

#[test]
fn a_pipe_gets_no_colours() {
    for no_color in [None, Some("1")] {
        let place = Place::new();
        let mut command = place.rheon(&["demo", "--fast"]);
        command.env("TERM", "xterm-256color").envs(no_color.map(|value| ("NO_COLOR", value)));
        let ran = Ran::from(command.output().unwrap());
        assert!(ran.code == Some(0) && !ran.stdout.contains('\x1b'), "{}", ran.stdout);
    }
}

#[test]
fn no_home_is_needed() {
    let place = Place::new();
    let with_home = |home: &str| {
        let output = place.rheon(&["demo", "--fast"]).env("HOME", home).output();
        mask(&Ran::from(output.unwrap()).stdout)
    };
    let without = mask(&place.run(&["demo", "--fast"]).stdout);
    assert_eq!([with_home("/there/is/no/such/home"), with_home("")], [without.clone(), without]);
}
