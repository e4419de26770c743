//! `rheon sessions show`.

use std::io::IsTerminal as _;

use rheon_app::sessions::{ExportFormat, ExportOptions};
use rheon_text::inert;

use super::export::Collected;
use super::kept::keeper;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;

/// Read a session
///
/// Each message has the number of its event, which `rheon sessions rewind --to`, `fork --at` and `replay --until` take.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    /// Which session
    session: String,

    /// As the log has it: one JSON object per event
    #[arg(long)]
    events: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (keeper, _) = keeper()?;
        if self.events {
            let (_, events) = block_on(async { keeper.events(&self.session).await.map_err(Failure::error) })?;
            let mut text = String::new();
            for event in &events {
                text.push_str(&serde_json::to_string(event).map_err(Failure::error)?);
                text.push('\n');
            }
            return print(&text);
        }
        let options = ExportOptions { event_numbers: true, ..ExportOptions::default() };
        let collected = Collected::default();
        let out = collected.clone();
        block_on(async {
            keeper.export(&self.session, ExportFormat::Markdown, options, out).await.map_err(Failure::error)
        })?;
        let text = collected.text();
        print(&if std::io::stdout().is_terminal() { inert(&text).into() } else { text })
    }
}
