//! Text rules shared by all crates: characters that are unsafe to show, secrets, suggestions for misspelled words,
//! units.
//!
//! Everything here is a pure function over text. There is one table of each kind; a crate that shows, stores or sends
//! text uses these and keeps no list of its own.

#![allow(missing_docs)]

mod characters;
mod escape;
mod nearest;
pub mod secrets;
pub mod units;

pub use characters::{Hazard, TextContext, hazard};
pub use escape::{inert, visible, visible_block};
pub use nearest::{did_you_mean, nearest};
