//! `rheon sessions rewind`.

use std::io::{IsTerminal as _, stdin};

use clap::ValueEnum;
use rheon_app::keeping::{Keeper, Others, Point, PointFiles, RewindPlan, To, What};
use rheon_types::Timestamp;

use super::kept::keeper;
use crate::ago::ago;
use crate::ask::{Answer, ask};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, remark};
use crate::render::count;
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// Take back what came after something you said: the conversation, the files, or both
///
/// Without --to: list the points to go back to. The session itself stays whole, what goes on is a new one, and the files as they are now
/// are kept first, so a rewind can be taken back too.
#[derive(Debug, clap::Args)]
pub(crate) struct Rewind {
    /// Which session
    session: String,

    /// Go back to before this point
    #[arg(long, value_name = "EVENT")]
    to: Option<u64>,

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
        let (keeper, surroundings) = keeper()?;
        let Some(to) = self.to else {
            let points = block_on(async { keeper.points(&self.session).await.map_err(Failure::error) })?;
            return print(&listed(&points, surroundings.clock.now()));
        };
        block_on(self.go_back(keeper, to))
    }

    async fn go_back(self, keeper: Keeper, to: u64) -> Result<Exit, Failure> {
        let what = match self.what {
            WhatFlag::Conversation => What::Conversation,
            WhatFlag::Files => What::Files,
            WhatFlag::Both => What::Both,
        };
        let plan = keeper.plan_rewind(&self.session, To::Before(to), what).await.map_err(Failure::error)?;
        if !self.yes {
            remark(&told(&plan, Tense::Planned));
            if !stdin().is_terminal() {
                return Err(Failure::usage("nothing was done: say --yes to do it without being asked"));
            }
            match ask("Do it?").map_err(Failure::error)? {
                Answer::Yes => {}
                Answer::No => return print("nothing was done\n"),
            }
        }
        let others = if self.overwrite { Others::Overwrite } else { Others::Refuse };
        let done = told(&plan, Tense::Done);
        let is_refused = !self.overwrite && plan.files.as_ref().is_some_and(|files| files.others_count > 0);
        let hint = if is_refused { "; --overwrite takes them back, too" } else { "" };
        let rewound = keeper.rewind(plan, others).await;
        let rewound = rewound.map_err(|error| Failure::error(format_args!("{error}{hint}")))?;
        remark(&done);
        let failed = rewound.files.iter().flat_map(|files| &files.errors);
        for (path, problem) in failed {
            remark(&format!("not done: {}: {problem}", path.display()));
        }
        if let Some(session) = &rewound.session {
            remark(&format!("the conversation goes on in a new session; to go on: rheon -r {session}"));
            return print(&format!("{session}\n"));
        }
        Ok(Exit::Done)
    }
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
        table.row([point.seq.to_string(), ago(point.at, now), files.into(), point.text.clone()]);
    }
    table.text()
}

/// Whether it is still to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tense {
    Planned,
    Done,
}

/// What a rewind would do, or did.
fn told(plan: &RewindPlan, tense: Tense) -> String {
    let mut lines = Vec::new();
    let [go, come_back, change] = match tense {
        Tense::Planned => ["would go", "would come back", "would change"],
        Tense::Done => ["gone", "came back", "changed back"],
    };
    if let Some(conversation) = &plan.conversation {
        lines.push(format!("{} {go}", count(conversation.count as u64, "message")));
    }
    if let Some(files) = &plan.files {
        let (created, modified, removed) = (files.created, files.modified, files.removed);
        lines.push(format!("files: {created} {come_back}, {modified} {change}, {removed} {go}"));
        lines.extend(files.changes.iter().map(|change| format!("  {}", change.path.display())));
        if files.others_count > 0 {
            lines.push(format!("{} of them somebody else changed since", files.others_count));
        }
        if !files.unguarded.is_empty() {
            let tools: Vec<&str> = files.unguarded.iter().map(|name| name.as_str()).collect();
            lines.push(format!("what {} did before anything was kept stays", tools.join(", ")));
        }
    }
    lines.join("\n")
}
