//! Rewinds an open session to before a prompt: its files, its conversation, or both.

use rheon_types::ClientError;
use rheon_types::protocol::{RewindMode, RewindResult, RewindScope};

use super::open::OpenSession;
use crate::sessions::{ConflictPolicy, FileRewind, RestoreScope, RewindPlan, RewindTo};

/// Rewinds, or reports what would change. Call it between runs.
pub(super) async fn rewind(
    session: &OpenSession,
    seq: u64,
    what: RewindScope,
    mode: RewindMode,
) -> Result<RewindResult, ClientError> {
    if what == RewindScope::Files {
        return files(session, seq, mode).await;
    }
    let wanted = session.hub.session_id().to_string();
    let keeps = match what {
        RewindScope::Files => RestoreScope::Files,
        RewindScope::Conversation => RestoreScope::Conversation,
        RewindScope::Both => RestoreScope::Both,
    };
    let plan = session.manager.plan_rewind(&wanted, RewindTo::Before(seq), keeps).await;
    let plan = plan.map_err(ClientError::failed)?;
    let mut rewound = planned(&plan);
    let others = match mode {
        RewindMode::Plan => return Ok(rewound),
        RewindMode::Apply => ConflictPolicy::Refuse,
        RewindMode::Force => ConflictPolicy::Overwrite,
    };
    let done = session.manager.rewind(plan, others).await.map_err(ClientError::failed)?;
    rewound.session_id = done.session.map(|name| name.session_id());
    rewound.problem = done
        .files
        .and_then(|files| files.errors.into_iter().next())
        .map(|(path, problem)| format!("cannot restore {}: {problem}", path.display()));
    Ok(rewound)
}

fn planned(plan: &RewindPlan) -> RewindResult {
    let files = plan.files.clone().unwrap_or_default();
    let text = |path: &std::path::PathBuf| path.display().to_string();
    RewindResult {
        session_id: None,
        count: files.created.saturating_add(files.modified).saturating_add(files.removed) as u64,
        changed: files.changes.iter().map(|change| text(&change.path)).collect(),
        others: files.others.iter().map(text).collect(),
        unguarded: files.unguarded.iter().map(ToString::to_string).collect(),
        problem: None,
    }
}

async fn files(session: &OpenSession, seq: u64, mode: RewindMode) -> Result<RewindResult, ClientError> {
    let doing = match mode {
        RewindMode::Plan => FileRewind::Plan,
        RewindMode::Apply => FileRewind::Apply(ConflictPolicy::Refuse),
        RewindMode::Force => FileRewind::Apply(ConflictPolicy::Overwrite),
    };
    let is_it = move |point: &crate::sessions::RewindPoint| point.seq == seq;
    let wanted = format!("event {seq}");
    let rewound = session.manager.rewind_files(&session.handle, &wanted, is_it, doing).await;
    let rewound = rewound.map_err(ClientError::failed)?;
    let text = |path: std::path::PathBuf| path.display().to_string();
    Ok(RewindResult {
        session_id: None,
        count: rewound.count as u64,
        changed: rewound.changed.into_iter().map(text).collect(),
        others: rewound.others.into_iter().map(text).collect(),
        unguarded: rewound.unguarded.iter().map(ToString::to_string).collect(),
        problem: rewound
            .problem
            .map(|(path, problem)| format!("cannot restore {}: {problem}", path.display())),
    })
}
