//! `Show`: the view of a run and the output it is written to; moves the spinner while something else is waited for.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use rheon_app::stream_json::Projector;
use rheon_render::{FRAME_MS, RenderedText, Screen};
use rheon_types::{AgentEvent, Event, RunEvent, Timestamp};
use tokio::time::Instant;

use crate::output::{Output, Reader};

/// How events are shown.
#[allow(clippy::large_enum_variant, reason = "there is one per program")]
pub(crate) enum Look {
    /// For a person.
    Text(Screen),
    /// As the log has them: one line of JSON each.
    Log,
    /// As lines of Claude Code's stream-json.
    Lines(Projector),
    /// As one object when the run is over: the last of those lines.
    Result(Projector),
}

/// A view that is being written.
pub(crate) struct Show {
    parts: RefCell<Parts>,
}

struct Parts {
    view: Look,
    output: Output,
    /// The time of the last event, and when that was.
    last: Option<(Timestamp, Instant)>,
}

impl Show {
    pub(crate) fn new(view: Look, output: Output) -> Self {
        Self { parts: RefCell::new(Parts { view, output, last: None }) }
    }

    /// Shows an event.
    pub(crate) fn event(&self, event: &Event) {
        let mut parts = self.parts.borrow_mut();
        parts.last = Some((event.at, Instant::now()));
        match &mut parts.view {
            Look::Text(screen) => {
                let rendered = screen.event(event);
                parts.output.write_rendered(&rendered);
            }
            Look::Lines(projector) => {
                let lines: String = projector.take(event).into_iter().map(|line| line + "\n").collect();
                parts.output.write(&lines);
            }
            Look::Result(projector) => {
                projector.take(event);
                if let (AgentEvent::Run(RunEvent::End { .. }), Some(result)) =
                    (&event.kind, projector.last_result())
                {
                    let line = format!("{result}\n");
                    parts.output.write(&line);
                }
            }
            Look::Log => {
                let line = serde_json::to_string(event).map(|line| line + "\n").map_err(io::Error::from);
                parts.output.write_or_fail(line);
            }
        }
    }

    /// Shows what the program itself has to say; a log has no place for it.
    pub(crate) fn remark(&self, text: &str) {
        self.text(|screen| screen.notice(text));
    }

    /// Shows what is being typed beside what moves.
    pub(crate) fn draft(&self, draft: &str) {
        if let Look::Text(screen) = &mut self.parts.borrow_mut().view {
            screen.draft(draft);
        }
    }

    /// Waits for `work` while the spinner moves.
    pub(crate) async fn while_it_spins<T>(&self, work: impl Future<Output = T>) -> T {
        let mut frames = tokio::time::interval(Duration::from_millis(FRAME_MS));
        frames.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = frames.tick() => self.tick(),
            }
        }
    }

    /// Ends what moves.
    pub(crate) fn still(&self) {
        self.text(Screen::close);
    }

    /// Ends what moves, and tells how it went.
    pub(crate) fn close(self) -> io::Result<Reader> {
        self.still();
        self.parts.into_inner().output.close()
    }

    fn tick(&self) {
        let last = self.parts.borrow().last;
        if let Some((at, then)) = last {
            let passed_ms = u64::try_from(then.elapsed().as_millis()).unwrap_or(u64::MAX);
            let now = Timestamp::from_millis(at.as_millis().saturating_add(passed_ms));
            self.text(|screen| screen.tick(now));
        }
    }

    fn text(&self, render: impl FnOnce(&mut Screen) -> RenderedText) {
        let mut parts = self.parts.borrow_mut();
        if let Look::Text(screen) = &mut parts.view {
            let rendered = render(screen);
            parts.output.write_rendered(&rendered);
        }
    }
}
