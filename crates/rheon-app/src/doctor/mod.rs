//! What works here and what does not, and what to do about it.

mod check;
mod examine;
mod folders;
mod model;
mod network;
mod online;
mod sandbox;

pub use check::{Check, Standing};
pub use examine::{Examination, examine};
pub use network::Network;
