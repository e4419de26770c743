//! A session that another program drives: lines of Claude Code's stream-json go in and come out.

mod drive;
mod lines;
mod names;
mod rewound;

pub(crate) use drive::{Driver, READS_STATE, converse};
