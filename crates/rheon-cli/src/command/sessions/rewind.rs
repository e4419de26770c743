//! `rheon sessions rewind`.

use std::io::{IsTerminal as _, stdin};

use clap::ValueEnum;
use rheon_app::sessions::{
    CheckpointId, FilesPlan, Others, Point, PointFiles, Restored, RewindError, RewindPlan, SessionError,
    SessionManager, To, What,
};
use rheon_text::units::{ago, count};
use rheon_types::Timestamp;

use super::kept::keeper;
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, remark};
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// How many files are named.
const SHOWN_MAX: usize = 200;

/// Take back what came after something you said: the conversation, the files, or both
///
/// Without --to: list the points to go back to. The session itself stays whole, what goes on is a new one, and the files as they are now
/// are kept first, so a rewind can be taken back too: it says how (--undo).
#[derive(Debug, clap::Args)]
pub(crate) struct Rewind {
    /// Which session
    session: String,

    /// Go back to before this point
    #[arg(long, value_name = "EVENT")]
    to: Option<u64>,

    /// Bring the files back as they were before a rewind, which said what they are kept as
    #[arg(long, value_name = "KEPT", conflicts_with_all = ["to", "what"])]
    undo: Option<String>,

    /// What to take back
    #[arg(long, value_name = "WHAT", default_value = "both")]
    what: WhatFlag,

    /// Do it without asking
    #[arg(short, long)]
    yes: bool,

    /// Take back files, too, that somebody else changed since
    #[arg(long)]
    overwrite: bool,
}

/// What to take back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WhatFlag {
    Conversation,
    Files,
    Both,
}

impl Rewind {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (keeper, system) = keeper()?;
        if let Some(kept_as) = &self.undo {
            return block_on(self.undo(&keeper, kept_as));
        }
        let Some(to) = self.to else {
            let points = block_on(async { keeper.points(&self.session).await.map_err(Failure::error) })?;
            return print(&listed(&points, system.clock.now()));
        };
        block_on(self.go_back(keeper, to))
    }

    async fn go_back(self, keeper: SessionManager, to: u64) -> Result<Exit, Failure> {
        let what = match self.what {
            WhatFlag::Conversation => What::Conversation,
            WhatFlag::Files => What::Files,
            WhatFlag::Both => What::Both,
        };
        let plan = keeper.plan_rewind(&self.session, To::Before(to), what).await.map_err(Failure::error)?;
        if !self.yes {
            remark(&planned(&plan));
            if !stdin().is_terminal() {
                return Err(Failure::usage("nothing was done: say --yes to do it without being asked"));
            }
            match ask("Do it?").map_err(Failure::error)? {
                Answer::Yes => {}
                Answer::No => return print("nothing was done\n"),
            }
        }
        let gone = plan.conversation.as_ref().map(|conversation| conversation.count as u64);
        let unguarded = plan.files.as_ref().and_then(unguarded);
        let rewound = keeper.rewind(plan, self.others()).await.map_err(|error| self.refused(&error))?;
        let mut lines: Vec<String> =
            gone.map(|gone| format!("{} gone", count(gone, "message"))).into_iter().collect();
        lines.extend(rewound.files.iter().flat_map(done));
        lines.extend(unguarded);
        remark(&lines.join("\n"));
        if let Some(files) = &rewound.files {
            let (from, kept_as) = (&rewound.from, &files.undo);
            remark(&format!("to bring the files back: rheon sessions rewind {from} --undo {kept_as}"));
        }
        if let Some(session) = &rewound.session {
            remark(&format!("the conversation goes on in a new session; to go on: rheon -r {session}"));
            return print(&format!("{session}\n"));
        }
        Ok(Exit::Done)
    }

    async fn undo(&self, keeper: &SessionManager, kept_as: &str) -> Result<Exit, Failure> {
        let id = CheckpointId::parse(kept_as).ok_or_else(|| {
            Failure::usage(format_args!("{kept_as:?} is nothing that files are kept as; the rewind said it"))
        })?;
        let undone = keeper.undo_rewind(&self.session, id, self.others()).await;
        let undone = undone.map_err(|error| self.refused(&error))?;
        remark(&undone.iter().flat_map(done).collect::<Vec<_>>().join("\n"));
        Ok(Exit::Done)
    }

    fn others(&self) -> Others {
        if self.overwrite { Others::Overwrite } else { Others::Refuse }
    }

    /// Where work of others is in the way, how to go on nevertheless.
    fn refused(&self, error: &SessionError) -> Failure {
        let is_others = matches!(error, SessionError::Rewind(RewindError::Others { .. }));
        let hint = if is_others { "; --overwrite takes back what they did, too" } else { "" };
        Failure::error(format_args!("{error}{hint}"))
    }
}

/// What became of files.
fn done(files: &Restored) -> Vec<String> {
    let (restored, removed) = (&files.restored, &files.removed);
    let mut lines = vec![format!("files: {} as they were, {} gone", restored.len(), removed.len())];
    let all = restored.iter().chain(removed);
    lines.extend(all.clone().take(SHOWN_MAX).map(|path| format!("  {}", path.display())));
    if all.clone().count() > SHOWN_MAX {
        lines.push("  …".into());
    }
    let kept = files.kept_back.iter();
    lines.extend(kept.map(|kept| format!("left as it is: {}: {}", kept.path.display(), kept.reason)));
    let failed = files.errors.iter();
    lines.extend(failed.map(|(path, problem)| format!("not done: {}: {problem}", path.display())));
    lines
}

fn unguarded(files: &FilesPlan) -> Option<String> {
    let tools: Vec<&str> = files.unguarded.iter().map(|name| name.as_str()).collect();
    let is_any = !tools.is_empty();
    is_any.then(|| format!("what {} did before anything was kept stays", tools.join(", ")))
}

fn listed(points: &[Point], now: Timestamp) -> String {
    let columns = [("event", Side::Right), ("said", Side::Left), ("files", Side::Left), ("what", Side::Left)];
    let mut table = Table::new(&columns);
    for point in points {
        let files = match point.files {
            PointFiles::Same => "unchanged",
            PointFiles::Kept => "kept",
            PointFiles::Lost => "lost",
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

/// What a rewind would do.
fn planned(plan: &RewindPlan) -> String {
    let mut lines = Vec::new();
    if let Some(conversation) = &plan.conversation {
        lines.push(format!("{} would go", count(conversation.count as u64, "message")));
    }
    if let Some(files) = &plan.files {
        let (created, modified, removed) = (files.created, files.modified, files.removed);
        lines.push(format!("files: {created} would come back, {modified} would change, {removed} would go"));
        lines.extend(files.changes.iter().map(|change| format!("  {}", change.path.display())));
        if files.others_count > 0 {
            lines.push(format!("{} of them somebody else changed since", files.others_count));
        }
        lines.extend(unguarded(files));
    }
    lines.join("\n")
}
