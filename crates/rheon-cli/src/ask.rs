//! Questions at the terminal: yes or no, and whether to trust a project.

use std::io::{self, BufRead as _, Write as _};

use rheon_app::config::Config;
use rheon_text::inert;

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
                "not trusted, so nothing of it is used; run `rheon trust grant` later, or use --trust for one run",
            );
            Ok(false)
        }
    }
}
