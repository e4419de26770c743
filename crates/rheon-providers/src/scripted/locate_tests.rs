//! Lines and columns of offsets and of keys.

use super::error::ScenarioPosition;
use super::fields::KeyPath;
use super::locate::{json_offset, locate_json, locate_toml, position_at};

#[test]
fn lines_and_columns_count_characters_from_one() {
    let text = "aé\nßc";
    let positions = [0, 1, 2, 3, 4, 5, 6, 7, 99].map(|offset| {
        let ScenarioPosition { path: _, line, column } = position_at(text, offset);
        (line, column)
    });
    // Offset 2 is inside the é, offset 5 inside the ß.
    assert_eq!(positions, [(1, 1), (1, 2), (1, 2), (1, 3), (2, 1), (2, 1), (2, 2), (2, 3), (2, 3)]);
}

#[test]
fn offset_is_computed_from_line_and_byte_column() {
    assert_eq!(json_offset("ab\ncd", 2, 2), 4);
    assert_eq!(json_offset("ab", 1, 0), 0);
}

#[test]
fn keys_and_items_are_located() {
    let root = KeyPath::default();
    let nested = root.key("a").index(1).key("b c");
    let toml = "x = 1\n[[a]]\n[[a]]\n\"b c\" = 2";
    let json = r#"{"x": 1, "a": [{}, { "b c" :2 }]}"#;
    for (path, in_toml, in_json) in [
        (root.clone(), Some(0), Some(0)),
        (root.key("x"), Some(0), Some(1)),
        (root.key("a").index(1), Some(12), Some(19)),
        (nested, Some(18), Some(21)),
        (root.key("y"), None, None),
        (root.key("a").index(2), None, None),
        (root.key("x").key("y"), None, None),
    ] {
        assert_eq!((locate_toml(toml, &path), locate_json(json, &path)), (in_toml, in_json), "{path}");
    }
}

#[test]
fn escaped_json_key_is_located_by_its_value() {
    assert_eq!(locate_json(r#"{"\u0061": 1}"#, &KeyPath::default().key("a")), Some(11));
}
