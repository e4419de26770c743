//! `rheon policy test`.

use rheon_app::policy::{CheckedRule, check_rules};
use rheon_text::units::count;
use serde_json::{Value, json};

use crate::command::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, print_error, print_note};
use crate::table::{Side, Table};

/// List all rules in order and test each with its examples
///
/// A rule may have examples: { rule = "Bash(git *)", match = ["git log"], not_match = ["gitk"] }. Exits with 1 if an example fails.
#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Test {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        for warning in &config.warnings {
            print_note(&format!("note: {warning}"));
        }
        let rules = check_rules(&system, &config);
        let printed = if self.json {
            print(&as_json(&rules.iter().map(json_of).collect::<Vec<Value>>())?)
        } else {
            print(&text(&rules))
        }?;
        let problems: Vec<&String> = rules.iter().filter_map(|rule| rule.problem.as_ref()).collect();
        problems.iter().for_each(|problem| print_error(problem));
        Ok(if problems.is_empty() { printed } else { Exit::Error })
    }
}

fn text(rules: &[CheckedRule]) -> String {
    if rules.is_empty() {
        return "no rules: reading in the workspace is allowed, everything else asks\n".into();
    }
    let columns = [
        ("list", Side::Left),
        ("rule", Side::Left),
        ("from", Side::Left),
        ("examples", Side::Right),
        ("", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for rule in rules {
        let remark = match (&rule.problem, &rule.warning) {
            (Some(_), _) => "wrong",
            (None, Some(warning)) => warning,
            (None, None) => "",
        };
        table.row([
            rule.list.to_string(),
            rule.rule.clone(),
            rule.source.to_string(),
            rule.examples.to_string(),
            remark.to_owned(),
        ]);
    }
    let examples: usize = rules.iter().map(|rule| rule.examples).sum();
    let said = format!("{}, {}", count(rules.len() as u64, "rule"), count(examples as u64, "example"));
    format!("{}{said}\n", table.text())
}

fn json_of(rule: &CheckedRule) -> Value {
    json!({
        "list": rule.list.to_string(),
        "rule": rule.rule,
        "source": rule.source.to_string(),
        "examples": rule.examples,
        "warning": rule.warning,
        "problem": rule.problem,
    })
}
