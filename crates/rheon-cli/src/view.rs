//! `View`: formats events, writes them, and moves the spinner.

use std::cell::RefCell;
use std::io;
use std::time::Duration;

use rheon_app::stream_json::Projector;
use rheon_render::{FRAME_MS, RenderedText, Screen};
use rheon_text::inert;
use rheon_types::{AgentEvent, Event, RunEvent, Timestamp};
use tokio::time::Instant;

use crate::output::{Output, Reader};

#[allow(clippy::large_enum_variant, reason = "there is one per program")]
pub(crate) enum OutputFormatter {
    /// Styled text.
    Text(Screen),
    /// Rheon's events, one JSON object per line.
    Log,
    /// Claude Code's stream-json.
    Lines(Projector),
    /// The last line of that, at the end of the run.
    Result(Projector),
}

pub(crate) struct View {
    parts: RefCell<Parts>,
}

struct Parts {
    view: OutputFormatter,
    output: Output,
    /// The time of the last event, and when it arrived.
    last: Option<(Timestamp, Instant)>,
}

impl View {
    pub(crate) fn new(view: OutputFormatter, output: Output) -> Self {
        Self { parts: RefCell::new(Parts { view, output, last: None }) }
    }

    pub(crate) fn event(&self, event: &Event) {
        let mut parts = self.parts.borrow_mut();
        parts.last = Some((event.at, Instant::now()));
        match &mut parts.view {
            OutputFormatter::Text(screen) => {
                let rendered = screen.event(event);
                parts.output.write_rendered(&rendered);
            }
            OutputFormatter::Lines(projector) => {
                let lines: String = projector.take(event).into_iter().map(|line| line + "\n").collect();
                parts.output.write(&lines);
            }
            OutputFormatter::Result(projector) => {
                projector.take(event);
                if let (AgentEvent::Run(RunEvent::End { .. }), Some(result)) =
                    (&event.kind, projector.last_result())
                {
                    let line = format!("{result}\n");
                    parts.output.write(&line);
                }
            }
            OutputFormatter::Log => {
                let line = serde_json::to_string(event).map(|line| line + "\n").map_err(io::Error::from);
                parts.output.write_or_fail(line);
            }
        }
    }

    /// Prints the reply of a command that needed no run.
    pub(crate) fn reply(&self, text: &str) {
        let mut parts = self.parts.borrow_mut();
        let line = match &mut parts.view {
            OutputFormatter::Text(_) => format!("{}\n", inert(text)),
            OutputFormatter::Lines(projector) => {
                projector.replied(text).into_iter().map(|line| line + "\n").collect()
            }
            OutputFormatter::Result(projector) => {
                projector.replied(text).pop().map(|line| line + "\n").unwrap_or_default()
            }
            OutputFormatter::Log => String::new(),
        };
        parts.output.write(&line);
    }

    /// Shows a message of the program; only text output has a place for it.
    pub(crate) fn message(&self, text: &str) {
        self.text(|screen| screen.notice(text));
    }

    /// Shows a diff.
    pub(crate) fn diff(&self, text: &str) {
        self.text(|screen| screen.diff(text));
    }

    /// Writes a text that is rendered already.
    pub(crate) fn verbatim(&self, text: &str) {
        self.parts.borrow_mut().output.write(text);
    }

    /// Shows the text being typed beside the spinner.
    pub(crate) fn draft(&self, draft: &str) {
        if let OutputFormatter::Text(screen) = &mut self.parts.borrow_mut().view {
            screen.draft(draft);
        }
    }

    /// Moves the spinner while `work` runs.
    pub(crate) async fn with_spinner<T>(&self, work: impl Future<Output = T>) -> T {
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

    pub(crate) fn stop_spinner(&self) {
        self.text(Screen::close);
    }

    /// Stops the spinner and returns the first write error.
    pub(crate) fn close(self) -> io::Result<Reader> {
        self.stop_spinner();
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
        if let OutputFormatter::Text(screen) = &mut parts.view {
            let rendered = render(screen);
            parts.output.write_rendered(&rendered);
        }
    }
}
