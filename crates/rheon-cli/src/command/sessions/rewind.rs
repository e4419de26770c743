//! `rheon sessions rewind`.

use std::io::{IsTerminal as _, stdin};

use clap::ValueEnum;
use rheon_app::sessions::{
    CheckpointId, ConflictPolicy, FilesPlan, PointFiles, RestoreReport, RestoreScope, RewindError,
    RewindPlan, RewindPoint, RewindTo, SessionError, SessionManager,
};
use rheon_text::units::{ago, count};
use rheon_types::Timestamp;

use super::argument::SessionArgument;
use super::manager::manager;
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_note};
use crate::runtime::block_on;
use crate::table::{Side, Table};

const SHOWN_MAX: usize = 200;

/// Undo everything after one of your prompts: conversation, files or both
///
/// Without --to, lists the prompts. The session itself is not changed: the conversation continues in a new one. The current files are
/// saved first, so a rewind can be undone (--undo).
#[derive(Debug, clap::Args)]
pub(crate) struct Rewind {
    #[command(flatten)]
    session: SessionArgument,

    /// Rewind to before this prompt
    #[arg(long, value_name = "EVENT")]
    to: Option<u64>,

    /// Undo a rewind: restore the files it saved under this id
    #[arg(long, value_name = "KEPT", conflicts_with_all = ["to", "what"])]
    undo: Option<String>,

    /// Set what to rewind
    #[arg(long, value_name = "WHAT", default_value = "both")]
    what: ScopeFlag,

    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,

    /// Also restore files that others changed since
    #[arg(long)]
    overwrite: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ScopeFlag {
    Conversation,
    Files,
    Both,
}

impl Rewind {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (manager, system) = manager()?;
        let session = block_on(self.session.name(&manager))?;
        if let Some(kept_as) = &self.undo {
            return block_on(self.undo(&manager, &session, kept_as));
        }
        let Some(to) = self.to else {
            let points = block_on(async { manager.points(&session).await.map_err(Failure::error) })?;
            return print(&listed(&points, system.clock.now()));
        };
        block_on(self.rewind(manager, &session, to))
    }

    async fn rewind(self, manager: SessionManager, session: &str, to: u64) -> Result<Exit, Failure> {
        let what = match self.what {
            ScopeFlag::Conversation => RestoreScope::Conversation,
            ScopeFlag::Files => RestoreScope::Files,
            ScopeFlag::Both => RestoreScope::Both,
        };
        let plan = manager.plan_rewind(session, RewindTo::Before(to), what).await.map_err(Failure::error)?;
        if !self.yes {
            print_note(&planned(&plan));
            if !stdin().is_terminal() {
                return Err(Failure::usage("not confirmed: use --yes to skip the question"));
            }
            match ask("Rewind?").map_err(Failure::error)? {
                Answer::Yes => {}
                Answer::No => return print("nothing changed\n"),
            }
        }
        let dropped = plan.conversation.as_ref().map(|conversation| conversation.count as u64);
        let unguarded = plan.files.as_ref().and_then(unguarded);
        let rewound = manager.rewind(plan, self.others()).await.map_err(|error| self.refused(&error))?;
        let mut lines: Vec<String> =
            dropped.map(|dropped| format!("{} dropped", count(dropped, "message"))).into_iter().collect();
        lines.extend(rewound.files.iter().flat_map(done));
        lines.extend(unguarded);
        print_note(&lines.join("\n"));
        if let Some(files) = &rewound.files {
            let (from, kept_as) = (&rewound.from, &files.undo);
            print_note(&format!("to undo: rheon sessions rewind {from} --undo {kept_as}"));
        }
        if let Some(session) = &rewound.session {
            print_note(&format!("the conversation continues in a new session: rheon -r {session}"));
            return print(&format!("{session}\n"));
        }
        Ok(Exit::Done)
    }

    async fn undo(&self, manager: &SessionManager, session: &str, kept_as: &str) -> Result<Exit, Failure> {
        let id = CheckpointId::parse(kept_as).ok_or_else(|| {
            Failure::usage(format_args!("unknown id {kept_as:?} for --undo; the rewind printed it"))
        })?;
        let undone = manager.undo_rewind(session, id, self.others()).await;
        let undone = undone.map_err(|error| self.refused(&error))?;
        print_note(&undone.iter().flat_map(done).collect::<Vec<_>>().join("\n"));
        Ok(Exit::Done)
    }

    fn others(&self) -> ConflictPolicy {
        if self.overwrite { ConflictPolicy::Overwrite } else { ConflictPolicy::Refuse }
    }

    /// Adds how to override changes of others.
    fn refused(&self, error: &SessionError) -> Failure {
        let is_others = matches!(error, SessionError::Rewind(RewindError::Conflicts { .. }));
        let hint = if is_others { "; restore them anyway with --overwrite" } else { "" };
        Failure::error(format_args!("{error}{hint}"))
    }
}

fn done(files: &RestoreReport) -> Vec<String> {
    let (restored, removed) = (&files.restored, &files.removed);
    let mut lines = vec![format!("files: {} restored, {} removed", restored.len(), removed.len())];
    let all = restored.iter().chain(removed);
    lines.extend(all.clone().take(SHOWN_MAX).map(|path| format!("  {}", path.display())));
    if all.clone().count() > SHOWN_MAX {
        lines.push("  …".into());
    }
    let kept = files.skipped.iter();
    lines.extend(kept.map(|kept| format!("not restored: {}: {}", kept.path.display(), kept.reason)));
    let failed = files.errors.iter();
    lines.extend(failed.map(|(path, problem)| format!("failed: {}: {problem}", path.display())));
    lines
}

fn unguarded(files: &FilesPlan) -> Option<String> {
    let tools: Vec<&str> = files.unguarded.iter().map(|name| name.as_str()).collect();
    let is_any = !tools.is_empty();
    is_any.then(|| format!("changes by {} stay: no checkpoint was saved before them", tools.join(", ")))
}

fn listed(points: &[RewindPoint], now: Timestamp) -> String {
    let columns = [("event", Side::Right), ("said", Side::Left), ("files", Side::Left), ("what", Side::Left)];
    let mut table = Table::new(&columns);
    for point in points {
        let files = match point.files {
            PointFiles::Unchanged => "unchanged",
            PointFiles::Saved => "kept",
            PointFiles::Pruned => "lost",
        };
        table.row([
            point.seq.to_string(),
            ago(now.as_millis().saturating_sub(point.at.as_millis())),
            files.into(),
            point.text.clone(),
        ]);
    }
    table.text()
}

fn planned(plan: &RewindPlan) -> String {
    let mut lines = Vec::new();
    if let Some(conversation) = &plan.conversation {
        lines.push(format!("{} will be dropped", count(conversation.count as u64, "message")));
    }
    if let Some(files) = &plan.files {
        let (created, modified, removed) = (files.created, files.modified, files.removed);
        lines.push(format!("files: {created} restored, {modified} changed back, {removed} removed"));
        lines.extend(files.changes.iter().map(|change| format!("  {}", change.path.display())));
        if files.conflicts_count > 0 {
            lines.push(format!("{} of them were changed by others since", files.conflicts_count));
        }
        lines.extend(unguarded(files));
    }
    lines.join("\n")
}
