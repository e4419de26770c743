//! Executes a rewind, files first, and undoes one.

use rheon_types::{SessionId, Timestamp};

use super::error::RewindError;
use super::plan::{FilesPlan, RewindPlan};
use crate::checkpoint::{
    CheckpointId, CheckpointMoment, Checkpoints, PruneReport, RestorePlan, RestoreReport, RestoreSelection,
};
use crate::journal::Lease;
use crate::session_name::SessionName;
use crate::sessions::{SessionFileError, SessionFiles};

#[derive(Debug, Clone)]
pub struct RewindRequest {
    /// The id of the new session, if the conversation is rewound. It must not exist yet.
    pub session_id: SessionId,
    pub lease: Lease,
    pub others: ConflictPolicy,
}

/// How to treat files that someone other than the session changed after its last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictPolicy {
    /// Fail without rewinding anything.
    Refuse,
    /// Rewind them too. They are captured first, so that this can be undone.
    Overwrite,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewindOutcome {
    /// The session that was rewound. It is unchanged.
    pub from: SessionName,
    /// The new session to resume, if the conversation was rewound.
    pub session: Option<SessionName>,
    /// The restored files, if any had to change. If only files were rewound, some of them may have failed.
    pub files: Option<RestoreReport>,
}

/// Executes `plan`: the files first, then the conversation. If both are requested and one fails, neither is rewound:
/// the files are put back, and the error says so.
pub fn rewind(
    sessions: &SessionFiles,
    checkpoints: &Checkpoints,
    plan: &RewindPlan,
    request: &RewindRequest,
) -> Result<RewindOutcome, RewindError> {
    let session = match plan.conversation {
        Some(_) => Some(new_name(sessions, &request.session_id)?),
        None => None,
    };
    let files = match plan.files.as_ref() {
        None => None,
        Some(files) => restore(checkpoints, plan, files, request)?,
    };
    let outcome = RewindOutcome { from: plan.name.clone(), session, files };
    if outcome.session.is_some() {
        let done = match failure(outcome.files.as_ref()) {
            Some(reason) => Err(reason),
            None => sessions
                .fork(&plan.name, plan.seq, &request.session_id, &request.lease)
                .map(drop)
                .map_err(|error| error.to_string()),
        };
        if let Err(reason) = done {
            return Err(put_files_back(checkpoints, &outcome, reason, request.lease.at));
        }
        if outcome.files.is_some() {
            // The new session may have no events yet, but these changes are its own.
            checkpoints.mark(&request.session_id).ok();
        }
    }
    Ok(outcome)
}

/// Puts back the files that a rewind changed. The conversation needs no undo: the rewound session is unchanged.
pub fn undo(
    checkpoints: &Checkpoints,
    outcome: &RewindOutcome,
    others: ConflictPolicy,
    at: Timestamp,
) -> Result<Option<RestoreReport>, RewindError> {
    let Some(files) = &outcome.files else { return Ok(None) };
    let plan = checkpoints.plan_restore(&files.undo, RestoreSelection::All)?;
    let lineage: Vec<_> =
        [Some(outcome.from.clone()), outcome.session.clone()].into_iter().flatten().collect();
    let changed = checkpoints.changed_by_others(&lineage, plan.overwritten());
    if let (ConflictPolicy::Refuse, Some(first)) = (others, changed.first()) {
        return Err(RewindError::Conflicts { count: changed.len(), first: first.to_path_buf() });
    }
    let label = format!("before undoing the rewind of session {}", outcome.from);
    execute(checkpoints, &plan, &outcome.from, label, at).map(Some)
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
    request: &RewindRequest,
) -> Result<Option<RestoreReport>, RewindError> {
    let Some(restore) = &files.restore else { return Ok(None) };
    // Check again: files may have changed since the plan was made.
    let changed = checkpoints.changed_by_others(&plan.lineage, restore.overwritten());
    if let (ConflictPolicy::Refuse, Some(first)) = (request.others, changed.first()) {
        return Err(RewindError::Conflicts { count: changed.len(), first: first.to_path_buf() });
    }
    let label = format!("before rewinding session {} to event {}", plan.name, plan.seq);
    execute(checkpoints, restore, &plan.name, label, request.lease.at).map(Some)
}

/// Restores files and marks the changes as the session's own.
fn execute(
    checkpoints: &Checkpoints,
    plan: &RestorePlan,
    session: &SessionName,
    label: String,
    at: Timestamp,
) -> Result<RestoreReport, RewindError> {
    // No event number: this checkpoint has no position in the session's log.
    let moment =
        CheckpointMoment { label, at, session_id: Some(session.session_id()), seq: 0, turn_index: 0 };
    let restored = checkpoints.restore(plan, &moment)?;
    // Without the mark, the next rewind reports these changes as conflicts.
    checkpoints.mark(&session.session_id()).ok();
    Ok(restored)
}

/// Why the conversation cannot be rewound after the files.
fn failure(files: Option<&RestoreReport>) -> Option<String> {
    let (path, problem) = files?.errors.first()?;
    Some(format!("cannot restore {}: {problem}", path.display()))
}

fn put_files_back(
    checkpoints: &Checkpoints,
    outcome: &RewindOutcome,
    reason: String,
    at: Timestamp,
) -> RewindError {
    let in_part = |undo: &CheckpointId, problem: String| RewindError::InPart {
        reason: format!("{reason}; {problem}"),
        undo: undo.clone(),
    };
    let Some(files) = &outcome.files else { return RewindError::PutBack { reason } };
    match undo(checkpoints, outcome, ConflictPolicy::Overwrite, at) {
        Ok(back) => match failure(back.as_ref()) {
            None => RewindError::PutBack { reason },
            Some(problem) => in_part(&files.undo, problem),
        },
        Err(error) => in_part(&files.undo, error.to_string()),
    }
}

/// Removes the checkpoints of deleted sessions, and the payloads only they used. Checkpoints stay if it is unclear
/// whether their session exists.
pub fn sweep(sessions: &SessionFiles, checkpoints: &Checkpoints) -> Result<PruneReport, RewindError> {
    // A directory that is missing may have been moved.
    if !sessions.has_directory() {
        return Ok(PruneReport::default());
    }
    // Check each one under the lock: a session is saved before its first checkpoint.
    Ok(checkpoints.forget(|name| sessions.contains(name).is_ok_and(|is_there| !is_there))?)
}
