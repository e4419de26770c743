//! What a model is told of a schema.

use serde_json::json;

use super::for_model;

#[test]
fn a_model_is_not_told_what_its_calls_are_held_to_anyway() {
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
fn a_schema_of_no_form_that_is_known_stays_as_it_is() {
    for schema in
        [json!(true), json!({ "properties": [] }), json!({ "type": [] }), json!({ "maxLength": {} })]
    {
        assert_eq!(for_model(schema.clone()), schema);
    }
}
