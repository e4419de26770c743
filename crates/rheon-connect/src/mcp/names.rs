//! The names that models and rules use for tools of servers: `mcp__server__tool`.

use std::collections::HashSet;

/// The longest name of a tool that servers may give.
const TOOL_CHARS_MAX: usize = 128;

/// `mcp__server__tool`. Characters that services refuse in names become underscores.
pub(super) fn tool_name(server: &str, tool: &str) -> String {
    format!("mcp__{}__{}", word(server), word(tool))
}

/// The same, different from all names in `taken`.
pub(super) fn unique_tool_name(server: &str, tool: &str, taken: &mut HashSet<String>) -> String {
    let name = tool_name(server, tool);
    let mut unique = name.clone();
    let mut number = 1;
    while !taken.insert(unique.clone()) {
        number += 1;
        unique = format!("{name}_{number}");
    }
    unique
}

fn word(text: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.chars().take(TOOL_CHARS_MAX).map(|c| if fits(c) { c } else { '_' }).collect()
}
