//! Folds events into the state of a session. Pure, and the same for live views and for resuming after a crash.

mod close;
mod conversation;
mod open_run;
mod state;
mod unfinished_call;

pub use state::{Cost, SessionChoices, SessionState, Spending};
pub use unfinished_call::UnfinishedCall;

#[cfg(test)]
mod fold_tests;
