//! `rheon demo`: a scripted model plays a scenario, and the terminal shows it.

use anyhow::anyhow;
use rheon_app::config::InterfaceSettings;
use rheon_app::{DemoOptions, DemoReport, demo};
use rheon_types::RunEnd;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::output::{Output, Reader, complain, remark};
use crate::render::{Detail, count};
use crate::show::{Look, Show};
use crate::signals::Signals;
use crate::terminal::{self, Audience};

/// Watch an agent at work; needs no network and no key
///
/// A scripted model plays a bundled scenario through the real agent: it thinks, writes and reads notes with two small
/// tools, gets one name wrong and recovers. The notes are files in a temporary folder, which is removed at the end.
#[derive(Debug, clap::Args)]
pub(crate) struct Demo {
    /// Play without pauses
    #[arg(long)]
    fast: bool,

    /// Keep the folder with the notes and say where it is
    #[arg(long)]
    keep: bool,

    /// Print every event as one line of JSON instead
    #[arg(long)]
    events: bool,
}

impl Demo {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        // This thread writes to the terminal. The others run the agent and hear signals, also while this one waits for a
        // terminal that does not read. Starting them takes no time that could be measured.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| anyhow!("cannot start: {error}"))?;
        runtime.block_on(self.play())
    }

    async fn play(self) -> anyhow::Result<Exit> {
        let cancel = CancellationToken::new();
        let signals =
            Signals::cancel(&cancel).map_err(|error| anyhow!("cannot listen to signals: {error}"))?;
        let show = Show::new(self.view(), Output::new(cancel.clone()));
        let options = DemoOptions { fast: self.fast, keep: self.keep, folder: std::env::temp_dir() };
        let report = show.while_it_spins(demo(options, &cancel, |event| show.event(event))).await;
        let report = report.inspect_err(|_| show.still())?;
        self.close(&report, &show);
        match show.close() {
            Ok(Reader::There) => Ok(conclude(&report.output.end, signals.received())),
            // Whoever stops reading has seen enough.
            Ok(Reader::Left) => Ok(Exit::Done),
            Err(error) => Err(anyhow!("cannot write to standard output: {error}")),
        }
    }

    fn view(&self) -> Look {
        if self.events {
            return Look::Log;
        }
        let interface = InterfaceSettings::default();
        Look::Text(terminal::screen(Audience::Watcher, &interface, Detail::Normal, None))
    }

    /// Says what became of the workspace. A log holds nothing but events, so there it goes to standard error.
    fn close(&self, report: &DemoReport, show: &Show) {
        match (self.events, &report.kept) {
            (false, _) => show.remark(&workspace_line(report)),
            (true, Some(_)) => remark(&workspace_line(report)),
            (true, None) => {}
        }
    }
}

fn workspace_line(report: &DemoReport) -> String {
    let bytes: u64 = report.notes.iter().map(|note| note.bytes).sum();
    let notes = format!("{} ({})", count(report.notes.len() as u64, "note"), count(bytes, "byte"));
    match &report.kept {
        Some(path) => format!("{notes} kept in {}", path.display()),
        None if report.notes.is_empty() => "no notes were written".into(),
        None => format!("{notes} were written and removed again; --keep keeps them"),
    }
}

fn conclude(end: &RunEnd, signal: Option<Exit>) -> Exit {
    if let Some(problem) = problem(end) {
        complain(&problem);
    }
    match (end, signal) {
        (RunEnd::Aborted, Some(signal)) => signal,
        (end, _) => Exit::of_run(end),
    }
}

/// What is to be said of a run that did not come to its end by itself.
fn problem(end: &RunEnd) -> Option<String> {
    match end {
        RunEnd::Completed | RunEnd::Aborted => None,
        RunEnd::Truncated => Some("the last answer was cut off by its token limit".into()),
        RunEnd::Limit { message, .. } => Some(format!("stopped: {message}")),
        RunEnd::Rejected { rejection } => Some(format!("the prompt was rejected: {rejection}")),
        RunEnd::Vetoed { message, .. } => Some(format!("a hook stopped the run: {message}")),
        RunEnd::Failed { failure } => Some(failure.to_string()),
    }
}
