//! Questions at the terminal: yes or no, whether to trust a project, and how much to ask in a directory.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

use rheon_app::config::{Config, DirModes};
use rheon_app::session::{SystemContext, home_warning};
use rheon_text::inert;
use rheon_types::event::PermissionMode;

use crate::failure::Failure;
use crate::output::print_note;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
}

/// Asks on standard error and reads the answer from standard input. Anything but yes means no.
pub(crate) fn ask(question: &str) -> io::Result<Answer> {
    let line = ask_line(&format!("{question} [y/N] "))?;
    Ok(match line.to_lowercase().as_str() {
        "y" | "yes" | "ok" | "sure" => Answer::Yes,
        _ => Answer::No,
    })
}

/// Asks on standard error and reads a line from standard input; empty at its end.
pub(crate) fn ask_line(question: &str) -> io::Result<String> {
    write!(io::stderr(), "{question}")?;
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// Asks whether to trust the project, if that is open. Returns whether the user granted trust, which changes the configuration.
pub(crate) fn ask_for_trust(config: &Config) -> Result<bool, Failure> {
    let Some(review) = config.review.as_ref().filter(|review| review.is_open()) else { return Ok(false) };
    match ask(&inert(&review.question())).map_err(Failure::error)? {
        Answer::Yes => {
            review.grant().map_err(Failure::error)?;
            Ok(true)
        }
        Answer::No => {
            print_note(
                "not trusted, so Rheon ignores these files; trust them later with `rheon trust grant`, or for one run with --trust",
            );
            Ok(false)
        }
    }
}

/// Asks whether to start in the home directory, where that is.
pub(crate) fn ask_for_home(system: &SystemContext) -> Result<Answer, Failure> {
    match home_warning(system) {
        Some(warning) => ask(&format!("{}.\nStart here anyway?", inert(&warning))).map_err(Failure::error),
        None => Ok(Answer::Yes),
    }
}

/// The question at the first start in a directory.
const MODE_QUESTION: &str = "Run edits in this directory and sandboxed commands without asking (mode auto)?\n\
     Rheon still asks before anything leaves the sandbox: network, other directories, git history. Change it later with `/mode`.";

/// The mode for a conversation in `dir`: what the settings say, else what the user chose there before, else what they choose
/// now. `None` leaves it to the settings.
pub(crate) fn ask_for_mode(
    config: &Config,
    modes: Option<DirModes>,
    dir: &Path,
) -> Result<Option<PermissionMode>, Failure> {
    let is_set =
        config.settings.permissions.sources.iter().any(|source| source.document.default_mode.is_some());
    let Some(modes) = modes.filter(|_| !is_set) else { return Ok(None) };
    if let Some(mode) = modes.get(dir) {
        return Ok(Some(mode));
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    let mode = match ask(MODE_QUESTION).map_err(Failure::error)? {
        Answer::Yes => PermissionMode::Auto,
        Answer::No => PermissionMode::Default,
    };
    if let Err(error) = modes.set(dir, mode) {
        print_note(&format!("note: the answer is not remembered: {error}"));
    }
    Ok(Some(mode))
}
