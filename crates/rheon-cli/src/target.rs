//! `SessionTarget`: which session to open and where it works: in the user's directory or in a separate worktree.

use std::path::{Path, PathBuf};

use rheon_app::session::SystemContext;
use rheon_app::worktree::{
    Worktree, WorktreeError, WorktreeName, WorktreeOutcome, worktree_named, worktree_of_session,
};
use rheon_types::SessionId;
use rheon_types::protocol::SessionChoice;

use crate::failure::Failure;
use crate::output::print_note;

pub(crate) struct SessionTarget {
    /// The system, with the session's working directory.
    pub(crate) system: SystemContext,
    pub(crate) choice: SessionChoice,
    /// The user's directory, if the session works in a worktree.
    user_dir: Option<PathBuf>,
    worktree: Option<Worktree>,
}

impl SessionTarget {
    /// Opens the worktree that is requested, with or without a name, or that the session used before.
    pub(crate) async fn of(
        mut system: SystemContext,
        mut choice: SessionChoice,
        requested: Option<&Option<String>>,
    ) -> Result<Self, Failure> {
        let wanted = match requested {
            Some(Some(name)) => {
                let name = WorktreeName::parse(name);
                let name =
                    name.map_err(|error| Failure::usage(format_args!("{error} (put the prompt before -w)")))?;
                Some(worktree_named(name, &system))
            }
            Some(None) => {
                let name = WorktreeName::of_session(&session_id(&mut choice, &system)?);
                Some(worktree_named(name.map_err(Failure::usage)?, &system))
            }
            None => worktree_of_session(&system, &choice).await,
        };
        let worktree = match wanted {
            Some(wanted) => Some(Worktree::open(wanted).await.map_err(failure)?),
            None => None,
        };
        let user_dir = worktree
            .as_ref()
            .map(|worktree| std::mem::replace(&mut system.working_dir, worktree.working_dir().to_owned()));
        Ok(Self { system, choice, user_dir, worktree })
    }

    /// The repository of the session's worktree, if it has one.
    pub(crate) fn worktree_of(&self) -> Option<PathBuf> {
        self.worktree.as_ref().map(|worktree| worktree.repository_dir().to_owned())
    }

    /// The directory in which the user started the program.
    pub(crate) fn user_dir(&self) -> &Path {
        self.user_dir.as_deref().unwrap_or(&self.system.working_dir)
    }

    /// Resolves a path against the user's directory.
    pub(crate) fn user_path(&self, path: &Path) -> PathBuf {
        match &self.user_dir {
            Some(dir) => dir.join(path),
            None => path.to_owned(),
        }
    }

    /// Resolves text that may be a file name.
    pub(crate) fn user_file(&self, text: &str) -> String {
        match self.user_path(Path::new(text)).to_str() {
            Some(path) if Path::new(path).is_file() => path.to_owned(),
            Some(_) | None => text.to_owned(),
        }
    }

    /// Removes an unchanged worktree at the end of the session; prints where a changed one is.
    pub(crate) async fn leave(self) {
        if let Some(worktree) = self.worktree {
            match worktree.end().await {
                WorktreeOutcome::Removed => {}
                WorktreeOutcome::Kept(stays) => print_note(&format!("note: {stays}")),
            }
        }
    }
}

/// The id of a new session.
fn session_id(choice: &mut SessionChoice, system: &SystemContext) -> Result<SessionId, Failure> {
    match choice {
        SessionChoice::New { session_id: Some(session_id) } => Ok(session_id.clone()),
        SessionChoice::New { session_id: None } => {
            let random = [system.random.next_u64(), system.random.next_u64()];
            let session_id = SessionId::generate(system.clock.now(), random);
            *choice = SessionChoice::New { session_id: Some(session_id.clone()) };
            Ok(session_id)
        }
        SessionChoice::Latest
        | SessionChoice::Named { .. }
        | SessionChoice::ForkOfLatest
        | SessionChoice::ForkOf { .. } => Err(Failure::usage(
            "-w needs a name together with -c or -r; without -w a session resumes in its own worktree",
        )),
    }
}

/// Errors that another name, directory or flag would avoid are usage errors.
fn failure(error: WorktreeError) -> Failure {
    if error.is_usage() { Failure::usage(error) } else { Failure::error(error) }
}
