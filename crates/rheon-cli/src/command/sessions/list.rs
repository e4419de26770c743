//! `rheon sessions list`.

use std::path::Path;

use rheon_app::sessions::{LIST_LINES_MAX, SessionCreator, SessionEntry};
use rheon_text::units::ago;
use rheon_types::Timestamp;
use serde_json::{Value, json};

use super::cost::{cost, is_reported};
use super::manager::manager;
use super::scope::ScopeFlags;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// List sessions, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct List {
    #[command(flatten)]
    scope: ScopeFlags,

    /// List at most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

const TITLE_CHARS_MAX: usize = 60;

impl List {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, system) = manager()?;
        let limit = self.limit.clamp(1, LIST_LINES_MAX);
        let lines =
            block_on(async { manager.list(self.scope.scope(), limit).await.map_err(Failure::error) })?;
        if self.json {
            let lines: Vec<Value> = lines.iter().map(as_json).collect();
            return print(&(serde_json::to_string_pretty(&lines).map_err(Failure::error)? + "\n"));
        }
        if lines.is_empty() {
            let hint = if self.scope.all { "" } else { "; use --all for all directories" };
            return print(&format!("no sessions in this directory{hint}\n"));
        }
        print(&table(&lines, &system.working_dir, system.clock.now()))
    }
}

fn table(lines: &[SessionEntry], here: &Path, now: Timestamp) -> String {
    let columns = [
        ("session", Side::Left),
        ("active", Side::Left),
        ("turns", Side::Right),
        ("cost", Side::Right),
        ("about", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for line in lines {
        let details = line.details.as_ref();
        let maker = match line.maker {
            SessionCreator::Rheon => "",
            SessionCreator::ClaudeCode => " (Claude Code)",
        };
        table.row([
            line.session_id.to_string(),
            ago(now.as_millis().saturating_sub(line.active.as_millis())),
            details.map_or_else(String::new, |details| details.turns.to_string()),
            details.map_or_else(String::new, |details| cost(&details.spend)),
            format!("{}{maker}{}", short(&line.title), elsewhere(line, here)),
        ]);
    }
    table.text()
}

/// The directory of a session, if it is not this one: another worktree, or any with `--all`.
fn elsewhere(line: &SessionEntry, here: &Path) -> String {
    match line.project.as_deref() {
        Some(project) if Path::new(project) != here => format!(" (in {project})"),
        Some(_) | None => String::new(),
    }
}

fn short(title: &str) -> String {
    let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(TITLE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

fn as_json(line: &SessionEntry) -> Value {
    let details = line.details.as_ref().map(|details| {
        json!({
            "status": details.status.as_str(),
            "turns": details.turns,
            "models": details.models,
            "usage": is_reported(&details.spend).then_some(details.spend.usage),
            "cost_micro_usd": details.spend.cost,
            "calls_unpriced": details.spend.calls_unpriced,
            "parent": details.parent,
        })
    });
    json!({
        "session_id": line.session_id,
        "maker": match line.maker { SessionCreator::Rheon => "rheon", SessionCreator::ClaudeCode => "claude-code" },
        "title": line.title,
        "first_prompt": line.first_prompt,
        "active": line.active,
        "project": line.project,
        "path": line.path,
        "details": details,
    })
}
