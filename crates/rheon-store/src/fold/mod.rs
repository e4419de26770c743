//! What a session is now: its events, folded. Pure, and the same for live views and for going on after a crash.

mod close;
mod conversation;
mod doubt;
mod open_run;
mod state;

pub use doubt::Doubt;
pub use state::{Chosen, Cost, SessionState, Spending};

#[cfg(test)]
mod fold_tests;
