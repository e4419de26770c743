//! Rewinds an open session to before a prompt: its files, its conversation, or both.

use rheon_types::ClientError;
use rheon_types::protocol::{RewindMode, RewindWhat, Rewound};

use super::open::OpenSession;
use crate::sessions::{DryRun, Others, RewindPlan, To, What};

/// Rewinds, or reports what would change. Call it between runs.
pub(super) async fn rewind(
    session: &OpenSession,
    seq: u64,
    what: RewindWhat,
    mode: RewindMode,
) -> Result<Rewound, ClientError> {
    if what == RewindWhat::Files {
        return files(session, seq, mode).await;
    }
    let wanted = session.hub.session_id().to_string();
    let keeps = match what {
        RewindWhat::Files => What::Files,
        RewindWhat::Conversation => What::Conversation,
        RewindWhat::Both => What::Both,
    };
    let plan = session.manager.plan_rewind(&wanted, To::Before(seq), keeps).await;
    let plan = plan.map_err(ClientError::failed)?;
    let mut rewound = planned(&plan);
    let others = match mode {
        RewindMode::Plan => return Ok(rewound),
        RewindMode::Apply => Others::Refuse,
        RewindMode::Force => Others::Overwrite,
    };
    let done = session.manager.rewind(plan, others).await.map_err(ClientError::failed)?;
    rewound.session_id = done.session.map(|name| name.session_id());
    rewound.problem = done
        .files
        .and_then(|files| files.errors.into_iter().next())
        .map(|(path, problem)| format!("cannot restore {}: {problem}", path.display()));
    Ok(rewound)
}

fn planned(plan: &RewindPlan) -> Rewound {
    let files = plan.files.clone().unwrap_or_default();
    let text = |path: &std::path::PathBuf| path.display().to_string();
    Rewound {
        session_id: None,
        count: files.created.saturating_add(files.modified).saturating_add(files.removed) as u64,
        changed: files.changes.iter().map(|change| text(&change.path)).collect(),
        others: files.others.iter().map(text).collect(),
        problem: None,
    }
}

async fn files(session: &OpenSession, seq: u64, mode: RewindMode) -> Result<Rewound, ClientError> {
    let (doing, others) = match mode {
        RewindMode::Plan => (DryRun::Yes, Others::Refuse),
        RewindMode::Apply => (DryRun::No, Others::Refuse),
        RewindMode::Force => (DryRun::No, Others::Overwrite),
    };
    let is_it = move |point: &crate::sessions::Point| point.seq == seq;
    let wanted = format!("event {seq}");
    let rewound = session.manager.rewind_files(&session.handle, &wanted, is_it, (doing, others)).await;
    let rewound = rewound.map_err(ClientError::failed)?;
    let text = |path: std::path::PathBuf| path.display().to_string();
    Ok(Rewound {
        session_id: None,
        count: rewound.count as u64,
        changed: rewound.changed.into_iter().map(text).collect(),
        others: rewound.others.into_iter().map(text).collect(),
        problem: rewound
            .problem
            .map(|(path, problem)| format!("cannot restore {}: {problem}", path.display())),
    })
}
