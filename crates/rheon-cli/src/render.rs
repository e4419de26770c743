//! Events become the text a person reads. Everything here takes events and gives text; whoever calls it writes it.

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

pub(crate) use announce::{Announcements, Announcer, Herald};
pub(crate) use notices::{Detail, is_spent};
pub(crate) use page::Style;
pub(crate) use rendered::{Rendered, Stream};
pub(crate) use renderer::{Layout, Renderer};
pub(crate) use screen::Screen;
pub(crate) use spinner::{FRAME_MS, Spinner};
pub(crate) use words::one_line;
