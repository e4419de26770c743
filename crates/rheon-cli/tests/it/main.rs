//! Tests of the program as it is used: arguments and signals in, text and exit codes out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

#[cfg(unix)]
mod approvals;
mod commands;
#[cfg(unix)]
mod conversation;
mod demo;
#[cfg(unix)]
mod documents;
mod driving;
mod exits;
#[cfg(unix)]
mod first_run;
mod formats;
mod going_on;
mod help;
mod hooks;
mod limits;
mod manual;
mod mcp;
mod mcp_login;
mod next_steps;
mod old_journals;
mod permissions;
#[cfg(unix)]
mod recording;
mod sandbox_clean;
#[cfg(unix)]
mod screens;
#[cfg(target_os = "linux")]
mod session_servers;
#[cfg(unix)]
mod shell;
mod stage;
mod support;
#[cfg(unix)]
mod terminal;
mod trace;
mod trouble;
#[cfg(target_os = "linux")]
mod walls;
mod worktree;
mod wrong;
