//! `rheon demo`: a scripted model fixes a bug, shown in the terminal.

use std::path::PathBuf;
use std::sync::Arc;

use rheon_app::config::InterfaceSettings;
use rheon_app::session::NoticeSink;
use rheon_app::{DemoError, DemoFiles, DemoOptions, DemoReport, demo};
use rheon_render::Verbosity;
use rheon_types::ClientError;
use tokio_util::sync::CancellationToken;

use super::setup::system;
use crate::connection::print_notice;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Reader, print_error, print_note};
use crate::run_outcome::RunOutcome;
use crate::runtime::block_on;
use crate::signals::Signals;
use crate::terminal::{self, Audience};
use crate::view::{OutputFormatter, View};

/// Watch an agent at work, offline and without a key
///
/// A scripted model finds out why a test fails, fixes it and runs the test again, in a new repository. Only the model is scripted: tools,
/// rules, sandbox and session are real. The session is saved, so you can list, replay, rewind and export it.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Run without pauses
    #[arg(long)]
    fast: bool,

    /// Remove the repository and the session at the end
    #[arg(long)]
    discard: bool,

    /// Print events instead, one JSON object per line
    #[arg(long)]
    events: bool,

    /// Also write every event to this file, one JSON object per line
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
            .map_err(|error| Failure::error(format_args!("cannot handle signals: {error}")))?;
        let show = View::new(self.look(), Output::new(cancel.clone()));
        let options = DemoOptions {
            fast: self.fast,
            files: if self.discard { DemoFiles::Remove } else { DemoFiles::Keep },
            dir: std::env::temp_dir(),
            trace: self.trace.clone(),
            system: system(None)?,
        };
        let tell: NoticeSink = Arc::new(|notice| print_note(&format!("note: {}", notice.message)));
        let mut outcome = RunOutcome::default();
        let played = demo(options, &cancel, tell, |event| {
            print_notice(event);
            outcome.observe(event);
            show.event(event);
        });
        let report = show.with_spinner(played).await;
        let report = report.map_err(failure).inspect_err(|_| show.stop_spinner())?;
        // The event output holds only events, so the summary goes to standard error.
        match (self.events, &report.dir) {
            (false, _) => show.message(&left(&report)),
            (true, Some(_)) => print_note(&left(&report)),
            (true, None) => {}
        }
        match show.close() {
            Ok(Reader::There) => {}
            // A reader that closes the pipe has seen enough.
            Ok(Reader::Left) => return Ok(Exit::Done),
            Err(error) => {
                return Err(Failure::error(format_args!("cannot write to standard output: {error}")));
            }
        }
        if let Some(problem) = outcome.problem(None) {
            print_error(&problem);
        }
        Ok(outcome.exit(signals.received()))
    }

    fn look(&self) -> OutputFormatter {
        if self.events {
            return OutputFormatter::Log;
        }
        OutputFormatter::Text(terminal::screen(
            Audience::Watcher,
            &InterfaceSettings::default(),
            Verbosity::Normal,
            None,
        ))
    }
}

/// A trace file that cannot be written is a usage error.
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

/// What the demo left behind, and what to try next.
fn left(report: &DemoReport) -> String {
    let Some(dir) = &report.dir else {
        return "repository and session removed".into();
    };
    let dir = dir.display();
    if !report.is_saved {
        return format!("The repository is in {dir}. The session could not be saved.");
    }
    let DemoReport { session_id, prompt_seq, .. } = report;
    let lines = [
        format!("The repository is in {dir}, the session is {session_id}. Next steps:"),
        format!("  cd {dir}"),
        "  rheon sessions list".to_owned(),
        format!("  rheon sessions show {session_id}"),
        format!("  rheon sessions replay {session_id}"),
        format!("  rheon sessions rewind {session_id} --to {prompt_seq}    undoes the change"),
        format!("  rheon sessions export {session_id} --output demo.html"),
    ];
    lines.join("\n")
}
