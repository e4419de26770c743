//! `rheon sessions replay`.

use rheon_app::sessions::ReplayUntil;
use rheon_text::units::count;

use super::argument::SessionArgument;
use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;

/// Replay a session from its log, without calling models or tools
///
/// Every event must match the recorded one; the first difference is an error.
#[derive(Debug, clap::Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    session: SessionArgument,

    /// Stop at this event
    #[arg(long, value_name = "EVENT")]
    until: Option<u64>,
}

impl Replay {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, _) = manager()?;
        let until = self.until.map_or(ReplayUntil::End, ReplayUntil::Seq);
        let report = block_on(async {
            let session = self.session.name(&manager).await?;
            manager.replay(&session, until).await.map_err(Failure::error)
        })?;
        let taken = match report.taken {
            0 => String::new(),
            taken => format!(" ({} not replayed)", count(taken as u64, "event")),
        };
        let (events, runs) = (count(report.events as u64, "event"), count(report.runs as u64, "run"));
        print(&format!("replayed {events} of {runs} without a difference{taken}\n"))
    }
}
