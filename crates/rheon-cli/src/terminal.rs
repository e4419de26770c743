//! What the terminal can do: asked once, here, and passed on as a value.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};

use terminal_size::{Width, terminal_size_of};

use crate::render::Style;

/// How wide lines may be where there is no terminal.
const COLUMNS_WITHOUT_TERMINAL: usize = 100;

/// How to write to standard output.
pub(crate) fn style() -> Style {
    let stdout = io::stdout();
    let size = terminal_size_of(&stdout);
    let surroundings = Surroundings {
        is_terminal: stdout.is_terminal(),
        term: env::var_os("TERM"),
        no_color: env::var_os("NO_COLOR"),
    };
    Style {
        wraps: size.is_some(),
        colours: surroundings.want_colours(),
        columns: size.map_or(COLUMNS_WITHOUT_TERMINAL, |(Width(columns), _)| columns.into()),
    }
}

/// What decides about colours.
struct Surroundings {
    is_terminal: bool,
    term: Option<OsString>,
    no_color: Option<OsString>,
}

impl Surroundings {
    /// Colours are for a terminal that knows them, unless `NO_COLOR` says anything at all.
    fn want_colours(&self) -> bool {
        let knows = self.term.as_ref().is_some_and(|term| term != "dumb");
        let unwanted = self.no_color.as_ref().is_some_and(|value| !value.is_empty());
        self.is_terminal && knows && !unwanted
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
