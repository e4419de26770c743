//! Keys are written in the order in which they were read.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{KEYS_MAX, KeyOrder, OrderedJson};

fn rewritten(text: &str) -> String {
    let (value, order) = (serde_json::from_str::<Value>(text).unwrap(), KeyOrder::of(text));
    let ordered = OrderedJson { value: &value, order: order.as_ref() };
    assert_eq!(serde_json::to_string(&ordered).unwrap(), ordered.to_string());
    ordered.to_string()
}

#[test]
fn keys_keep_their_order_at_every_depth() {
    for text in [
        r#"{"path":"a","edits":[{"old_string":"x","new_string":"y"},{"new_string":"y","old_string":"x"}],"b":{"z":{"y":1,"x":[]},"c":null}}"#,
        r#"{"b":1,"a":{}}"#,
        r#"{"a":{"c":true,"b":-1.5}}"#,
        "{}",
        r#"[{"b":"é","a":18446744073709551615}]"#,
    ] {
        assert_eq!(rewritten(text), text);
    }
}

#[test]
fn sorted_keys_need_no_order() {
    for text in ["{}", r#"{"a":1,"b":{"c":2}}"#, r#"{"a":1} "#, r#"{"b":1,"a":2,"b":3}"#, "{", "1"] {
        assert_eq!(KeyOrder::of(text), None, "{text}");
    }
}

#[test]
fn an_order_that_does_not_fit_sorts_what_follows() {
    let order = KeyOrder::of(r#"{"z":1,"y":{"b":1,"a":2},"x":{"d":1,"c":2}}"#).unwrap();
    let written = |value: Value| OrderedJson { value: &value, order: Some(&order) }.to_string();
    assert_eq!(written(json!({ "x": 1, "y": 2, "q": 3 })), r#"{"q":3,"x":1,"y":2}"#);
    let other = json!({ "x": { "c": 2, "d": 1 }, "y": { "a": 2, "n": 1 }, "z": 1 });
    assert_eq!(written(other), r#"{"z":1,"y":{"a":2,"n":1},"x":{"c":2,"d":1}}"#);
    assert_eq!(written(json!("text")), r#""text""#);
}

#[test]
fn more_keys_than_are_kept_are_sorted() {
    let text = |keys: usize| {
        let keys: Vec<String> = (0..keys).rev().map(|n| format!("\"k{n:05}\":{n}")).collect();
        format!("{{{}}}", keys.join(","))
    };
    assert!(KeyOrder::of(&text(KEYS_MAX)).is_some());
    assert_eq!(KeyOrder::of(&text(KEYS_MAX + 1)), None);
}

fn written() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<u64>().prop_map(|n| n.to_string()),
        Just(r#""x""#.to_owned())
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        let list =
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(",")));
        let object = prop::collection::vec(("[a-e]{1,2}", inner), 0..5).prop_map(|mut fields| {
            let mut seen = std::collections::HashSet::new();
            fields.retain(|(key, _)| seen.insert(key.clone()));
            let fields: Vec<String> =
                fields.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}", fields.join(","))
        });
        prop_oneof![list, object]
    })
}

proptest! {
    #[test]
    fn any_text_is_written_as_it_was(text in written()) {
        prop_assert_eq!(rewritten(&text), text);
    }

    #[test]
    fn an_order_survives_storage(text in written()) {
        let order = KeyOrder::of(&text);
        let stored = serde_json::to_string(&order).unwrap();
        prop_assert_eq!(serde_json::from_str::<Option<KeyOrder>>(&stored).unwrap(), order);
    }
}
