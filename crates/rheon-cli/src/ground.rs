//! `Ground`: where a session works: in the folder of the user, or in a worktree of its own for as long as the session lasts.

use std::path::{Path, PathBuf};

use rheon_app::session::SystemContext;
use rheon_app::worktree::{
    Worktree, WorktreeError, WorktreeName, WorktreeOutcome, worktree_named, worktree_of_session,
};
use rheon_types::SessionId;
use rheon_types::protocol::SessionChoice;

use crate::failure::Failure;
use crate::output::remark;

/// Where a session works, and which session.
pub(crate) struct Ground {
    /// The machine, with the folder that the session works in.
    pub(crate) system: SystemContext,
    /// Which session.
    pub(crate) choice: SessionChoice,
    /// Where the user is, if the session works elsewhere.
    user_folder: Option<PathBuf>,
    worktree: Option<Worktree>,
}

impl Ground {
    /// The ground of the session `choice`. A worktree that is `asked_for`, by a name or without one, or that the session worked in before,
    /// is made or gone on with.
    pub(crate) async fn of(
        mut system: SystemContext,
        mut choice: SessionChoice,
        asked_for: Option<&Option<String>>,
    ) -> Result<Self, Failure> {
        let wanted = match asked_for {
            Some(Some(name)) => {
                let name = WorktreeName::parse(name);
                let name =
                    name.map_err(|error| Failure::usage(format_args!("{error} (a prompt goes before -w)")))?;
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
        let user_folder = worktree.as_ref().map(|worktree| {
            std::mem::replace(&mut system.working_folder, worktree.working_folder().to_owned())
        });
        Ok(Self { system, choice, user_folder, worktree })
    }

    /// The repository whose worktree the session works in, if it does.
    pub(crate) fn worktree_of(&self) -> Option<PathBuf> {
        self.worktree.as_ref().map(|worktree| worktree.repository_folder().to_owned())
    }

    /// A path as the user means it, wherever the session works.
    pub(crate) fn user_path(&self, path: &Path) -> PathBuf {
        match &self.user_folder {
            Some(folder) => folder.join(path),
            None => path.to_owned(),
        }
    }

    /// The same for what may be the name of a file.
    pub(crate) fn user_file(&self, text: &str) -> String {
        match self.user_path(Path::new(text)).to_str() {
            Some(path) if Path::new(path).is_file() => path.to_owned(),
            Some(_) | None => text.to_owned(),
        }
    }

    /// The session is over: a worktree in which nothing was changed goes; of one that stays, the user is told.
    pub(crate) async fn leave(self) {
        if let Some(worktree) = self.worktree {
            match worktree.end().await {
                WorktreeOutcome::Removed => {}
                WorktreeOutcome::Kept(stays) => remark(&format!("note: {stays}")),
            }
        }
    }
}

/// The id that a new session will have.
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
            "with -c or -r, -w needs a name; without -w a session goes on in the worktree that it worked in",
        )),
    }
}

/// What another name, folder or flag helps against is wrong usage.
fn failure(error: WorktreeError) -> Failure {
    if error.is_usage() { Failure::usage(error) } else { Failure::error(error) }
}
