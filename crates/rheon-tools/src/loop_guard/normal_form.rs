//! The normal form of a call: two calls that do the same have the same form.

use serde_json::Value;

/// Arguments that do not change what a call does.
const INCIDENTAL: [&str; 4] = ["description", "timeout_ms", "timeout", "limit"];

/// The call on one line: arguments sorted by name, whitespace collapsed, incidental arguments left out.
pub(super) fn normal_form(tool: &str, arguments: &Value) -> String {
    let mut form = tool.to_owned();
    write(&mut form, arguments, Depth::Top);
    form
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Top,
    Below,
}

fn write(form: &mut String, value: &Value, depth: Depth) {
    match value {
        Value::Object(fields) => {
            let named = fields
                .iter()
                .filter(|(name, _)| depth == Depth::Below || !INCIDENTAL.contains(&name.as_str()));
            let mut named: Vec<_> = named.collect();
            named.sort_unstable_by_key(|(name, _)| name.as_str());
            for (name, value) in named {
                form.push_str(&format!(" {name}="));
                write(form, value, Depth::Below);
            }
        }
        Value::Array(items) => {
            for item in items {
                form.push(',');
                write(form, item, Depth::Below);
            }
        }
        Value::String(text) => {
            for (index, word) in text.split_whitespace().enumerate() {
                form.push_str(if index == 0 { "" } else { " " });
                form.push_str(word);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => form.push_str(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equivalent_calls_have_the_same_form() {
        let calls = [
            json!({"command": "cargo  test\n", "description": "Run tests", "timeout_ms": 1000}),
            json!({"timeout_ms": 5, "command": " cargo test"}),
        ];
        for call in &calls {
            assert_eq!(normal_form("bash", call), "bash command=cargo test");
        }
        assert_eq!(
            normal_form("edit", &json!({"edits": [{"old": "a", "limit": 1}]})),
            "edit edits=, limit=1 old=a"
        );
    }
}
