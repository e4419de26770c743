//! How much of everything there may be.

/// How many commands there may be.
pub const COMMANDS_MAX: usize = 1_000;

/// How large the file of a command may be.
pub const COMMAND_BYTES_MAX: u64 = 64 * 1024;

/// How deep folders may lie in each other.
pub(super) const DEPTH_MAX: usize = 5;
