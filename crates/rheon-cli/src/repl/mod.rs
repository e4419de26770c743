//! A conversation, line by line: for a person at a terminal.

mod answer;
mod conversation;
mod dialog;
mod drawing;
mod edited;
mod editing;
mod input;
mod keys;
mod leave;
mod lines;
mod typed;

pub(crate) use conversation::converse;
