//! `rheon sessions show`.

use std::io::IsTerminal as _;

use rheon_app::sessions::{ExportFormat, ExportOptions};
use rheon_text::inert;

use super::argument::SessionArgument;
use super::export::Collected;
use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;

/// Show a session
///
/// Each message has an event number, for `rheon sessions rewind --to`, `fork --at` and `replay --until`.
#[derive(Debug, clap::Args)]
pub(crate) struct Show {
    #[command(flatten)]
    session: SessionArgument,

    /// Print the log, one JSON object per event
    #[arg(long)]
    events: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, _) = manager()?;
        if self.events {
            let (_, events) = block_on(async {
                manager.events(&self.session.name(&manager).await?).await.map_err(Failure::error)
            })?;
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
            let session = self.session.name(&manager).await?;
            manager.export(&session, ExportFormat::Markdown, options, out).await.map_err(Failure::error)
        })?;
        let text = collected.text();
        print(&if std::io::stdout().is_terminal() { inert(&text).into() } else { text })
    }
}
