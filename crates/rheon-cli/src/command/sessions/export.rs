//! `rheon sessions export`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use rheon_app::sessions::{ExportFormat, ExportOptions, RedactionReport};

use super::kept::keeper;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, remark};
use crate::runtime::block_on;

/// Write a session as markdown, JSON or a page, without the secrets in it
#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Which session
    session: String,

    /// How; by default as the name of the file says, else as markdown
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Where to; standard output if absent
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write over a file that is there
    #[arg(long)]
    force: bool,

    /// Leave out what the model thought
    #[arg(long)]
    no_thinking: bool,
}

/// How a session is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people and repositories
    #[value(alias = "md")]
    Markdown,
    /// For programs
    Json,
    /// One page for a browser
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
        let (keeper, _) = keeper()?;
        let by_name = self.output.as_deref().and_then(Format::of_file);
        let format = self.format.or(by_name).unwrap_or(Format::Markdown).into();
        let options = ExportOptions {
            title: format!("Session {}", self.session),
            include_thinking: !self.no_thinking,
            ..ExportOptions::default()
        };
        let Some(file) = &self.output else {
            let collected = Collected::default();
            let out = collected.clone();
            let report = block_on(async {
                keeper.export(&self.session, format, options, out).await.map_err(Failure::error)
            })?;
            tell(&report);
            return print(&collected.text());
        };
        // An export that breaks off must not stand in the place of a whole one.
        let problem =
            |error: io::Error| Failure::error(format_args!("cannot write {}: {error}", file.display()));
        if file.exists() && !self.force {
            return Err(Failure::usage(format_args!(
                "{} is there already; --force writes over it",
                file.display()
            )));
        }
        let draft = file.with_added_extension("part");
        let out = BufWriter::new(File::create(&draft).map_err(problem)?);
        let exported = block_on(async {
            keeper.export(&self.session, format, options, out).await.map_err(Failure::error)
        });
        let report = exported.inspect_err(|_| {
            std::fs::remove_file(&draft).ok();
        })?;
        std::fs::rename(&draft, file).map_err(problem)?;
        tell(&report);
        remark(&format!("written to {}", file.display()));
        Ok(Exit::Done)
    }
}

fn tell(report: &RedactionReport) {
    match report.total() {
        0 => {}
        1 => remark("note: one secret was taken out"),
        secrets => remark(&format!("note: {secrets} secrets were taken out")),
    }
}

/// What is written, in memory.
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
