//! `rheon sessions replay`.

use rheon_app::sessions::Until;
use rheon_text::units::count;

use super::kept::keeper;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;
use crate::runtime::block_on;

/// Run a session again from its log alone: no model is called, no tool runs
///
/// Every event has to come out as it was recorded; the first that does not is the error.
#[derive(Debug, clap::Args)]
pub(crate) struct Replay {
    /// Which session
    session: String,

    /// Only up to this event
    #[arg(long, value_name = "EVENT")]
    until: Option<u64>,
}

impl Replay {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (keeper, _) = keeper()?;
        let until = self.until.map_or(Until::End, Until::Seq);
        let report = block_on(async { keeper.replay(&self.session, until).await.map_err(Failure::error) })?;
        let taken = match report.taken {
            0 => String::new(),
            taken => format!(" ({} taken as recorded)", count(taken as u64, "event")),
        };
        let (events, runs) = (count(report.events as u64, "event"), count(report.runs as u64, "run"));
        print(&format!("{events} of {runs} came out again as recorded{taken}\n"))
    }
}
