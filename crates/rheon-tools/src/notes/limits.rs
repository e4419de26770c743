//! How much of everything there may be.

/// How many notes a folder may hold.
pub const NOTES_MAX: usize = 1_000;

/// How large the file of a note may be.
pub const NOTE_BYTES_MAX: u64 = 16 * 1024;
