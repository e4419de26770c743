//! Questions to whoever sits at the terminal: any, and whether what a project brings along is run and obeyed.

use std::io::{self, BufRead as _, Write as _};

use rheon_app::config::Config;
use rheon_text::inert;

use crate::failure::Failure;
use crate::output::remark;

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
}

/// Asks on standard error and reads the answer from standard input. Anything but yes is no.
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

/// Asks about what the user has not agreed to yet. Whether the user has agreed now, so that the configuration is another one.
pub(crate) fn agreed(config: &Config) -> Result<bool, Failure> {
    let Some(review) = config.review.as_ref().filter(|review| review.is_open()) else { return Ok(false) };
    match ask(&inert(&review.question())).map_err(Failure::error)? {
        Answer::Yes => {
            review.grant().map_err(Failure::error)?;
            Ok(true)
        }
        Answer::No => {
            remark("Then it is left out. `rheon trust grant` agrees later; --trust uses it once.");
            Ok(false)
        }
    }
}
