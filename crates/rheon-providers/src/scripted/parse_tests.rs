//! Parsing of scenarios from TOML and JSON; errors name the position, the key and a fix.

use std::time::Duration;

use rheon_types::{ProviderError, ProviderErrorKind, StopReason, Usage};
use serde_json::json;

use super::scenario::Entry;
use super::{SCENARIO_BYTES_MAX, Scenario, ScenarioError, Turn};

fn turns(scenario: Scenario) -> Vec<Turn> {
    let turn = |entry| match entry {
        Entry::Turn(turn) => turn,
        Entry::Respond(_) => panic!("a closure"),
    };
    scenario.entries.into_iter().map(turn).collect()
}

fn toml_error(text: &str) -> String {
    Scenario::from_toml(text).unwrap_err().to_string()
}

fn json_error(text: &str) -> String {
    Scenario::from_json(text).unwrap_err().to_string()
}

/// The error for one step, written as an inline table on line 2.
fn step_error(step: &str) -> String {
    let message = toml_error(&format!("[[turns]]\nsteps = [{step}]"));
    let start = "scenario: line 2, column ";
    message.strip_prefix(start).unwrap_or_else(|| panic!("{message}")).to_owned()
}

const EVERYTHING: &str = r#"
name = "everything"
model = "big"

[[turns]]
repeat = true
stop = "length"
[turns.when]
last_text_contains = "go"
tool = "read"
tool_result_contains = "42"
tool_result_is_error = false
request = 3
[turns.usage]
input = 1
output = 2
cache_read = 3
cache_write = 4
total_tokens = 10

[[turns]]
[[turns.steps]]
type = "thinking"
text = "Hm."
signature = "sig"
chunk_chars = 1
[[turns.steps]]
type = "text"
text = "Hi"
chunk_chars = 2
[[turns.steps]]
type = "tool_call"
name = "bash"
[[turns.steps]]
type = "tool_call"
name = "write"
args = { path = "a", at = 1979-05-27, n = 1.5, on = true, list = [1] }
id = ""
chunk_chars = 3
[[turns.steps]]
type = "tool_call"
name = "edit"
id = "e"
raw_args = '{"path'
partial = true
[[turns.steps]]
type = "delay"
ms = 1500
[[turns.steps]]
type = "error"
kind = "rateLimited"
message = "slow down"
retry_after_ms = 20

[[turns]]
steps = [{ type = "cut" }]
[[turns]]
steps = [{ type = "hang" }]
"#;

fn everything() -> Vec<Turn> {
    let usage = Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, total_tokens: 10 };
    let error = ProviderError::new(ProviderErrorKind::RateLimited, "slow down").with_retry_after_ms(20);
    let mut second = Turn::new()
        .signed_thinking("Hm.", "sig")
        .chunked(1)
        .text("Hi")
        .chunked(2)
        .tool_call("bash", json!({}))
        .tool_call_with_id(
            "",
            "write",
            json!({ "path": "a", "at": "1979-05-27", "n": 1.5, "on": true, "list": [1] }),
        )
        .chunked(3)
        .raw_tool_call("e", "edit", "{\"path")
        .partial();
    second = second.delay(Duration::from_millis(1500)).error(error);
    let first = Turn::new()
        .repeat()
        .stop(StopReason::Length)
        .when_last_text_contains("go")
        .when_tool("read")
        .when_tool_result_contains("42")
        .when_tool_result_is_ok()
        .when_request(3)
        .usage(usage);
    vec![first, second, Turn::new().cut(), Turn::new().hang()]
}

#[test]
fn toml_json_and_builder_are_equivalent() {
    let from_toml = Scenario::from_toml(EVERYTHING).unwrap();
    assert_eq!((from_toml.name.as_deref(), from_toml.model.as_deref()), (Some("everything"), Some("big")));
    assert_eq!(turns(from_toml), everything());

    let document: serde_json::Value =
        toml::from_str(&EVERYTHING.replace("1979-05-27", "'1979-05-27'")).unwrap();
    assert_eq!(turns(Scenario::from_json(&document.to_string()).unwrap()), everything());
    assert_eq!(turns(serde_json::from_value(document).unwrap()), everything());
}

