//! Flags that say in which session to speak.

/// In which session to speak.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Session")]
pub(crate) struct SessionFlags {
    /// Go on with the session of this folder that was active last
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub(crate) go_on: bool,

    /// Go on with this session: its id, or the beginning of it; one of Claude Code's too
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub(crate) resume: Option<String>,

    /// With -c or -r: leave that session as it is and go on in a new one
    #[arg(long)]
    pub(crate) fork_session: bool,

    /// Begin a session with this id (a UUID)
    #[arg(long, value_name = "UUID", conflicts_with_all = ["go_on", "resume"])]
    pub(crate) session_id: Option<String>,

    /// Work in a git worktree of its own, on a branch of its own (NAME is made up if absent); gone at the end if nothing changed
    #[arg(short, long, value_name = "NAME", num_args = 0..=1)]
    pub(crate) worktree: Option<Option<String>>,

    /// Keep nothing of this session
    #[arg(long)]
    pub(crate) no_session_persistence: bool,
}
