//! The schema of a step.

use std::sync::Arc;

use expect_test::{Expect, expect};
use rheon_types::{OutputSchema, Request, ToolChoice};
use serde_json::{Value, json};

use super::fixtures::{request, tool};
use super::schema::{ALTERNATIVES_MAX, Alternatives, TOOL_SCHEMA_BYTES_MAX};

fn schema(request: &Request) -> Value {
    Alternatives::of(request).schema(request.output_schema.as_deref()).schema
}

fn check(request: &Request, expected: &Expect) {
    expected.assert_eq(&schema(request).to_string());
}

fn choosing(tool_choice: ToolChoice) -> Request {
    Request { tool_choice, ..request([]) }
}

#[test]
fn step_is_a_call_with_the_name_first_or_the_final_answer() {
    check(
        &choosing(ToolChoice::Auto),
        &expect![[
            r#"{"oneOf":[{"additionalProperties":false,"properties":{"name":{"const":"read"},"parameters":{"properties":{"lines":{"type":"integer"},"path":{"type":"string"}},"required":["path"],"type":"object"}},"required":["name","parameters"],"type":"object"},{"additionalProperties":false,"properties":{"name":{"const":"list"},"parameters":{"type":"object"}},"required":["name","parameters"],"type":"object"},{"additionalProperties":false,"properties":{"answer":{"type":"string"}},"required":["answer"],"type":"object"}]}"#
        ]],
    );
}

#[test]
fn tool_choice_limits_the_alternatives() {
    let only_answer = expect![[
        r#"{"additionalProperties":false,"properties":{"answer":{"type":"string"}},"required":["answer"],"type":"object"}"#
    ]];
    check(&choosing(ToolChoice::None), &only_answer);
    let only_list = expect![[
        r#"{"additionalProperties":false,"properties":{"name":{"const":"list"},"parameters":{"type":"object"}},"required":["name","parameters"],"type":"object"}"#
    ]];
    check(&choosing(ToolChoice::Tool("list".into())), &only_list);
    let required = schema(&choosing(ToolChoice::Required));
    assert_eq!(required["oneOf"].as_array().map(Vec::len), Some(2));
    assert!(!required.to_string().contains("answer"));
    assert_eq!(schema(&choosing(ToolChoice::Tool("gone".into()))), required);
}

#[test]
fn references_keep_their_targets() {
    let tree = json!({
        "type": "object",
        "properties": {
            "root": { "$ref": "#/$defs/node" },
            "default": { "$ref": "#" },
            "kind": { "const": { "$ref": "#/left/alone" } }
        },
        "$defs": { "node": { "items": { "$ref": "#/$defs/node" } } }
    });
    let own =
        OutputSchema { name: "own".into(), schema: json!({ "$ref": "#/$defs/a", "$defs": { "a": {} } }) };
    let request = Request {
        tools: Arc::from([tool("grow", tree)]),
        output_schema: Some(Arc::new(own)),
        ..choosing(ToolChoice::Auto)
    };
    check(
        &request,
        &expect![[
            r##"{"$defs":{"answer":{"$defs":{"a":{}},"$ref":"#/$defs/answer/$defs/a"},"tool0":{"$defs":{"node":{"items":{"$ref":"#/$defs/tool0/$defs/node"}}},"properties":{"default":{"$ref":"#/$defs/tool0"},"kind":{"const":{"$ref":"#/left/alone"}},"root":{"$ref":"#/$defs/tool0/$defs/node"}},"type":"object"}},"oneOf":[{"additionalProperties":false,"properties":{"name":{"const":"grow"},"parameters":{"$ref":"#/$defs/tool0"}},"required":["name","parameters"],"type":"object"},{"additionalProperties":false,"properties":{"answer":{"$ref":"#/$defs/answer"}},"required":["answer"],"type":"object"}]}"##
        ]],
    );
}

#[test]
fn tools_beyond_the_limit_share_one_alternative() {
    let many = |count: usize| Request {
        tools: (0..count).map(|n| tool(&format!("t{n}"), json!({ "type": "object" }))).collect(),
        ..choosing(ToolChoice::Required)
    };
    let forms = |count: usize| schema(&many(count))["oneOf"].as_array().cloned().unwrap();
    assert_eq!(forms(ALTERNATIVES_MAX).len(), ALTERNATIVES_MAX);
    let last = forms(ALTERNATIVES_MAX).pop().unwrap();
    assert_eq!(last["properties"]["name"], json!({ "const": format!("t{}", ALTERNATIVES_MAX - 1) }));
    let over = forms(ALTERNATIVES_MAX + 1);
    assert_eq!(over.len(), ALTERNATIVES_MAX);
    assert_eq!(over.last().unwrap()["properties"]["name"], json!({ "enum": ["t31", "t32"] }));
}

#[test]
fn oversized_schema_becomes_any_object() {
    let sized = |bytes: usize| {
        let frame = json!({ "title": "" }).to_string().len();
        let request = Request {
            tools: Arc::from([tool("t", json!({ "title": "x".repeat(bytes - frame) }))]),
            ..choosing(ToolChoice::Required)
        };
        schema(&request)["properties"]["parameters"].clone()
    };
    assert!(sized(TOOL_SCHEMA_BYTES_MAX)["title"].is_string());
    assert_eq!(sized(TOOL_SCHEMA_BYTES_MAX + 1), json!({ "type": "object" }));
}
