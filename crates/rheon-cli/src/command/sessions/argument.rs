//! The session that a command is about.

use rheon_app::sessions::{ListScope, SessionCreator, SessionManager};

use crate::failure::Failure;

/// How many of the newest sessions are looked at for the latest one of Rheon itself.
const LISTED_MAX: usize = 50;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct SessionArgument {
    /// The session, by id or id prefix [default: the latest of this directory]
    session: Option<String>,
}

impl SessionArgument {
    /// What names the session: as typed, or the id of the latest one of this directory.
    pub(super) async fn name(&self, manager: &SessionManager) -> Result<String, Failure> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let listed = manager.list(ListScope::Project, LISTED_MAX).await.map_err(Failure::error)?;
        let latest = listed.into_iter().find(|session| session.maker == SessionCreator::Rheon);
        latest.map(|session| session.session_id.to_string()).ok_or_else(|| {
            Failure::error("no session in this directory; name one from `rheon sessions list --all`")
        })
    }
}
