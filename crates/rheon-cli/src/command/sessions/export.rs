//! `rheon sessions export`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use rheon_app::sessions::{ExportFormat, ExportOptions, RedactionReport};

use super::argument::SessionArgument;
use super::manager::manager;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_note};
use crate::runtime::block_on;

/// Export a session as markdown, JSON or HTML, with secrets redacted
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    #[command(flatten)]
    session: SessionArgument,

    /// Set the format [default: by file name, else markdown]
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Write to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long)]
    force: bool,

    /// Leave out the model's thinking
    #[arg(long)]
    no_thinking: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Markdown
    #[value(alias = "md")]
    Markdown,
    /// JSON
    Json,
    /// One HTML page
    Html,
}

impl Format {
    fn of_file(file: &std::path::Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "md" | "markdown" => Some(Self::Markdown),
            "json" => Some(Self::Json),
            "html" | "htm" => Some(Self::Html),
            _ => None,
        }
    }
}

impl From<Format> for ExportFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Markdown => Self::Markdown,
            Format::Json => Self::Json,
            Format::Html => Self::Html,
        }
    }
}

impl Export {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, _) = manager()?;
        let session = block_on(self.session.name(&manager))?;
        let by_name = self.output.as_deref().and_then(Format::of_file);
        let format = self.format.or(by_name).unwrap_or(Format::Markdown).into();
        let options = ExportOptions {
            title: format!("Session {session}"),
            include_thinking: !self.no_thinking,
            ..ExportOptions::default()
        };
        let Some(file) = &self.output else {
            let collected = Collected::default();
            let out = collected.clone();
            let report = block_on(async {
                manager.export(&session, format, options, out).await.map_err(Failure::error)
            })?;
            print_redactions(&report);
            return print(&collected.text());
        };
        // An interrupted export must not replace a complete one.
        let problem =
            |error: io::Error| Failure::error(format_args!("cannot write {}: {error}", file.display()));
        if file.exists() && !self.force {
            return Err(Failure::usage(format_args!(
                "{} already exists; overwrite it with --force",
                file.display()
            )));
        }
        let draft = file.with_added_extension("part");
        let out = BufWriter::new(File::create(&draft).map_err(problem)?);
        let exported =
            block_on(async { manager.export(&session, format, options, out).await.map_err(Failure::error) });
        let report = exported.inspect_err(|_| {
            std::fs::remove_file(&draft).ok();
        })?;
        std::fs::rename(&draft, file).map_err(problem)?;
        print_redactions(&report);
        print_note(&format!("exported to {}", file.display()));
        Ok(Exit::Done)
    }
}

fn print_redactions(report: &RedactionReport) {
    match report.total() {
        0 => {}
        1 => print_note("note: redacted 1 secret"),
        secrets => print_note(&format!("note: redacted {secrets} secrets")),
    }
}

/// Output collected in memory.
#[derive(Clone, Default)]
pub(super) struct Collected {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Collected {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
