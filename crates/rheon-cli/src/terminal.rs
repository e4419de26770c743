//! Detects what the terminal supports.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};

use rheon_app::config::{ColorMode, InterfaceSettings};
use rheon_render::{
    Layout, NotificationSettings, Notifier, NotifyMethod, Renderer, Screen, Spinner, TextStyle, Verbosity,
};
use rheon_types::event::Meter;
use terminal_size::{Height, Width, terminal_size_of};

/// The line width without a terminal.
const COLUMNS_WITHOUT_TERMINAL: usize = 100;

struct Styles {
    out: TextStyle,
    err: TextStyle,
}

fn styles(colour: ColorMode) -> Styles {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let columns = |size: Option<(Width, _)>| size.map(|(Width(columns), _)| columns.into());
    Styles {
        out: StreamInfo::new(stdout.is_terminal(), columns(terminal_size_of(&stdout))).style(colour),
        err: StreamInfo::new(stderr.is_terminal(), columns(terminal_size_of(&stderr))).style(colour),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// The current size of the terminal.
pub(crate) fn size() -> Size {
    match terminal_size_of(io::stderr()) {
        Some((Width(columns), Height(rows))) => Size { columns: columns.into(), rows: rows.into() },
        None => Size { columns: COLUMNS_WITHOUT_TERMINAL, rows: 24 },
    }
}

/// Whether the terminal supports cursor movement.
pub(crate) fn supports_drawing() -> bool {
    env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Who reads the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "the commands that run a session name those that are not named yet")]
pub(crate) enum Audience {
    /// A person watching: everything goes to standard output.
    Watcher,
    /// A person typing prompts on the same screen.
    Speaker,
    /// A reader of standard output; everything but the answer goes to standard error.
    Reader,
}

/// Which text goes where for an audience.
pub(crate) fn layout(audience: Audience, interface: &InterfaceSettings) -> Layout {
    let Styles { out, err } = configured_styles(interface);
    match audience {
        Audience::Watcher => Layout::Combined(out),
        Audience::Speaker => Layout::Conversation(out),
        Audience::Reader => Layout::Split { out, err },
    }
}

fn configured_styles(interface: &InterfaceSettings) -> Styles {
    let Styles { mut out, mut err } = styles(interface.color);
    out.formats &= interface.markdown;
    err.formats &= interface.markdown;
    Styles { out, err }
}

/// The screen for an audience, as configured and supported by the terminal. `budget` is the money of the session.
pub(crate) fn screen(
    audience: Audience,
    interface: &InterfaceSettings,
    detail: Verbosity,
    budget: Option<Meter>,
) -> Screen {
    let Styles { out, err } = configured_styles(interface);
    let layout = layout(audience, interface);
    let moves = match audience {
        // The spinner is drawn on standard error, which must be the same screen.
        Audience::Watcher | Audience::Speaker => out.is_animated() && err.is_animated(),
        Audience::Reader => err.is_animated(),
    };
    let mut renderer = Renderer::new(layout).with_verbosity(detail);
    if let Some(budget) = budget {
        renderer = renderer.with_budget(budget);
    }
    let mut screen = Screen::new(renderer);
    if moves && interface.spinner {
        screen = screen.with_spinner(Spinner::new(err.columns));
    }
    if moves {
        let notify_after = interface.notify.then_some(interface.notify_after);
        let wanted =
            NotificationSettings { title: interface.title, notify_after, notify_method: notify_method() };
        screen = screen.with_notifier(Notifier::new(wanted));
    }
    screen
}

fn notify_method() -> NotifyMethod {
    let value = |name: &str| env::var(name).unwrap_or_default();
    let program = if env::var_os("TMUX").is_some() { "tmux".into() } else { value("TERM_PROGRAM") };
    NotifyMethod::of(&value("TERM"), &program)
}

/// Properties of an output stream that decide its style.
#[derive(Debug, Clone, Default)]
struct StreamInfo {
    is_terminal: bool,
    columns: Option<usize>,
    term: Option<OsString>,
    no_color: Option<OsString>,
    clicolor: Option<OsString>,
    clicolor_force: Option<OsString>,
}

impl StreamInfo {
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

    fn style(&self, colour: ColorMode) -> TextStyle {
        let colors = self.wants_color(colour);
        TextStyle {
            colors,
            columns: self.columns.unwrap_or(COLUMNS_WITHOUT_TERMINAL),
            wraps: self.is_terminal && self.columns.is_some(),
            formats: colors,
        }
    }

    /// Uses colors on a terminal that supports them, unless `NO_COLOR` is set. `CLICOLOR_FORCE` forces them in files and pipes; the
    /// configuration has the last word.
    fn wants_color(&self, colour: ColorMode) -> bool {
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
