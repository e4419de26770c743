//! Events become styled text: streaming markdown, highlighting, diffs, tool lines.
//!
//! [`Renderer`] takes events and gives text; [`Screen`] adds what moves on a terminal, the spinner, the title and the
//! notification, as escape sequences in that text. Nothing here reads or writes a terminal: how wide it is and what it can do
//! comes in as [`TextStyle`] and [`Layout`], and the caller writes what is [`RenderedText`].

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
pub use text::one_line;
