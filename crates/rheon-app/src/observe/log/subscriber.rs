//! `LogSubscriber`: writes `tracing` events as lines of text.

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use rheon_text::TextContext;
use rheon_types::Clock;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::file::DayFiles;
use super::redactor::Redactor;
use crate::observe::notify_once::Once;

/// The most bytes of a line.
pub(super) const LINE_BYTES_MAX: usize = 4 * 1024;

/// Only Rheon's own events are logged; libraries might log requests.
const OURS: &str = "rheon";

/// Writes lines to the files of a log. There are no spans: a line names its session and its run.
pub(super) struct LogSubscriber {
    pub(super) level: LevelFilter,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) redactor: Redactor,
    pub(super) files: Mutex<DayFiles>,
    pub(super) trouble: Once,
}

impl Subscriber for LogSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with(OURS) && *metadata.level() <= self.level
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words::default();
        event.record(&mut words);
        let at = self.clock.now();
        let level = event.metadata().level();
        let line = inert(&self.redactor.line(&format!("{at} {level:5} {}{}", words.message, words.fields)));
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = files.write(at, &line) {
            let dir = files.dir().display();
            self.trouble
                .tell(format_args!("the log in {dir} cannot be written: {error}; the session continues"));
        }
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The text of a line.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Visit for Words {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        match field.name() {
            "message" => write!(self.message, "{value:?}").unwrap_or_default(),
            name => write!(self.fields, " {name}={value:?}").unwrap_or_default(),
        }
    }
}

/// One line of bounded length without control characters.
fn inert(text: &str) -> String {
    let shown = |character: char| if TextContext::Line.forbids(character) { '\u{fffd}' } else { character };
    let mut line = String::with_capacity(text.len().min(LINE_BYTES_MAX) + 1);
    for character in text.chars().map(shown) {
        if line.len() + character.len_utf8() > LINE_BYTES_MAX - "…\n".len() {
            line.push('…');
            break;
        }
        line.push(character);
    }
    line.push('\n');
    line
}
