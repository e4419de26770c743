//! The log for people: one line per event, one file per day. It contains names and figures, never the content of messages or results.

mod file;
mod lines;
mod redactor;
mod subscriber;

pub(super) use file::DayFiles;
pub(super) use lines::Log;
pub(super) use redactor::Redactor;
