//! The log: what happened in words, a line each, a file for every day. It has figures and names, never what was said or found.

mod file;
mod lines;
mod redactor;
mod subscriber;

pub(super) use file::DayFiles;
pub(super) use lines::Log;
pub(super) use redactor::Redactor;
