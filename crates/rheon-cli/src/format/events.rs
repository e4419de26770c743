//! `EventsView`: the log itself, one JSON object per line.

use rheon_types::Event;

use super::{Shown, View};

/// The log itself.
#[derive(Debug, Default)]
pub(crate) struct EventsView;

impl View for EventsView {
    fn event(&mut self, event: &Event) -> Shown {
        match serde_json::to_string(event) {
            Ok(line) => Shown { out: line + "\n", err: String::new() },
            Err(error) => {
                Shown { out: String::new(), err: format!("error: an event cannot be shown: {error}\n") }
            }
        }
    }
}
