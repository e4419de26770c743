//! How a headless run is shown: each format is a view of the same events.

mod events;
mod text;

use rheon_types::Event;

pub(crate) use events::EventsView;
pub(crate) use text::TextView;

/// What an event adds to the two outputs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// For standard output.
    pub(crate) out: String,
    /// For standard error.
    pub(crate) err: String,
}

/// A view of the events of a run.
pub(crate) trait View {
    /// What `event` adds.
    fn event(&mut self, event: &Event) -> Shown;
}
