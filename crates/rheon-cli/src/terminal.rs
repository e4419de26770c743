//! What the terminal can do: asked once, here, and passed on as a value.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};

use rheon_app::config::{ColorMode, InterfaceSettings};
use rheon_render::{Announcements, Announcer, Detail, Herald, Layout, Renderer, Screen, Spinner, Style};
use rheon_types::MicroUsd;
use terminal_size::{Height, Width, terminal_size_of};

/// How wide lines may be where there is no terminal.
const COLUMNS_WITHOUT_TERMINAL: usize = 100;

/// How to write to both streams.
struct Styles {
    out: Style,
    err: Style,
}

/// How to write to both streams, if colours are wanted so.
fn styles(colour: ColorMode) -> Styles {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let columns = |size: Option<(Width, _)>| size.map(|(Width(columns), _)| columns.into());
    Styles {
        out: Surroundings::new(stdout.is_terminal(), columns(terminal_size_of(&stdout))).style(colour),
        err: Surroundings::new(stderr.is_terminal(), columns(terminal_size_of(&stderr))).style(colour),
    }
}

/// How wide and how high the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// How wide and how high the terminal is now.
pub(crate) fn size() -> Size {
    match terminal_size_of(io::stderr()) {
        Some((Width(columns), Height(rows))) => Size { columns: columns.into(), rows: rows.into() },
        None => Size { columns: COLUMNS_WITHOUT_TERMINAL, rows: 24 },
    }
}

/// Whether the terminal can do more than print one line after the other.
pub(crate) fn can_be_drawn_on() -> bool {
    env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "the commands that run a session name those that are not named yet")]
pub(crate) enum Audience {
    /// A person who watches: all is shown on standard output.
    Watcher,
    /// A person who types prompts on the same screen.
    Speaker,
    /// Whoever reads the answer on standard output; what else happens goes to standard error.
    Reader,
}

/// The screen for an audience, as it is configured and as far as the terminal can do it. `budget` is the most that all runs
/// may cost together.
pub(crate) fn screen(
    audience: Audience,
    interface: &InterfaceSettings,
    detail: Detail,
    budget: Option<MicroUsd>,
) -> Screen {
    let Styles { mut out, mut err } = styles(interface.color);
    out.formats &= interface.markdown;
    err.formats &= interface.markdown;
    let layout = match audience {
        Audience::Watcher => Layout::Together(out),
        Audience::Speaker => Layout::Conversation(out),
        Audience::Reader => Layout::Apart { out, err },
    };
    let moves = match audience {
        // What moves is drawn on standard error, so that must be the same screen.
        Audience::Watcher | Audience::Speaker => out.moves() && err.moves(),
        Audience::Reader => err.moves(),
    };
    let mut renderer = Renderer::new(layout).with_detail(detail);
    if let Some(budget) = budget {
        renderer = renderer.with_budget(budget);
    }
    let mut screen = Screen::new(renderer);
    if moves && interface.spinner {
        screen = screen.with_spinner(Spinner::new(err.columns));
    }
    if moves {
        let notify_after = interface.notify.then_some(interface.notify_after);
        let wanted = Announcements { title: interface.title, notify_after, herald: herald() };
        screen = screen.with_announcer(Announcer::new(wanted));
    }
    screen
}

/// How the terminal is told to notify.
fn herald() -> Herald {
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

    fn style(&self, colour: ColorMode) -> Style {
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
    fn want_colours(&self, colour: ColorMode) -> bool {
        let says = |variable: &Option<OsString>| variable.as_ref().is_some_and(|value| !value.is_empty());
        let is_zero = |variable: &Option<OsString>| variable.as_ref().is_some_and(|value| value == "0");
        let knows = self.term.as_ref().is_some_and(|term| !term.is_empty() && term != "dumb");
        match colour {
            ColorMode::Always => true,
            ColorMode::Never => false,
            ColorMode::Auto if says(&self.no_color) => false,
            ColorMode::Auto if self.is_terminal && !knows => false,
            ColorMode::Auto if says(&self.clicolor_force) && !is_zero(&self.clicolor_force) => true,
            ColorMode::Auto => self.is_terminal && !is_zero(&self.clicolor),
        }
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
