//! Spellings of protected names.

use std::ffi::OsStr;

use super::is_protected_name;

#[test]
fn every_spelling_that_a_file_system_takes_for_a_protected_name_counts() {
    for name in [
        ".git",
        ".GIT",
        ".git.",
        ".git ",
        ".git. .",
        ".git::$INDEX_ALLOCATION",
        "GIT~1",
        "git~12",
        ".g\u{200c}it",
        "CLAUDE~1",
        "MCP~1.JSO",
        "VSCODE~2",
        ".Mcp.Json ",
    ] {
        assert!(is_protected_name(OsStr::new(name)), "{name:?}");
    }
    for name in [
        "git",
        ".gitignore",
        ".github",
        ".gitmodules",
        "GIT~",
        "GIT~x",
        "~git",
        "legit~1",
        ".git~",
        "main.rs",
        "",
        ".",
        "..",
        "a b",
        "notes:git",
        "mcp.json",
        ".vscode-test",
    ] {
        assert!(!is_protected_name(OsStr::new(name)), "{name:?}");
    }
}
