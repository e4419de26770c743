//! One headless run in every format, and on every wire.

use std::io::{BufRead as _, BufReader};

use expect_test::{expect, expect_file};
use rheon_testkit::server::{FakeReply, FakeServer, Fault, Script};
use rheon_types::Event;
use rheon_types::event::OrderChecker;

use crate::stage::{MODEL, Stage, masked_lines, reads};
use crate::support::Ran;

const QUESTION: &str = "What does a.txt say?";

#[test]
fn text_is_the_answer_and_what_happens_goes_to_standard_error() {
    let ran = Stage::new(reads()).run(&[QUESTION]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("It says: the content.\n", Some(0)));
    expect![[r#"
        Let me look.

        ● read a.txt
          └ 1 the content · N ms

        2 turns · 1 tool · 200 in / 40 out tokens · $0.0012 · N ms
    "#]]
    .assert_eq(&ran.stderr);
}

#[test]
fn json_is_one_object() {
    let ran = Stage::new(reads()).run(&[QUESTION, "--output-format", "json"]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    expect_file!["formats/json.txt"].assert_eq(&masked_lines(&ran.stdout));
}

#[test]
fn stream_json_is_line_by_line() {
    let ran = Stage::new(reads()).run(&[QUESTION, "--output-format", "stream-json", "--verbose"]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    expect_file!["formats/stream_json.txt"].assert_eq(&masked_lines(&ran.stdout));
}

#[test]
fn partial_messages_are_the_events_of_the_service() {
    let arguments = ["hi", "--output-format", "stream-json", "--include-partial-messages"];
    let ran = Stage::new(FakeReply::thinking("Hm.", "sig").and_text("Hello there.")).run(&arguments);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    expect_file!["formats/partial.txt"].assert_eq(&masked_lines(&ran.stdout));
}

#[test]
fn events_are_the_log() {
    let ran = Stage::new(reads()).run(&[QUESTION, "--output-format", "events"]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let mut order = OrderChecker::new();
    for line in ran.stdout.lines() {
        order.observe(&serde_json::from_str::<Event>(line).unwrap()).unwrap();
    }
    assert_eq!(order.open_runs().len(), 0);
    expect_file!["formats/events.txt"].assert_eq(&masked_lines(&ran.stdout));
}

/// A service: a model of it, and the variables that point at the server.
type Service = (&'static str, fn(&FakeServer) -> Vec<(&'static str, String)>);

fn key(name: &'static str) -> (&'static str, String) {
    (name, "key".into())
}

/// Every wire, in every way in which the registry finds it.
const SERVICES: [Service; 10] = [
    ("anthropic/claude-sonnet-4-5", |_| vec![]),
    ("openai/gpt-5", |server| vec![key("OPENAI_API_KEY"), ("OPENAI_BASE_URL", server.url() + "/v1")]),
    ("openai-chat/gpt-5", |server| vec![key("OPENAI_API_KEY"), ("OPENAI_BASE_URL", server.url() + "/v1")]),
    ("google/gemini-2.5-pro", |server| vec![key("GEMINI_API_KEY"), ("GEMINI_BASE_URL", server.url())]),
    ("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0", |server| {
        vec![
            key("AWS_ACCESS_KEY_ID"),
            key("AWS_SECRET_ACCESS_KEY"),
            ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url()),
        ]
    }),
    ("azure/gpt-5", |server| vec![key("AZURE_OPENAI_API_KEY"), ("AZURE_OPENAI_ENDPOINT", server.url())]),
    ("azure-chat/gpt-5", |server| vec![key("AZURE_OPENAI_API_KEY"), ("AZURE_OPENAI_ENDPOINT", server.url())]),
    ("vertex/gemini-2.5-pro", |server| {
        vec![
            key("GOOGLE_ACCESS_TOKEN"),
            ("GOOGLE_CLOUD_PROJECT", "project".into()),
            ("GOOGLE_VERTEX_BASE_URL", server.url()),
        ]
    }),
    ("vertex-express/gemini-2.5-pro", |server| {
        vec![key("GOOGLE_CLOUD_API_KEY"), ("VERTEX_EXPRESS_BASE_URL", server.url())]
    }),
    ("custom/some-model", |server| vec![("CUSTOM_BASE_URL", server.url() + "/v1")]),
];

#[test]
fn every_wire_gives_the_same() {
    let mut paths = String::new();
    for (model, variables) in SERVICES {
        let stage = Stage::new(reads());
        let mut command = stage.rheon(&["-p", QUESTION, "--model", model, "--output-format", "stream-json"]);
        command.envs(variables(&stage.server));
        let ran = stage.ran(command);
        assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)), "{model}");
        assert_eq!(
            outline(&ran),
            "init text tool_use(Read) tool_result text result(It says: the content.)",
            "{model}"
        );
        let requests = stage.server.requests();
        assert_eq!(requests.len(), 2, "{model}");
        paths += &format!("{model}: {}\n", requests[0].path);
    }
    expect![[r#"
        anthropic/claude-sonnet-4-5: /v1/messages
        openai/gpt-5: /v1/responses
        openai-chat/gpt-5: /v1/chat/completions
        google/gemini-2.5-pro: /v1beta/models/gemini-2.5-pro:streamGenerateContent
        bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0: /model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream
        azure/gpt-5: /openai/v1/responses
        azure-chat/gpt-5: /openai/v1/chat/completions
        vertex/gemini-2.5-pro: /v1/projects/project/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent
        vertex-express/gemini-2.5-pro: /v1/publishers/google/models/gemini-2.5-pro:streamGenerateContent
        custom/some-model: /v1/chat/completions
    "#]].assert_eq(&paths);
}

/// The lines as words.
fn outline(ran: &Ran) -> String {
    let word = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let block = &line["message"]["content"][0];
        match (line["type"].as_str().unwrap(), block["type"].as_str()) {
            ("result", _) => format!("result({})", line["result"].as_str().unwrap()),
            ("system", _) => line["subtype"].as_str().unwrap().to_owned(),
            (_, Some("tool_use")) => format!("tool_use({})", block["name"].as_str().unwrap()),
            (kind, block) => block.unwrap_or(kind).to_owned(),
        }
    };
    ran.stdout.lines().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_answer_streams_into_a_pipe_from_its_second_paragraph_on() {
    let text = "The first paragraph.\n\nThe second one, which is a little longer, and the rest.";
    let reply = FakeReply::text(text).delta_chars(24).with(Fault::StallAfterEvent(5));
    let stage = Stage::new(Script::always(reply));
    let mut child = stage.rheon(&["-p", "--model", MODEL, "count"]).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut lines = [String::new(), String::new()];
    for line in &mut lines {
        stdout.read_line(line).unwrap();
    }
    // The rest never comes.
    assert_eq!(lines, ["The first paragraph.\n", "\n"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_long_text_before_a_call_stands_apart_from_the_answer() {
    let plan = "I look first.\n\nThen I answer.";
    let read = FakeReply::text(plan).and_call("read", &serde_json::json!({ "path": "a.txt" }));
    let stage = Stage::new([read, FakeReply::text("It says: the content.")]);
    let ran = stage.run(&["What does it say?"]);
    assert_eq!(ran.stdout, format!("{plan}\n\nIt says: the content.\n"), "{}", ran.stderr);
}
