//! A conversation, line by line: for a person at a terminal.

mod answer;
mod input;
mod lines;
mod questions;
mod talk;

pub(crate) use talk::converse;
