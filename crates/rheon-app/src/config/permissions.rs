//! The rules of every layer, as the policy takes them.

use rheon_policy::{Document, PolicySource, PolicyTrust, RuleEntry, RuleKind, RuleSource};
use rheon_types::event::PermissionMode;

use super::entry::{Entry, Value};
use super::layer::ReadLayer;
use super::merge::Merged;
use super::origin::Layer;
use super::settings::PermissionSettings;
use crate::context::ProjectTrust;

/// The rules of `layers`, strongest first.
pub(super) fn permissions(layers: &[ReadLayer], merged: &Merged, trust: ProjectTrust) -> PermissionSettings {
    let mut sources = Vec::new();
    for (index, layer) in layers.iter().enumerate().rev() {
        let document = document(merged.of_layer(index));
        if document != Document::default() {
            let (source, directory) = (source(layer), layer.source.directory.clone());
            sources.push(PolicySource { source, dir: directory, document });
        }
    }
    let trust = match trust {
        ProjectTrust::Trusted => PolicyTrust::Trusted,
        ProjectTrust::Untrusted => PolicyTrust::Untrusted,
    };
    PermissionSettings { sources, trust }
}

fn source(layer: &ReadLayer) -> RuleSource {
    if layer.holds_answers {
        return RuleSource::ProjectAnswers;
    }
    match layer.source.origin.layer {
        Layer::Managed => RuleSource::Managed,
        Layer::CommandLine => RuleSource::CommandLine,
        Layer::ProjectLocal => RuleSource::ProjectLocal,
        Layer::Project => RuleSource::Project,
        Layer::User | Layer::BuiltIn => RuleSource::User,
    }
}

fn document<'a>(entries: impl Iterator<Item = &'a Entry>) -> Document {
    let mut document = Document::default();
    for entry in entries {
        match (entry.row.path, &entry.value) {
            ("permissions.default_mode", Value::Text(name)) => document.default_mode = mode(name),
            ("permissions.additional_directories", Value::Text(directory)) => {
                document.additional_directories.push(directory.clone());
            }
            ("permissions.disable_bypass", Value::Switch(value)) => document.bypass_disabled = *value,
            (_, Value::Rule(rule)) => list(&mut document, rule).push(rule.clone()),
            _ => {}
        }
    }
    document
}

fn list<'a>(document: &'a mut Document, entry: &RuleEntry) -> &'a mut Vec<RuleEntry> {
    match entry.rule.list() {
        RuleKind::Allow => &mut document.allow,
        RuleKind::Ask => &mut document.ask,
        RuleKind::Deny => &mut document.deny,
    }
}

fn mode(name: &str) -> Option<PermissionMode> {
    match name {
        "default" => Some(PermissionMode::Default),
        "acceptEdits" => Some(PermissionMode::AcceptEdits),
        "auto" => Some(PermissionMode::Auto),
        "plan" => Some(PermissionMode::Plan),
        "dontAsk" => Some(PermissionMode::DontAsk),
        "bypassPermissions" => Some(PermissionMode::BypassPermissions),
        _ => None,
    }
}
