//! `Screen`: everything a person sees of a run: the text of its events, the spinner, the title. The caller writes the
//! text and passes in the time.

use rheon_types::{Event, Timestamp};

use super::notifier::Notifier;
use super::rendered_text::{RenderedText, Stream};
use super::renderer::Renderer;
use super::spinner::{CLEAR, Spinner};

/// A renderer with the animated parts around it.
pub struct Screen {
    renderer: Renderer,
    spinner: Option<Spinner>,
    notifier: Option<Notifier>,
    /// How many lines the spinner takes.
    rows_drawn: usize,
}

impl Screen {
    /// Creates a screen without spinner and title.
    pub fn new(renderer: Renderer) -> Self {
        Self { renderer, spinner: None, notifier: None, rows_drawn: 0 }
    }

    /// Adds a spinner on standard error.
    pub fn with_spinner(mut self, spinner: Spinner) -> Self {
        self.spinner = Some(spinner);
        self
    }

    /// Adds the title and notifications, on standard error.
    pub fn with_notifier(mut self, notifier: Notifier) -> Self {
        self.notifier = Some(notifier);
        self
    }

    /// Renders an event. The spinner makes room for the text.
    pub fn event(&mut self, event: &Event) -> RenderedText {
        if let Some(spinner) = &mut self.spinner {
            spinner.observe(event);
        }
        let text = self.renderer.event(event);
        let mut rendered = self.over(&text);
        if let Some(notifier) = &mut self.notifier {
            rendered.push(Stream::Stderr, &notifier.event(event));
        }
        rendered
    }

    /// Renders a message of the program itself.
    pub fn notice(&mut self, text: &str) -> RenderedText {
        let text = self.renderer.notice(text);
        self.over(&text)
    }

    /// Renders a diff.
    pub fn diff(&mut self, text: &str) -> RenderedText {
        let text = self.renderer.diff(text);
        self.over(&text)
    }

    /// Sets what the user is typing, to show beside the spinner.
    pub fn draft(&mut self, draft: &str) {
        if let Some(spinner) = &mut self.spinner {
            spinner.set_draft(draft);
        }
    }

    /// Advances the spinner to the time `now`, if there is one and the line is free.
    pub fn tick(&mut self, now: Timestamp) -> RenderedText {
        let mut rendered = RenderedText::default();
        let frame = self.spinner.as_ref().map(|spinner| spinner.frame(now)).unwrap_or_default();
        if frame.is_empty() || !self.renderer.is_at_line_start() {
            self.clear(&mut rendered);
            return rendered;
        }
        match self.rows_drawn {
            0 | 1 if frame.len() == 1 => rendered.push(Stream::Stderr, CLEAR),
            rows => rendered.push(Stream::Stderr, &erase(rows)),
        }
        rendered.push(Stream::Stderr, &format!("\x1b[2m{}\x1b[0m", frame.join("\r\n")));
        self.rows_drawn = frame.len();
        rendered
    }

    /// Stops the animation and restores the terminal title.
    pub fn close(&mut self) -> RenderedText {
        let text = self.renderer.finish();
        let mut rendered = self.over(&text);
        self.clear(&mut rendered);
        self.spinner = None;
        if let Some(mut notifier) = self.notifier.take() {
            rendered.push(Stream::Stderr, &notifier.close());
        }
        rendered
    }

    /// Replaces the spinner with the text.
    fn over(&mut self, text: &RenderedText) -> RenderedText {
        let mut rendered = RenderedText::default();
        if !text.is_empty() {
            self.clear(&mut rendered);
        }
        rendered.append(text);
        rendered
    }

    fn clear(&mut self, rendered: &mut RenderedText) {
        match std::mem::take(&mut self.rows_drawn) {
            0 => {}
            1 => rendered.push(Stream::Stderr, CLEAR),
            rows => rendered.push(Stream::Stderr, &erase(rows)),
        }
    }
}

/// Moves up over the rows and erases them.
fn erase(rows: usize) -> String {
    match rows.saturating_sub(1) {
        0 => "\r\x1b[J".into(),
        above => format!("\x1b[{above}A\r\x1b[J"),
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
