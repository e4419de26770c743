//! `rheon demo`: a scripted model mends a repository, and the terminal shows it.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_app::config::InterfaceSettings;
use rheon_app::session::NoticeSink;
use rheon_app::{DemoError, DemoFiles, DemoOptions, DemoReport, demo};
use rheon_render::Detail;
use rheon_types::ClientError;
use tokio_util::sync::CancellationToken;

use super::setup::system;
use crate::connection::tell_notice;
use crate::ending::Ending;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Reader, complain, remark};
use crate::runtime::block_on;
use crate::show::{Look, Show};
use crate::signals::Signals;
use crate::terminal::{self, Audience};

/// Watch an agent at work; needs no network and no key
///
/// A scripted model finds out why a test fails, mends it and runs the test again, in a fresh repository. Only the model is scripted: the
/// tools, the rules, the sandbox and the session are the real ones. What it did stays, to be listed, replayed, taken back and exported.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Play without pauses
    #[arg(long)]
    fast: bool,

    /// Leave nothing behind: no repository, no session
    #[arg(long)]
    discard: bool,

    /// Print every event as one line of JSON instead
    #[arg(long)]
    events: bool,

    /// Write every event as a line of JSON to this file, too
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

impl Demo {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        block_on(self.play())
    }

    async fn play(self) -> Result<Exit, Failure> {
        let cancel = CancellationToken::new();
        let signals = Signals::cancel(&cancel)
            .map_err(|error| Failure::error(format_args!("cannot listen to signals: {error}")))?;
        let show = Show::new(self.look(), Output::new(cancel.clone()));
        let options = DemoOptions {
            fast: self.fast,
            files: if self.discard { DemoFiles::Remove } else { DemoFiles::Keep },
            folder: std::env::temp_dir(),
            trace: self.trace.clone(),
            system: system(None)?,
        };
        let tell: NoticeSink = Arc::new(|notice| remark(&format!("note: {}", notice.message)));
        let mut ending = Ending::default();
        let played = demo(options, &cancel, tell, |event| {
            tell_notice(event);
            ending.observe(event);
            show.event(event);
        });
        let report = show.while_it_spins(played).await;
        let report = report.map_err(failure).inspect_err(|_| show.still())?;
        // A log holds nothing but events, so what stayed is told elsewhere.
        match (self.events, &report.folder) {
            (false, _) => show.remark(&left(&report)),
            (true, Some(_)) => remark(&left(&report)),
            (true, None) => {}
        }
        match show.close() {
            Ok(Reader::There) => {}
            // Whoever stops reading has seen enough.
            Ok(Reader::Left) => return Ok(Exit::Done),
            Err(error) => {
                return Err(Failure::error(format_args!("cannot write to standard output: {error}")));
            }
        }
        if let Some(problem) = ending.problem(None) {
            complain(&problem);
        }
        Ok(ending.exit(signals.received()))
    }

    fn look(&self) -> Look {
        if self.events {
            return Look::Log;
        }
        Look::Text(terminal::screen(Audience::Watcher, &InterfaceSettings::default(), Detail::Normal, None))
    }
}

/// A trace that cannot be written is wrong usage, as in any run.
fn failure(error: DemoError) -> Failure {
    match error {
        DemoError::Run(ClientError::Invalid { .. }) => Failure::usage(error),
        DemoError::Workspace { .. }
        | DemoError::Scenario(_)
        | DemoError::Config(_)
        | DemoError::Run(_)
        | DemoError::Lost
        | DemoError::Cleanup { .. } => Failure::error(error),
    }
}

/// What stayed, and what can be done with it.
fn left(report: &DemoReport) -> String {
    let Some(folder) = &report.folder else {
        return "nothing was left behind".into();
    };
    let folder = folder.display();
    if !report.is_saved {
        return format!("The repository is in {folder}; the session could not be kept.");
    }
    let DemoReport { session_id, prompt_seq, .. } = report;
    let lines = [
        format!("The repository is in {folder}, the session is {session_id}. To go on from here:"),
        format!("  cd {folder}"),
        "  rheon sessions list".to_owned(),
        format!("  rheon sessions show {session_id}"),
        format!("  rheon sessions replay {session_id}"),
        format!("  rheon sessions rewind {session_id} --to {prompt_seq}    takes the change back"),
        format!("  rheon sessions export {session_id} --output demo.html"),
    ];
    lines.join("\n")
}
