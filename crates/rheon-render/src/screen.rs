//! `Screen`: all that a person sees of a run: the text of its events, the spinner, the title. Gives text; whoever calls it
//! writes it, and tells it the time.

use rheon_types::{Event, Timestamp};

use super::notifier::Notifier;
use super::rendered_text::{RenderedText, Stream};
use super::renderer::Renderer;
use super::spinner::{CLEAR, Spinner};

/// A renderer with what moves around it.
pub struct Screen {
    renderer: Renderer,
    spinner: Option<Spinner>,
    notifier: Option<Notifier>,
    is_drawn: bool,
}

impl Screen {
    /// A screen of text alone.
    pub fn new(renderer: Renderer) -> Self {
        Self { renderer, spinner: None, notifier: None, is_drawn: false }
    }

    /// With a spinner on standard error.
    pub fn with_spinner(mut self, spinner: Spinner) -> Self {
        self.spinner = Some(spinner);
        self
    }

    /// With title and notification, on standard error.
    pub fn with_notifier(mut self, notifier: Notifier) -> Self {
        self.notifier = Some(notifier);
        self
    }

    /// What `event` adds. The spinner makes room for text.
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

    /// A line that is no event: what the program itself has to say.
    pub fn notice(&mut self, text: &str) -> RenderedText {
        let text = self.renderer.notice(text);
        self.over(&text)
    }

    /// The user types this while something is waited for.
    pub fn draft(&mut self, draft: &str) {
        if let Some(spinner) = &mut self.spinner {
            spinner.set_draft(draft);
        }
    }

    /// The time is `now`: the spinner moves, if there is one and the line is free.
    pub fn tick(&mut self, now: Timestamp) -> RenderedText {
        let mut rendered = RenderedText::default();
        let frame = self.spinner.as_ref().and_then(|spinner| spinner.frame(now));
        match frame.filter(|_| self.renderer.is_at_line_start()) {
            Some(frame) => {
                rendered.push(Stream::Stderr, &format!("{CLEAR}\x1b[2m{frame}\x1b[0m"));
                self.is_drawn = true;
            }
            None => self.clear(&mut rendered),
        }
        rendered
    }

    /// Nothing moves from now on, and the terminal has its old title.
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

    /// The text, where the spinner was.
    fn over(&mut self, text: &RenderedText) -> RenderedText {
        let mut rendered = RenderedText::default();
        if !text.is_empty() {
            self.clear(&mut rendered);
        }
        rendered.append(text);
        rendered
    }

    fn clear(&mut self, rendered: &mut RenderedText) {
        if std::mem::take(&mut self.is_drawn) {
            rendered.push(Stream::Stderr, CLEAR);
        }
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