#[test]
fn empty_text_is_an_empty_scenario() {
    assert_eq!(turns(Scenario::from_toml("").unwrap()), []);
    assert_eq!(turns(Scenario::from_json("{}").unwrap()), []);
}

#[test]
fn invalid_toml_or_json_is_refused() {
    assert_eq!(
        toml_error("name = \"x\"\nmodel\n"),
        "scenario: line 2, column 6: not TOML: key with no value, expected `=`"
    );
    assert_eq!(toml_error("a = 1\na = 2"), "scenario: line 2, column 1: not TOML: duplicate key");
    assert_eq!(
        json_error("{\n  \"näme\": \"x\" \"y\"}"),
        "scenario: line 2, column 15: not JSON: expected `,` or `}`"
    );
    assert_eq!(json_error(""), "scenario: line 1, column 1: not JSON: EOF while parsing a value");
    assert_eq!(json_error("[]"), "scenario: line 1, column 1: scenario: must be a table: found a list");
}

#[test]
fn unknown_key_suggests_the_right_one() {
    assert_eq!(
        toml_error("modle = \"x\""),
        "scenario: line 1, column 1: modle: unknown key; did you mean \"model\"?"
    );
    assert_eq!(
        toml_error("[[turns]]\n\n[[turns]]\n  wen = {}"),
        "scenario: line 4, column 3: turns[1].wen: unknown key; did you mean \"when\"?"
    );
    assert_eq!(
        toml_error("[[turns]]\n[turns.when]\ncolour = 1"),
        "scenario: line 3, column 1: turns[0].when.colour: unknown key; expected one of last_text_contains, tool, \
         tool_result_contains, tool_result_is_error, request"
    );
    assert_eq!(
        toml_error("[[turns]]\nusage = { inptu = 1 }"),
        "scenario: line 2, column 11: turns[0].usage.inptu: unknown key; did you mean \"input\"?"
    );
    assert_eq!(
        toml_error("[[turns]]\n[[turns.steps]]\ntype = \"text\"\ntxt = \"Hi\""),
        "scenario: line 4, column 1: turns[0].steps[0].txt: unknown key; did you mean \"text\"?"
    );
    assert_eq!(
        step_error("{ type = 'text', text = 'é', args = {} }"),
        "39: turns[0].steps[0].args: unknown key; expected one of type, text, chunk_chars"
    );
    assert_eq!(
        step_error("{ type = 'cut', ms = 1 }"),
        "26: turns[0].steps[0].ms: unknown key; expected one of type"
    );
    assert_eq!(
        json_error("{\n \"turns\": [{\"steps\": [\n  {\"type\": \"text\", \"é\" : 1, \"text\": \"\"}]}]}"),
        "scenario: line 3, column 20: turns[0].steps[0].é: unknown key; expected one of type, text, chunk_chars"
    );
}

