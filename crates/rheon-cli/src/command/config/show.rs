//! `rheon config show`.

use rheon_app::config::{SettingEffect, SettingView, reference};
use rheon_text::{did_you_mean, inert};
use serde_json::{Value, json};

use crate::command::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, print_note};
use crate::table::{Side, Table};

/// Show the configuration; API keys are never shown
///
/// With --origin, shows what every file, environment variable and default says about every key, and which value is used.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Show only this key or section, such as sandbox.require
    key: Option<String>,

    /// Show the source of each value, and overridden values
    #[arg(long)]
    origin: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let config = config(&system(None)?)?;
        for warning in &config.warnings {
            print_note(&format!("note: {warning}"));
        }
        let mut shown = config.show();
        if let Some(key) = &self.key {
            check(key)?;
            shown.retain(|shown| is_within(&shown.key, key));
        }
        if !self.origin {
            shown.retain(|shown| shown.effect == SettingEffect::Counts);
        }
        if self.json {
            return print(&as_json(&shown.iter().map(json_of).collect::<Vec<Value>>())?);
        }
        if let (Some(key), []) = (&self.key, shown.as_slice()) {
            print_note(&format!("{key} is not set"));
        }
        if self.origin {
            return print(&table(&shown));
        }
        let lines = shown.iter().map(|shown| format!("{} = {}\n", shown.key, shown.value));
        print(&inert(&lines.collect::<String>()))
    }
}

fn is_within(key: &str, wanted: &str) -> bool {
    key.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn check(wanted: &str) -> Result<(), Failure> {
    let keys: Vec<&str> = reference().iter().map(|key| key.key).collect();
    let is_known = |key: &&str| match key.strip_suffix(".*") {
        Some(section) => is_within(wanted, section),
        None => is_within(key, wanted),
    };
    if keys.iter().any(is_known) {
        return Ok(());
    }
    let question = Some(did_you_mean(wanted, &keys))
        .filter(|did_you_mean| did_you_mean.ends_with('?'))
        .unwrap_or_default();
    let hint =
        if question.is_empty() { "list all keys with `rheon config show --origin`" } else { &question };
    Err(Failure::usage(format_args!("unknown key {wanted:?}; {hint}")))
}

fn effect(effect: SettingEffect) -> (&'static str, &'static str) {
    match effect {
        SettingEffect::Counts => ("counts", ""),
        SettingEffect::Overridden => ("overridden", ""),
        SettingEffect::LeftOut(why) => ("left out", why),
    }
}

fn table(shown: &[SettingView]) -> String {
    let columns = [
        ("key", Side::Left),
        ("value", Side::Left),
        ("", Side::Left),
        ("layer", Side::Left),
        ("from", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for shown in shown {
        let effect = match effect(shown.effect) {
            ("counts", _) => String::new(),
            (effect, "") => effect.to_owned(),
            (effect, why) => format!("{effect}: {why}"),
        };
        let SettingView { key, value, origin, .. } = shown;
        table.row([key.clone(), value.clone(), effect, origin.layer.as_str().into(), origin.to_string()]);
    }
    table.text()
}

fn json_of(shown: &SettingView) -> Value {
    let (effect, why) = effect(shown.effect);
    json!({
        "key": shown.key,
        "value": shown.value,
        "effect": effect,
        "why": Some(why).filter(|why| !why.is_empty()),
        "layer": shown.origin.layer.as_str(),
        "from": shown.origin.source.to_string(),
        "line": shown.origin.line,
    })
}
