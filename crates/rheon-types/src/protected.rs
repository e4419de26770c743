//! File names that tools and file restores must not change without approval.

use std::ffi::OsStr;

/// Names that are protected anywhere in a workspace, because changing them can make programs run code.
pub const PROTECTED_NAMES: [&str; 12] = [
    ".git",
    ".rheon",
    ".claude",
    ".agent",
    ".agents",
    ".codex",
    ".cursor",
    ".gemini",
    ".husky",
    ".idea",
    ".mcp.json",
    ".vscode",
];

/// Whether `name` is protected. Letter case is ignored, as some file systems do.
pub fn is_protected_name(name: &OsStr) -> bool {
    PROTECTED_NAMES.iter().any(|protected| name.eq_ignore_ascii_case(protected))
}
