//! Parallel runs. So far: the state of a git repository, and a worktree for each session.

#![allow(missing_docs)]

pub mod git;
