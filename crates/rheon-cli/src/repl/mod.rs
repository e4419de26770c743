//! A conversation, line by line: for a person at a terminal.

mod again;
mod answer;
mod conversation;
mod drawing;
mod edited;
mod editing;
mod input;
mod keys;
mod lines;
mod talk;
mod typed;

pub(crate) use conversation::converse;
