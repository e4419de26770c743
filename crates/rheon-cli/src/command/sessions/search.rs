//! `rheon sessions search`.

use serde_json::{Value, json};

use super::kept::keeper;
use super::scope::ScopeFlags;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// Find where something was said
#[derive(Debug, clap::Args)]
pub(crate) struct Search {
    /// Words to look for
    #[arg(required = true)]
    words: Vec<String>,

    #[command(flatten)]
    scope: ScopeFlags,

    /// At most this many
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,

    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Search {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (keeper, _) = keeper()?;
        let text = self.words.join(" ");
        let hits = block_on(async {
            keeper.search(&text, self.scope.scope(), self.limit.clamp(1, 1_000)).await.map_err(Failure::error)
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
            let hint = if self.scope.all { "" } else { "; --all looks in all folders" };
            return print(&format!("nothing was found{hint}\n"));
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
