//! The hooks of a layer, read by the reader that hooks already have.

use rheon_tools::hooks::HookSettings;

use super::entry::Value;
use super::layer::ReadLayer;
use super::problem::ConfigProblem;

/// The valid hooks of `layer`, and the problems of the others.
pub(super) fn hooks(layer: &ReadLayer) -> (HookSettings, Vec<ConfigProblem>) {
    // The same names as for the hooks of projects.
    let file = match &layer.source.in_project {
        Some(file) => file.name.to_owned(),
        None => layer.source.origin.source.to_string(),
    };
    let (mut found, mut problems) = (Vec::new(), Vec::new());
    for entry in layer.entries.iter().filter(|entry| entry.row.path == "hooks.*") {
        let (Value::Table(node, _), Some((_, event))) = (&entry.value, entry.key.split_once('.')) else {
            continue;
        };
        let text = serde_json::json!({ "hooks": { event: [node.to_json()] } }).to_string();
        match HookSettings::parse(&text, &file) {
            Ok(hooks) => found.push(hooks),
            Err(error) => {
                problems.push(ConfigProblem::new(&entry.origin, format!("hooks: {}", error.problem)))
            }
        }
    }
    (HookSettings::merged(found), problems)
}
