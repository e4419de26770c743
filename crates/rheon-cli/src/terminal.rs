//! What the terminal can do: asked once, here, and passed on as a value.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};

use rheon_app::config::Colour;
use terminal_size::{Width, terminal_size_of};

use crate::render::{Herald, Style};

/// How wide lines may be where there is no terminal.
const COLUMNS_WITHOUT_TERMINAL: usize = 100;

/// How to write to both streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Styles {
    pub(crate) out: Style,
    pub(crate) err: Style,
}

/// How to write to both streams, if colours are wanted so.
pub(crate) fn styles(colour: Colour) -> Styles {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let columns = |size: Option<(Width, _)>| size.map(|(Width(columns), _)| columns.into());
    Styles {
        out: Surroundings::new(stdout.is_terminal(), columns(terminal_size_of(&stdout))).style(colour),
        err: Surroundings::new(stderr.is_terminal(), columns(terminal_size_of(&stderr))).style(colour),
    }
}

/// How the terminal is told to notify.
pub(crate) fn herald() -> Herald {
    let value = |name: &str| env::var(name).unwrap_or_default();
    let program = if env::var_os("TMUX").is_some() { "tmux".into() } else { value("TERM_PROGRAM") };
    Herald::of(&value("TERM"), &program)
}

/// What decides how a stream is written to.
#[derive(Debug, Clone, Default)]
struct Surroundings {
    is_terminal: bool,
    columns: Option<usize>,
    term: Option<OsString>,
    no_color: Option<OsString>,
    clicolor: Option<OsString>,
    clicolor_force: Option<OsString>,
}

impl Surroundings {
    fn new(is_terminal: bool, columns: Option<usize>) -> Self {
        Self {
            is_terminal,
            columns,
            term: env::var_os("TERM"),
            no_color: env::var_os("NO_COLOR"),
            clicolor: env::var_os("CLICOLOR"),
            clicolor_force: env::var_os("CLICOLOR_FORCE"),
        }
    }

    fn style(&self, colour: Colour) -> Style {
        let colours = self.want_colours(colour);
        Style {
            colours,
            columns: self.columns.unwrap_or(COLUMNS_WITHOUT_TERMINAL),
            wraps: self.is_terminal && self.columns.is_some(),
            formats: colours,
        }
    }

    /// Colours are for a terminal that knows them, unless `NO_COLOR` says anything at all. `CLICOLOR_FORCE` wants them
    /// in files and pipes too; what is configured has the last word.
    fn want_colours(&self, colour: Colour) -> bool {
        let says = |variable: &Option<OsString>| variable.as_ref().is_some_and(|value| !value.is_empty());
        let is_zero = |variable: &Option<OsString>| variable.as_ref().is_some_and(|value| value == "0");
        let knows = self.term.as_ref().is_some_and(|term| !term.is_empty() && term != "dumb");
        match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto if says(&self.no_color) => false,
            Colour::Auto if self.is_terminal && !knows => false,
            Colour::Auto if says(&self.clicolor_force) && !is_zero(&self.clicolor_force) => true,
            Colour::Auto => self.is_terminal && !is_zero(&self.clicolor),
        }
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
