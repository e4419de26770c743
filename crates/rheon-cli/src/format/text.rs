//! `TextView`: the answer on standard output as it comes; what tools do on standard error.

use rheon_types::{AgentEvent, Event};

use super::{Shown, View};

/// The answer as it comes.
#[derive(Debug, Default)]
pub(crate) struct TextView {
    is_line_open: bool,
}

impl View for TextView {
    fn event(&mut self, event: &Event) -> Shown {
        let mut shown = Shown::default();
        match &event.kind {
            AgentEvent::TextDelta { delta } => {
                self.is_line_open = !delta.ends_with('\n');
                shown.out.push_str(delta);
            }
            AgentEvent::MessageEnd { .. } if self.is_line_open => {
                self.is_line_open = false;
                shown.out.push('\n');
            }
            _ => {}
        }
        shown
    }
}
