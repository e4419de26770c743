//! `rheon policy explain`.

use std::sync::Arc;

use rheon_app::policy::{Decision, DecisionReason, Explanation, ExplanationPart, explain, typed_call};
use rheon_app::session::NoticeSink;
use rheon_text::visible;
use serde_json::{Value, json};

use crate::command::setup::{config, system};
use crate::connection::open_failure;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, print_note};
use crate::runtime::block_on;

/// Explain the decision about a tool call; nothing runs
///
/// rheon policy explain Bash "git push"
/// rheon policy explain Edit src/main.rs
/// rheon policy explain mcp__github__search '{"query": "x"}'
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Explain {
    /// Print JSON (put before TOOL)
    #[arg(long)]
    json: bool,

    /// The tool, by its name in rules
    tool: String,

    /// The command, path or URL, or all arguments as a JSON object
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

impl Explain {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let call = typed_call(&self.tool, &self.arguments).map_err(Failure::usage)?;
        let system = system(None)?;
        let config = config(&system)?;
        for warning in &config.warnings {
            print_note(&format!("note: {warning}"));
        }
        let tell: NoticeSink = Arc::new(|notice| print_note(&format!("note: {}", notice.message)));
        let explanation =
            block_on(async { explain(&system, &config, &call, &tell).await.map_err(open_failure) })?;
        if self.json {
            return print(&as_json(&json_of(&explanation))?);
        }
        print(&text(&explanation))
    }
}

fn text(explanation: &Explanation) -> String {
    let mut text = format!("{explanation}\n");
    let what = match explanation.decision {
        Decision::Allow => "It runs without asking.",
        Decision::Queue => "It waits in the plan until you approve it.",
        Decision::Ask => "Rheon asks you; in a non-interactive run it is denied.",
        Decision::Deny => "It is denied.",
    };
    text.push_str(what);
    text.push('\n');
    let mut rules: Vec<&String> = explanation
        .parts
        .iter()
        .filter(|part| part.decision == Decision::Ask)
        .filter_map(|part| part.suggestion.as_ref())
        .collect();
    rules.dedup();
    if explanation.decision == Decision::Ask && !rules.is_empty() {
        let rules: Vec<String> = rules.iter().map(|rule| visible(rule).to_string()).collect();
        text.push_str(&format!("To always allow it: permissions.allow = {rules:?} in your settings.\n"));
    }
    text
}

fn json_of(explanation: &Explanation) -> Value {
    let part = |part: &ExplanationPart| {
        let (rule, list, source) = match &part.reason {
            DecisionReason::Rule { rule, list, source } => (Some(rule), Some(list.to_string()), Some(source)),
            DecisionReason::NotCovered { rule, source, .. } => {
                (Some(rule), Some("allow".to_owned()), Some(source))
            }
            DecisionReason::Default(_) => (None, None, None),
        };
        json!({
            "what": part.action,
            "decision": part.decision.to_string(),
            "because": part.reason.to_string(),
            "rule": rule,
            "list": list,
            "source": source.map(ToString::to_string),
            "danger": part.danger,
            "suggestion": part.suggestion,
        })
    };
    json!({
        "decision": explanation.decision.to_string(),
        "by_rules": explanation.by_rules.to_string(),
        "mode": explanation.mode,
        "danger": explanation.danger(),
        "reason": explanation.reason(),
        "parts": explanation.parts.iter().map(part).collect::<Vec<Value>>(),
    })
}
