//! `/config`: what the session is configured to.

use rheon_types::ClientError;

use super::super::open::OpenSession;
use crate::config::{SettingEffect, SettingView};

/// The settings in effect, each with its origin; with a key, that one or its section.
pub(super) fn config(session: &OpenSession, key: &str) -> Result<String, ClientError> {
    let mut shown = session.setup.config.show();
    shown.retain(|shown| shown.effect == SettingEffect::Counts);
    if !key.is_empty() {
        let is_within = |shown: &SettingView| {
            shown.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        shown.retain(is_within);
        if shown.is_empty() {
            return Err(ClientError::invalid(format!(
                "{key:?} is not set; list all keys with `rheon config show --origin`"
            )));
        }
    }
    let mut lines: Vec<String> =
        shown.iter().map(|shown| format!("{} = {}  ({})", shown.key, shown.value, shown.origin)).collect();
    if lines.is_empty() {
        lines.push("all settings have their default values".into());
    }
    lines.push("change settings with `rheon config edit`".into());
    Ok(lines.join("\n"))
}
