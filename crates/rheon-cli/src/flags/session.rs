//! Flags that choose the session.

#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Session")]
pub(crate) struct SessionFlags {
    /// Continue the most recent session in this directory
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) continue_latest: bool,

    /// Resume a session by id or id prefix (Claude Code sessions work too)
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,

    /// With -c or -r: continue in a new session and leave the old one unchanged
    #[arg(long)]
    pub(crate) fork_session: bool,

    /// Use this UUID for the new session
    #[arg(long, value_name = "UUID", conflicts_with_all = ["continue_latest", "resume"])]
    pub(crate) session_id: Option<String>,

    /// Work in a separate git worktree and branch, removed if nothing changed
    #[arg(short, long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) worktree: Option<Option<String>>,

    /// Do not save this session
    #[arg(long)]
    pub(crate) no_session_persistence: bool,
}
