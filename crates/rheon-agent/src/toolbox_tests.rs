//! What a model is told of a schema.

use serde_json::json;

use super::for_model;

#[test]
fn the_model_sees_a_shortened_schema() {
    let schema = json!({
        "type": "object",
        "properties": {
            "maxLength": { "type": "string", "maxLength": 9, "minLength": 1 },
            "depth": { "type": ["integer", "null"], "minimum": 1, "description": "How deep." },
            "sort": { "type": ["string", "null"], "enum": ["name", "size", null] },
            "needed": { "type": ["string", "null"] },
            "list": {
                "type": "array",
                "items": { "type": "object", "properties": { "x": {} }, "additionalProperties": false },
                "minItems": 1,
                "maxItems": 5,
            },
            "any": { "anyOf": [{ "type": "object", "additionalProperties": false }, { "type": "null" }] },
        },
        "required": ["needed"],
        "additionalProperties": false,
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "maxLength": { "type": "string" },
            "depth": { "type": "integer", "minimum": 1, "description": "How deep." },
            "sort": { "type": "string", "enum": ["name", "size"] },
            "needed": { "type": ["string", "null"] },
            "list": { "type": "array", "items": { "type": "object", "properties": { "x": {} } }, "minItems": 1 },
            "any": { "anyOf": [{ "type": "object" }, { "type": "null" }] },
        },
        "required": ["needed"],
    });
    assert_eq!(for_model(schema), expected);
}

#[test]
fn an_unknown_schema_is_unchanged() {
    for schema in
        [json!(true), json!({ "properties": [] }), json!({ "type": [] }), json!({ "maxLength": {} })]
    {
        assert_eq!(for_model(schema.clone()), schema);
    }
}
