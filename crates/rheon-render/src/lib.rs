//! Renders events as styled text: streaming Markdown, highlighting, diffs, tool lines.
//!
//! [`Renderer`] turns events into text. [`Screen`] adds what is animated on a terminal, as escape sequences in that
//! text: the spinner, the title and the notification. Nothing here reads or writes a terminal: its width and abilities
//! come in as [`TextStyle`] and [`Layout`], and the caller writes the [`RenderedText`].

#![allow(missing_docs)]

mod answer_stream;
mod approval;
mod calls;
mod diff;
mod highlight;
mod markdown;
mod notices;
mod notifier;
mod outcome;
mod page;
mod rendered_text;
mod renderer;
mod screen;
mod spinner;
mod summary;
mod text;
mod wrap;

pub use notices::{Verbosity, is_budget_spent};
pub use notifier::{NotificationSettings, Notifier, NotifyMethod};
pub use page::TextStyle;
pub use rendered_text::{RenderedText, Stream};
pub use renderer::{Layout, Renderer};
pub use screen::Screen;
pub use spinner::{FRAME_MS, Spinner};
pub use text::{fit, one_line};
