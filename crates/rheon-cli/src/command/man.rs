//! `rheon man`: man pages, one per command.

use std::fs;
use std::path::{Path, PathBuf};

use rheon_text::did_you_mean;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::print;

/// Print a man page, or write all of them
///
/// Read a page:       rheon man sessions list | man -l -
/// Install all pages: rheon man --dir ~/.local/share/man/man1
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Man {
    /// The command [default: rheon itself]
    command: Vec<String>,

    /// Write all pages to this directory
    #[arg(long, alias = "folder", value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, grammar: clap::Command) -> Result<Exit, Failure> {
        let mut grammar = without_help(grammar);
        // Building gives commands their full names.
        grammar.build();
        if let Some(dir) = &self.dir {
            let count = write_all(&grammar, dir).map_err(|(path, error)| {
                Failure::error(format_args!("cannot write {}: {error}", path.display()))
            })?;
            return print(&format!("wrote {count} pages to {}\n", dir.display()));
        }
        let mut about = &grammar;
        for word in &self.command {
            let Some(found) = about.find_subcommand(word) else {
                let known: Vec<&str> = about.get_subcommands().map(clap::Command::get_name).collect();
                let did_you_mean = did_you_mean(word, &known);
                return Err(Failure::usage(format_args!("unknown command {word:?}; {did_you_mean}")));
            };
            about = found;
        }
        print(&page(about).map_err(Failure::error)?)
    }
}

/// Removes the `help` commands, which a man page does not need.
fn without_help(grammar: clap::Command) -> clap::Command {
    grammar.disable_help_subcommand(true).mut_subcommands(without_help)
}

/// Writes the pages of a command and its subcommands.
fn write_all(about: &clap::Command, dir: &Path) -> Result<usize, (PathBuf, std::io::Error)> {
    let path = dir.join(format!("{}.1", whole_name(about)));
    let written = page(about).and_then(|text| {
        fs::create_dir_all(dir)?;
        fs::write(&path, text)
    });
    written.map_err(|error| (path, error))?;
    let mut count = 1;
    for below in about.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += write_all(below, dir)?;
    }
    Ok(count)
}

fn page(about: &clap::Command) -> std::io::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(about.clone()).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// `rheon-sessions-list`.
fn whole_name(about: &clap::Command) -> String {
    about.get_display_name().unwrap_or_else(|| about.get_name()).to_owned()
}
