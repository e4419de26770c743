//! A session driven by another program, in Claude Code's stream-json format.

mod drive;
mod input;

pub(crate) use drive::{READS_STATE, StdioOptions, converse};
