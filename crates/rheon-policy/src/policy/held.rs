//! `HeldCommands`: whether a sandbox spares questions.

/// What becomes of commands that no rule mentions, that change the workspace and nothing worse, and that a sandbox holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HeldCommands {
    /// They are asked about, like edits.
    #[default]
    Ask,
    /// They run: no network, no keys, no writing outside the workspace. For a sandbox that keeps all three.
    Run,
}
