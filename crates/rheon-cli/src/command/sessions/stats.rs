//! `rheon sessions stats`.

use rheon_text::units::count;
use serde_json::{Value, json};

use super::cost::{cost, is_reported, tokens};
use super::manager::manager;
use super::scope::ScopeFlags;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// Show turns, tokens and cost per model, and calls per tool
#[derive(Debug, clap::Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    scope: ScopeFlags,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Stats {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, _) = manager()?;
        let stats = block_on(async { manager.stats(self.scope.scope()).await.map_err(Failure::error) })?;
        print(&if self.json { as_json(&stats)? } else { text(&stats) })
    }
}

fn text(stats: &rheon_app::sessions::UsageStats) -> String {
    let mut text = format!("{}, {}\n", count(stats.sessions, "session"), count(stats.turns, "turn"));
    if !stats.models.is_empty() {
        let columns = [
            ("model", Side::Left),
            ("calls", Side::Right),
            ("input", Side::Right),
            ("cached", Side::Right),
            ("output", Side::Right),
            ("cost", Side::Right),
        ];
        let mut table = Table::new(&columns);
        for (model, spend) in &stats.models {
            table.row([
                model.clone(),
                spend.calls.to_string(),
                tokens(spend, |usage| usage.input),
                tokens(spend, |usage| usage.cache_read),
                tokens(spend, |usage| usage.output),
                cost(spend),
            ]);
        }
        text.push('\n');
        text.push_str(&table.text());
    }
    if !stats.tools.is_empty() {
        let columns = [
            ("tool", Side::Left),
            ("calls", Side::Right),
            ("failed", Side::Right),
            ("refused", Side::Right),
            ("ms", Side::Right),
        ];
        let mut table = Table::new(&columns);
        for tool in &stats.tools {
            let figures = [tool.calls, tool.failed, tool.blocked, tool.duration_ms];
            let cells = std::iter::once(tool.name.clone()).chain(figures.map(|figure| figure.to_string()));
            table.row(cells);
        }
        text.push('\n');
        text.push_str(&table.text());
    }
    text
}

fn as_json(stats: &rheon_app::sessions::UsageStats) -> Result<String, Failure> {
    let models: Vec<Value> = stats
        .models
        .iter()
        .map(|(model, spend)| {
            json!({
                "model": model, "calls": spend.calls, "calls_unpriced": spend.calls_unpriced,
                "usage": is_reported(spend).then_some(spend.usage), "cost_micro_usd": spend.cost,
            })
        })
        .collect();
    let tools: Vec<Value> = stats
        .tools
        .iter()
        .map(|tool| {
            json!({
                "name": tool.name, "calls": tool.calls, "failed": tool.failed, "blocked": tool.blocked,
                "duration_ms": tool.duration_ms,
            })
        })
        .collect();
    let whole = json!({"sessions": stats.sessions, "turns": stats.turns, "models": models, "tools": tools});
    Ok(serde_json::to_string_pretty(&whole).map_err(Failure::error)? + "\n")
}
