//! A session that another program drives: lines of Claude Code's stream-json go in and come out.

mod drive;
mod heard;

pub(crate) use drive::{Driver, READS_STATE, converse};
