//! `rheon sessions search`.

use serde_json::{Value, json};

use super::manager::manager;
use super::scope::ScopeFlags;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// Search the text of sessions
#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// The words to search for
    #[arg(required = true)]
    words: Vec<String>,

    #[command(flatten)]
    scope: ScopeFlags,

    /// Show at most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Search {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, _) = manager()?;
        let text = self.words.join(" ");
        let hits = block_on(async {
            manager
                .search(&text, self.scope.scope(), self.limit.clamp(1, 1_000))
                .await
                .map_err(Failure::error)
        })?;
        if self.json {
            let hits: Vec<Value> = hits
                .iter()
                .map(|hit| {
                    json!({"session_id": hit.session_id, "seq": hit.seq, "role": hit.role.as_str(), "snippet": hit.snippet})
                })
                .collect();
            return print(&(serde_json::to_string_pretty(&hits).map_err(Failure::error)? + "\n"));
        }
        if hits.is_empty() {
            let hint = if self.scope.all { "" } else { "; use --all for all directories" };
            return print(&format!("no matches{hint}\n"));
        }
        let columns =
            [("session", Side::Left), ("event", Side::Right), ("who", Side::Left), ("what", Side::Left)];
        let mut table = Table::new(&columns);
        for hit in hits {
            table.row([
                hit.session_id.to_string(),
                hit.seq.to_string(),
                hit.role.as_str().into(),
                hit.snippet,
            ]);
        }
        print(&table.text())
    }
}
