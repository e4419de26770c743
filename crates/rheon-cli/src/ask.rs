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
    write!(io::stderr(), "{question} [y/N] ")?;
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(match line.trim().to_lowercase().as_str() {
        "y" | "yes" => Answer::Yes,
        _ => Answer::No,
    })
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
