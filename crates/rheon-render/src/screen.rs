//! `Screen`: all that a person sees of a run: the text of its events, the spinner, the title. Gives text; whoever calls it
//! writes it, and tells it the time.

use rheon_types::{Event, Timestamp};

use super::announce::Announcer;
use super::rendered::{Rendered, Stream};
use super::renderer::Renderer;
use super::spinner::{CLEAR, Spinner};

/// A renderer with what moves around it.
pub struct Screen {
    renderer: Renderer,
    spinner: Option<Spinner>,
    announcer: Option<Announcer>,
    is_drawn: bool,
}

impl Screen {
    /// A screen of text alone.
    pub fn new(renderer: Renderer) -> Self {
        Self { renderer, spinner: None, announcer: None, is_drawn: false }
    }

    /// With a spinner on standard error.
    pub fn with_spinner(mut self, spinner: Spinner) -> Self {
        self.spinner = Some(spinner);
        self
    }

    /// With title and notification, on standard error.
    pub fn with_announcer(mut self, announcer: Announcer) -> Self {
        self.announcer = Some(announcer);
        self
    }

    /// What `event` adds. The spinner makes room for text.
    pub fn event(&mut self, event: &Event) -> Rendered {
        if let Some(spinner) = &mut self.spinner {
            spinner.observe(event);
        }
        let text = self.renderer.event(event);
        let mut rendered = self.over(&text);
        if let Some(announcer) = &mut self.announcer {
            rendered.push(Stream::Err, &announcer.event(event));
        }
        rendered
    }

    /// A line that is no event: what the program itself has to say.
    pub fn remark(&mut self, text: &str) -> Rendered {
        let text = self.renderer.remark(text);
        self.over(&text)
    }

    /// The user types this while something is waited for.
    pub fn draft(&mut self, draft: &str) {
        if let Some(spinner) = &mut self.spinner {
            spinner.set_draft(draft);
        }
    }

    /// The time is `now`: the spinner moves, if there is one and the line is free.
    pub fn tick(&mut self, now: Timestamp) -> Rendered {
        let mut rendered = Rendered::default();
        let frame = self.spinner.as_ref().and_then(|spinner| spinner.frame(now));
        match frame.filter(|_| self.renderer.is_at_line_start()) {
            Some(frame) => {
                rendered.push(Stream::Err, &format!("{CLEAR}\x1b[2m{frame}\x1b[0m"));
                self.is_drawn = true;
            }
            None => self.clear(&mut rendered),
        }
        rendered
    }

    /// Nothing moves from now on, and the terminal has its old title.
    pub fn close(&mut self) -> Rendered {
        let text = self.renderer.finish();
        let mut rendered = self.over(&text);
        self.clear(&mut rendered);
        self.spinner = None;
        if let Some(mut announcer) = self.announcer.take() {
            rendered.push(Stream::Err, &announcer.close());
        }
        rendered
    }

    /// The text, where the spinner was.
    fn over(&mut self, text: &Rendered) -> Rendered {
        let mut rendered = Rendered::default();
        if !text.is_empty() {
            self.clear(&mut rendered);
        }
        rendered.append(text);
        rendered
    }

    fn clear(&mut self, rendered: &mut Rendered) {
        if std::mem::take(&mut self.is_drawn) {
            rendered.push(Stream::Err, CLEAR);
        }
    }
}

#[cfg(test)]
#[path = "screen_tests.rs"]
mod tests;
