//! What a session is now: its events, folded. Pure, and the same for live views and for going on after a crash.

mod close;
mod conversation;
mod open_run;
mod state;
mod unfinished_call;

pub use state::{Cost, SessionChoices, SessionState, Spending};
pub use unfinished_call::UnfinishedCall;

#[cfg(test)]
mod fold_tests;
