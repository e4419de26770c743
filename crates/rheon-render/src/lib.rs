//! Events become styled text: streaming markdown, highlighting, diffs, tool lines.
//!
//! [`Renderer`] takes events and gives text; [`Screen`] adds what moves on a terminal, the spinner, the title and the
//! notification, as escape sequences in that text. Nothing here reads or writes a terminal: how wide it is and what it can do
//! comes in as [`Style`] and [`Layout`], and the caller writes what is [`Rendered`].

mod announce;
mod approval;
mod calls;
mod diff;
mod highlight;
mod markdown;
mod notices;
mod outcome;
mod page;
mod rendered;
mod renderer;
mod screen;
mod spinner;
mod summary;
mod words;
mod wrap;

pub use announce::{Announcements, Announcer, Herald};
pub use notices::{Detail, is_spent};
pub use page::Style;
pub use rendered::{Rendered, Stream};
pub use renderer::{Layout, Renderer};
pub use screen::Screen;
pub use spinner::{FRAME_MS, Spinner};
pub use words::one_line;
