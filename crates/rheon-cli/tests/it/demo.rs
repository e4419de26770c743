//! `rheon demo` as it should be.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread::JoinHandle;

use expect_test::expect;
use rheon_types::event::OrderChecker;
use rheon_types::{AgentEvent, Event, RunEnd, RunEvent};

use crate::support::{Place, Ran, mask};

/// The one repository that the program left.
fn repository(place: &Place) -> Option<PathBuf> {
    let entries = fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.file_name().unwrap().to_string_lossy().starts_with("rheon-demo-"))
}

/// The text with everything made the same that is another each time.
fn plain(place: &Place, text: &str) -> String {
    let text = match repository(place) {
        Some(repository) => text.replace(&repository.display().to_string(), "REPOSITORY"),
        None => text.to_owned(),
    };
    let session = text.split_once("the session is ").and_then(|(_, rest)| rest.get(..36)).map(str::to_owned);
    let text = session.map_or(text.clone(), |session| text.replace(&session, "SESSION"));
    mask(&text)
}

#[test]
fn the_whole_text() {
    let place = Place::new();
    let ran = place.at_home(&["demo", "--fast"]);
    expect![[r#"
        › The tests fail. Find out why, fix it, and show me that they pass.

        thinking: First I see what fails, and what there is.

        I am a scripted model, so no network is needed; the tools, the rules, the sandbox and the session are real. I run the tests and look around.

        ● bash ./test.sh
          │ FAILED  Hello World -> hello_world, expected hello-world
          │ FAILED  Release  Notes -> release_notes, expected release-notes
          │ ok      README -> readme
          └ exit code 1 · N ms
        ● search slug\(\)
          └ slug.sh (+1 line) · N ms

        Two of three fail: there is an underscore where a hyphen should be. The function is in `slug.sh`.

        ● read slug.sh
          └ 1 #!/bin/sh (+5 lines) · N ms

        thinking: The second tr makes underscores of spaces. One character is wrong.

        The second `tr` makes underscores of spaces. I change that one character.

        ● edit slug.sh
          └ changed slug.sh: 1 replaced, +1 -1 lines · N ms
                2  # Makes a name for a file of a title: slug "Hello World" prints hello-world.
                3  
                4  slug() {
                5 -    printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr -s ' ' '_'
                5 +    printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr -s ' ' '-'
                6  }

        Now the tests again.

        ● bash ./test.sh
          └ exit code 0 · 3 lines · … ok      README -> readme · N ms

        All three pass:

        ```sh
        printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr -s ' ' '-'
        ```

        The cause was one character in `slug.sh`: spaces became `_`, and the tests expect `-`. Nothing else changed.

        5 turns · 5 tools · 16,364 in (12,798 cached) / 344 out tokens · cost unknown · N ms
        The repository is in REPOSITORY, the session is SESSION. Next steps:
          cd REPOSITORY
          rheon sessions list
          rheon sessions show SESSION
          rheon sessions replay SESSION
          rheon sessions rewind SESSION --to 4    undoes the change
          rheon sessions export SESSION --output demo.html
    "#]].assert_eq(&plain(&place, &ran.stdout));
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
}

#[test]
fn what_it_says_at_its_end_can_be_done() {
    let place = Place::new();
    let ran = place.at_home(&["demo", "--fast"]);
    let repository = repository(&place).unwrap();
    let advice: Vec<&str> = ran.stdout.lines().filter_map(|line| line.strip_prefix("  rheon ")).collect();
    assert_eq!(advice.len(), 5, "{}", ran.stdout);
    for line in advice {
        let words: Vec<&str> = line.split("    ").next().unwrap().split(' ').collect();
        let more: &[&str] = if words.contains(&"rewind") { &["--yes"] } else { &[] };
        let output = place.rheon_at_home(&[&words, more].concat()).current_dir(&repository).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let back = fs::read_to_string(repository.join("slug.sh")).unwrap();
    assert!(back.contains("tr -s ' ' '_'"), "the change was not taken back: {back}");
    assert!(repository.join("demo.html").is_file());
}

#[test]
fn the_whole_log() {
    let place = Place::new();
    let ran = place.at_home(&["demo", "--fast", "--events", "--discard"]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let events: Vec<Event> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut order = OrderChecker::new();
    events.iter().for_each(|event| order.observe(event).unwrap());
    assert_eq!((order.open_runs().len(), events[0].seq), (0, 1));
    let AgentEvent::Run(RunEvent::End { output }) = &events[events.len() - 1].kind else {
        panic!("the log goes on")
    };
    assert_eq!((&output.end, output.turns), (&RunEnd::Completed, 5));
    // The log is written as it is read: nothing is lost on the way.
    let again: String = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect();
    assert_eq!(again, ran.stdout);
    assert_eq!(repository(&place), None);
}

#[test]
fn a_pipe_gets_no_colours() {
    for no_color in [None, Some("1")] {
        let place = Place::new();
        let mut command = place.rheon_at_home(&["demo", "--fast", "--discard"]);
        command.env("TERM", "xterm-256color").envs(no_color.map(|value| ("NO_COLOR", value)));
        let ran = Ran::from(command.output().unwrap());
        assert!(ran.code == Some(0) && !ran.stdout.contains('\x1b'), "{}", ran.stdout);
    }
}

#[test]
fn no_home_is_needed() {
    let place = Place::new();
    let mut command = place.rheon_at_home(&["demo", "--fast", "--discard"]);
    let ran = Ran::from(command.env("HOME", "/there/is/no/such/home").output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
}

/// A collector that takes everything and gives back the places that were asked.
fn collector() -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (connection, _) = listener.accept().unwrap();
        let mut connection = BufReader::new(connection);
        let mut places = Vec::new();
        loop {
            let (mut line, mut length) = (String::new(), 0);
            if connection.read_line(&mut line).unwrap() == 0 {
                return places;
            }
            places.push(line.trim().to_owned());
            while line != "\r\n" {
                line.clear();
                connection.read_line(&mut line).unwrap();
                if let Some(bytes) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                    length = bytes.trim().parse().unwrap();
                }
            }
            connection.read_exact(&mut vec![0; length]).unwrap();
            connection.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        }
    });
    (address, served)
}

#[test]
fn it_is_observed_like_any_run() {
    let place = Place::new();
    let (address, served) = collector();
    let trace = place.home().join("trace.jsonl");
    let mut command =
        place.rheon_at_home(&["demo", "--fast", "--events", "--trace", trace.to_str().unwrap()]);
    let ran = Ran::from(command.env("OTEL_EXPORTER_OTLP_ENDPOINT", address).output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(trace).unwrap(), ran.stdout);
    assert_eq!(served.join().unwrap(), ["POST /v1/traces HTTP/1.1", "POST /v1/metrics HTTP/1.1"]);
    let logs = fs::read_dir(place.home().join(".local/state/rheon/logs")).unwrap();
    let log: String = logs.map(|log| fs::read_to_string(log.unwrap().path()).unwrap()).collect();
    assert!(log.contains(" run began ") && log.contains(" session closed "), "{log}");
}

#[test]
fn discarded_it_leaves_no_log() {
    let place = Place::new();
    let ran = place.at_home(&["demo", "--fast", "--discard"]);
    assert_eq!((ran.code, place.home().join(".local/state/rheon/logs").exists()), (Some(0), false));
}
