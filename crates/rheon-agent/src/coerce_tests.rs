//! What models write, and what a schema makes of it.

use serde_json::{Value, json};

use super::coerced;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "limit": { "type": ["integer", "null"] },
            "ratio": { "type": "number" },
            "deep": { "type": "boolean" },
            "mode": { "enum": ["lines", "files"], "type": "string" },
            "globs": { "type": ["array", "null"], "items": { "type": "string" } },
            "edits": { "type": "array", "items": { "$ref": "#/$defs/edit" } },
            "either": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
            "extra": { "type": "object", "properties": { "n": { "type": "integer" } } },
        },
        "required": ["path"],
        "additionalProperties": false,
        "$defs": {
            "edit": {
                "type": "object",
                "properties": { "old": { "type": "string" }, "all": { "type": "boolean" } },
                "required": ["old"],
            },
        },
    })
}

#[test]
fn what_is_meant_is_understood() {
    let edit = json!({ "old": "a" });
    for (written, meant) in [
        (json!({ "limit": "1" }), json!({ "limit": 1 })),
        (json!({ "limit": 1.0 }), json!({ "limit": 1 })),
        (json!({ "limit": " 18446744073709551615 " }), json!({ "limit": u64::MAX })),
        (json!({ "ratio": "0.5" }), json!({ "ratio": 0.5 })),
        (json!({ "deep": "false" }), json!({ "deep": false })),
        (json!({ "deep": "True" }), json!({ "deep": true })),
        (json!({ "path": 7 }), json!({ "path": "7" })),
        (json!({ "mode": "FILES" }), json!({ "mode": "files" })),
        (json!({ "globs": "*.rs" }), json!({ "globs": ["*.rs"] })),
        (json!({ "globs": "[\"*.rs\", \"!x\"]" }), json!({ "globs": ["*.rs", "!x"] })),
        (json!({ "edits": edit }), json!({ "edits": [edit] })),
        (
            json!({ "edits": "[{\"old\":\"a\",\"all\":\"true\"}]" }),
            json!({ "edits": [{ "old": "a", "all": true }] }),
        ),
        (json!({ "edits": "{\"old\":\"a\"}" }), json!({ "edits": [edit] })),
        (
            json!({ "edits": [{ "old": "a", "all": "false" }] }),
            json!({ "edits": [{ "old": "a", "all": false }] }),
        ),
        (json!({ "either": "3" }), json!({ "either": 3 })),
        (json!({ "extra": "{\"n\":\"2\"}" }), json!({ "extra": { "n": 2 } })),
        (json!({ "Path": "a", "maxLines": 3 }), json!({ "path": "a", "maxLines": 3 })),
        (json!({ "path": "a", "deep": null, "ratio": "" }), json!({ "path": "a" })),
        (json!({ "arguments": { "path": "a" } }), json!({ "path": "a" })),
        (json!({ "input": "{\"path\":\"a\"}" }), json!({ "path": "a" })),
        (json!("{\"path\":\"a\"}"), json!({ "path": "a" })),
        (json!(null), json!({})),
    ] {
        assert_eq!(coerced(&schema(), &written), meant, "{written}");
    }
}

#[test]
fn what_is_not_clear_stays_as_it_is() {
    for written in [
        json!({ "limit": "many" }),
        json!({ "limit": 1.5 }),
        json!({ "limit": 1e300 }),
        json!({ "deep": "maybe" }),
        json!({ "deep": 1 }),
        json!({ "path": { "a": 1 } }),
        json!({ "path": null }),
        json!({ "mode": "other" }),
        json!({ "globs": { "a": 1 } }),
        json!({ "edits": "[{" }),
        json!({ "edits": 7 }),
        json!({ "extra": [1] }),
        json!({ "unknown": "x", "path": "a" }),
        json!([1]),
    ] {
        assert_eq!(coerced(&schema(), &written), written, "{written}");
    }
}

#[test]
fn nothing_is_changed_by_a_schema_that_says_nothing() {
    let deep = (0..200).fold(json!("1"), |inner, _| json!({ "a": [inner] }));
    for schema in [json!(true), json!({}), json!({ "$ref": "#" }), json!({ "type": 7 })] {
        for value in [json!({ "a": "1", "b": null }), deep.clone()] {
            assert_eq!(coerced(&schema, &value), value, "{schema}");
        }
    }
}