#[test]
fn wrong_type_names_the_expected_one() {
    assert_eq!(
        step_error("{ type = 'delay', ms = 'soon' }"),
        "28: turns[0].steps[0].ms: must be a whole number of milliseconds: invalid type: string \"soon\", \
         expected u64"
    );
    assert_eq!(
        step_error("{ type = 'text', text = 'x', chunk_chars = 0 }"),
        "39: turns[0].steps[0].chunk_chars: must be a whole number from 1: invalid value: integer `0`, \
         expected a nonzero usize"
    );
    assert_eq!(
        step_error("{ type = 'tool_call', name = 'x', args = 'y' }"),
        "44: turns[0].steps[0].args: must be a table: invalid type: string \"y\", expected a map"
    );
    assert_eq!(
        step_error("{ type = 'error', kind = 'auht', message = '' }"),
        "28: turns[0].steps[0].kind: must be a kind of provider error: unknown variant `auht`, expected one of \
         `auth`, `rateLimited`, `overloaded`, `contextOverflow`, `invalidRequest`, `network`, `timeout`, \
         `contentFilter`, `malformed`, `cancelled`, `api`"
    );
    assert_eq!(
        toml_error("[[turns]]\nstop = 'done'"),
        "scenario: line 2, column 1: turns[0].stop: must be a stop reason: unknown variant `done`, expected one \
         of `stop`, `length`, `toolUse`, `error`, `aborted`"
    );
    assert_eq!(
        toml_error("turns = 3"),
        "scenario: line 1, column 1: turns: must be a list of tables: found a number"
    );
    assert_eq!(
        json_error(r#"{"turns": [{}, {"when": {"request": 0}}]}"#),
        "scenario: line 1, column 26: turns[1].when.request: must be a whole number from 1: invalid value: \
         integer `0`, expected a nonzero u64"
    );
    assert_eq!(
        json_error("{\"turns\": [\n3]}"),
        "scenario: line 2, column 1: turns[0]: must be a table: found a number"
    );
}

#[test]
fn step_with_missing_or_extra_keys_is_refused() {
    assert_eq!(
        step_error("{ text = 'x' }"),
        "10: turns[0].steps[0]: \"type\" is missing; it must be the type of the step"
    );
    assert_eq!(
        step_error("{ type = 'txet' }"),
        "12: turns[0].steps[0].type: unknown type \"txet\"; did you mean \"text\"?"
    );
    assert_eq!(
        step_error("{ type = 'sleep' }"),
        "12: turns[0].steps[0].type: unknown type \"sleep\"; expected one of text, thinking, tool_call, delay, error, \
         cut, hang"
    );
    assert_eq!(
        toml_error("[[turns]]\n[[turns.steps]]\ntype = 'delay'\n"),
        "scenario: line 2, column 1: turns[0].steps[0]: \"ms\" is missing; it must be a whole number of \
         milliseconds"
    );
    assert_eq!(
        step_error("{ type = 'tool_call', name = 'x', args = {}, raw_args = '' }"),
        "55: turns[0].steps[0].raw_args: conflicts with \"args\"; remove one of them"
    );
    assert_eq!(
        step_error("{ type = 'cut' }, { type = 'text', text = 'lost' }"),
        "28: turns[0].steps[1]: never played, because the step before it ends the stream; remove one of them"
    );
}

#[test]
fn other_formats_report_the_key_without_the_line() {
    let error = serde_json::from_str::<Scenario>(r#"{"turns": [{"repeat": 1}]}"#).unwrap_err();
    assert_eq!(
        error.to_string(),
        "turns[0].repeat: must be true or false: invalid type: integer `1`, expected a boolean"
    );
}

#[test]
fn text_size_has_a_limit() {
    let text = format!("#{}", " ".repeat(SCENARIO_BYTES_MAX - 1));
    assert!(Scenario::from_toml(&text).is_ok());
    assert_eq!(toml_error(&(text + " ")), "scenario: larger than 4194304 bytes; split it");
    assert!(matches!(
        Scenario::from_json(&" ".repeat(SCENARIO_BYTES_MAX + 1)),
        Err(ScenarioError::TooLarge { path: None })
    ));
}

#[test]
fn example_in_the_documentation_is_a_scenario() {
    let documentation = include_str!("mod.rs").lines().filter_map(|line| line.strip_prefix("//!"));
    let example = documentation.skip_while(|line| *line != " ```toml").skip(1);
    let example: Vec<&str> = example.take_while(|line| *line != " ```").collect();
    let first = Turn::say("Let me look.").tool_call("read", json!({ "path": "a.txt" }));
    let second = Turn::say("It says: {{last_tool_result}}").when_tool("read").usage(Usage {
        input: 120,
        output: 9,
        ..Usage::default()
    });
    assert_eq!(turns(Scenario::from_toml(&example.join("\n")).unwrap()), [first, second]);
}
