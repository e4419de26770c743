//! The hooks of a layer, read by the reader that hooks already have.

use rheon_tools::hooks::HookSettings;

use super::entry::{Entry, Value};
use super::finding::Finding;

/// The hooks among `entries`, and what is wrong with the others.
pub(super) fn hooks<'a>(entries: impl Iterator<Item = &'a Entry>) -> (HookSettings, Vec<Finding>) {
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for entry in entries.filter(|entry| entry.row.path == "hooks.*") {
        let (Value::Table(node, _), Some((_, event))) = (&entry.value, entry.key.split_once('.')) else {
            continue;
        };
        let text = serde_json::json!({ "hooks": { event: [node.to_json()] } }).to_string();
        match HookSettings::parse(&text, &entry.origin.source.to_string()) {
            Ok(hooks) => found.push(hooks),
            Err(error) => problems.push(Finding::new(&entry.origin, format!("hooks: {}", error.problem))),
        }
    }
    (HookSettings::merged(found), problems)
}
