//! What works here and what does not, and what to do about it.

mod check;
mod dirs;
mod examine;
mod model;
mod network;
mod online;
mod sandbox;

pub use check::{Check, CheckStatus};
pub use examine::{DoctorRequest, examine};
pub use network::NetworkChecks;
