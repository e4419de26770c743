//! Text that must be judged the same way everywhere: characters that are unsafe to show, what a secret looks like, the
//! nearest word, units.
//!
//! Everything here is a pure function over text. There is one table of each kind; a crate that shows, stores or sends text
//! asks here and keeps no list of its own.

mod characters;
mod escape;
mod nearest;
pub mod secrets;
pub mod units;

pub use characters::{Hazard, TextContext, hazard};
pub use escape::{inert, visible, visible_block};
pub use nearest::{did_you_mean, nearest};
