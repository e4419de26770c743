//! AWS shared files: profiles and their settings.

use std::collections::BTreeMap;

/// The settings of one profile.
pub(super) type Settings = BTreeMap<String, String>;

/// Which of the two files it is; they name their sections differently.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// `credentials`: `[name]`.
    Credentials,
    /// `config`: `[default]` and `[profile name]`.
    Config,
}

/// The settings of the profile `name` in a shared file, or `None` if there is no such profile. If a setting occurs
/// twice, the last one wins. Nested settings (indented lines below a setting without a value) are ignored.
pub(super) fn settings(text: &str, kind: FileKind, name: &str) -> Option<Settings> {
    let mut profile_settings = None;
    let mut is_inside = false;
    let mut is_nested = false;
    for line in text.lines() {
        if line.trim_start().starts_with(['#', ';']) || line.trim().is_empty() {
            continue;
        }
        if let Some(section) = line.trim().strip_prefix('[') {
            let section = section.split(']').next().unwrap_or_default();
            is_inside = profile_name(section, kind).is_some_and(|profile| profile == name);
            is_nested = false;
            if is_inside {
                profile_settings.get_or_insert_with(Settings::new);
            }
            continue;
        }
        if !is_inside || (is_nested && line.starts_with([' ', '\t'])) {
            continue;
        }
        if let (Some((key, value)), Some(settings)) = (line.split_once('='), &mut profile_settings) {
            let value = without_comment(value).trim();
            is_nested = value.is_empty();
            settings.insert(key.trim().to_ascii_lowercase(), value.to_owned());
        }
    }
    profile_settings
}

/// The profile name in a section header.
fn profile_name(section: &str, kind: FileKind) -> Option<&str> {
    let section = section.trim();
    match kind {
        FileKind::Credentials => Some(section),
        FileKind::Config if section == "default" => Some(section),
        FileKind::Config => {
            let name = section.strip_prefix("profile").filter(|rest| rest.starts_with([' ', '\t']));
            // A name with spaces is quoted.
            name.map(|name| name.trim().trim_matches(['"', '\'']))
        }
    }
}

/// A comment after a value starts with a space and `#` or `;`.
fn without_comment(value: &str) -> &str {
    [" #", " ;", "\t#", "\t;"].iter().fold(value, |value, mark| value.split(mark).next().unwrap_or(value))
}
