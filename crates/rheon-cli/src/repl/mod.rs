//! A conversation, line by line: for a person at a terminal.

mod answer;
mod commands;
mod completion;
mod conversation;
mod dialog;
mod drawing;
mod edited;
mod editing;
mod input;
mod keys;
mod leave;
mod lines;
mod past;
mod picker;
mod typed;

pub(crate) use conversation::{ReplInputs, converse};
pub(crate) use picker::{Picked, Picker, QUESTION};
