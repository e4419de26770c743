//! A rewind is carried out, files first; and a rewind is undone.

use rheon_types::{SessionId, Timestamp};

use super::error::RewindError;
use super::plan::{FilesPlan, RewindPlan};
use crate::checkpoint::{
    CheckpointId, CheckpointMoment, Checkpoints, PruneReport, RestorePlan, RestoreReport, RestoreSelection,
};
use crate::journal::Lease;
use crate::session_name::SessionName;
use crate::sessions::{SessionFileError, SessionFiles};

/// How a rewind is carried out.
#[derive(Debug, Clone)]
pub struct RewindRequest {
    /// The session that goes on, if the conversation is rewound. It must not exist.
    pub session_id: SessionId,
    /// Who does it, and when.
    pub lease: Lease,
    /// What becomes of files that somebody else changed.
    pub others: ConflictPolicy,
}

/// What becomes of files that somebody else changed since the session's last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictPolicy {
    /// Then nothing is rewound.
    Refuse,
    /// They are rewound like all others. They are captured before, so that this can be undone.
    Overwrite,
}

/// What a rewind did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindOutcome {
    /// The session that was rewound. It is as it was.
    pub from: SessionName,
    /// The session that goes on, if the conversation was rewound: resume it.
    pub session: Option<SessionName>,
    /// What became of the files, if any had to change. Where only files were rewound, some of them may have failed.
    pub files: Option<RestoreReport>,
}

/// Carries `plan` out: the files first, then the conversation. If both are wanted and one fails, neither is rewound: the files
/// are put back, and the error says so.
pub fn rewind(
    sessions: &SessionFiles,
    checkpoints: &Checkpoints,
    plan: &RewindPlan,
    by: &RewindRequest,
) -> Result<RewindOutcome, RewindError> {
    let session = match plan.conversation {
        Some(_) => Some(new_name(sessions, &by.session_id)?),
        None => None,
    };
    let files = match plan.files.as_ref() {
        None => None,
        Some(files) => restore(checkpoints, plan, files, by)?,
    };
    let rewound = RewindOutcome { from: plan.name.clone(), session, files };
    if rewound.session.is_some() {
        let done = match failure(rewound.files.as_ref()) {
            Some(reason) => Err(reason),
            None => sessions
                .fork(&plan.name, plan.seq, &by.session_id, &by.lease)
                .map(drop)
                .map_err(|error| error.to_string()),
        };
        if let Err(reason) = done {
            return Err(put_back(checkpoints, &rewound, reason, by.lease.at));
        }
        if rewound.files.is_some() {
            // It may have no event of the old one, and still these changes are none of somebody else's.
            checkpoints.mark(&by.session_id).ok();
        }
    }
    Ok(rewound)
}

/// Puts the files back that a rewind changed. The conversation needs nothing: the session that was rewound is as it was.
pub fn undo(
    checkpoints: &Checkpoints,
    rewound: &RewindOutcome,
    others: ConflictPolicy,
    at: Timestamp,
) -> Result<Option<RestoreReport>, RewindError> {
    let Some(files) = &rewound.files else { return Ok(None) };
    let plan = checkpoints.plan_restore(&files.undo, RestoreSelection::All)?;
    let family: Vec<_> =
        [Some(rewound.from.clone()), rewound.session.clone()].into_iter().flatten().collect();
    let changed = checkpoints.changed_by_others(&family, plan.overwritten());
    if let (ConflictPolicy::Refuse, Some(first)) = (others, changed.first()) {
        return Err(RewindError::Conflicts { count: changed.len(), first: first.to_path_buf() });
    }
    let label = format!("before the rewind of session {} is undone", rewound.from);
    execute(checkpoints, &plan, &rewound.from, label, at).map(Some)
}

fn new_name(sessions: &SessionFiles, session_id: &SessionId) -> Result<SessionName, RewindError> {
    let name = SessionName::try_from(session_id).map_err(SessionFileError::from)?;
    if sessions.contains(&name)? {
        return Err(RewindError::Exists { name });
    }
    Ok(name)
}

fn restore(
    checkpoints: &Checkpoints,
    plan: &RewindPlan,
    files: &FilesPlan,
    by: &RewindRequest,
) -> Result<Option<RestoreReport>, RewindError> {
    let Some(restore) = &files.restore else { return Ok(None) };
    // Asked once more: time has passed since the plan was made.
    let changed = checkpoints.changed_by_others(&plan.family, restore.overwritten());
    if let (ConflictPolicy::Refuse, Some(first)) = (by.others, changed.first()) {
        return Err(RewindError::Conflicts { count: changed.len(), first: first.to_path_buf() });
    }
    let label = format!("before session {} is rewound to event {}", plan.name, plan.seq);
    execute(checkpoints, restore, &plan.name, label, by.lease.at).map(Some)
}

/// Restores, and says that the changes are the session's.
fn execute(
    checkpoints: &Checkpoints,
    plan: &RestorePlan,
    session: &SessionName,
    label: String,
    at: Timestamp,
) -> Result<RestoreReport, RewindError> {
    // Without a number: it belongs to the session, but no place in its log.
    let moment =
        CheckpointMoment { label, at, session_id: Some(session.session_id()), seq: 0, turn_index: 0 };
    let restored = checkpoints.restore(plan, &moment)?;
    // Without the mark the next rewind takes these changes for somebody else's, and asks once more.
    checkpoints.mark(&session.session_id()).ok();
    Ok(restored)
}

/// Why the conversation is not rewound after the files.
fn failure(files: Option<&RestoreReport>) -> Option<String> {
    let (path, problem) = files?.errors.first()?;
    Some(format!("cannot restore {}: {problem}", path.display()))
}

fn put_back(
    checkpoints: &Checkpoints,
    rewound: &RewindOutcome,
    reason: String,
    at: Timestamp,
) -> RewindError {
    let in_part = |undo: &CheckpointId, problem: String| RewindError::InPart {
        reason: format!("{reason}; {problem}"),
        undo: undo.clone(),
    };
    let Some(files) = &rewound.files else { return RewindError::PutBack { reason } };
    match undo(checkpoints, rewound, ConflictPolicy::Overwrite, at) {
        Ok(back) => match failure(back.as_ref()) {
            None => RewindError::PutBack { reason },
            Some(problem) => in_part(&files.undo, problem),
        },
        Err(error) => in_part(&files.undo, error.to_string()),
    }
}

/// Removes the checkpoints of sessions that are no more, and what only those used. Where it cannot be told whether there is
/// such a session, its checkpoints stay.
pub fn sweep(sessions: &SessionFiles, checkpoints: &Checkpoints) -> Result<PruneReport, RewindError> {
    // Asked for each one under the lock: a session is written down before its first checkpoint is made.
    Ok(checkpoints.forget(|name| sessions.contains(name).is_ok_and(|is_there| !is_there))?)
}
