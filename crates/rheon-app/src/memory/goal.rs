//! `SessionGoal`: the goal of a session, repeated at the end of every request; the slash command `/goal`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::sqlite::{Goal, GoalId, GoalStatus};
use rheon_types::{Clock, Reminder, ReminderContext, SessionId};

use super::error::MemoryError;
use super::secrets::redacted;
use super::store::MemoryStore;

/// The most characters of a goal: it is part of every request.
pub const GOAL_CHARS_MAX: usize = 600;
/// How many goals of other sessions are shown to the model and listed.
const OTHERS_TOLD_MAX: usize = 3;
const OTHERS_LISTED_MAX: usize = 20;

/// The goal of a session. It is in the memory of the project, so that the session has it again when it is resumed, and other
/// sessions know of it until it is reached or dropped. Without a memory it lasts as long as the session is open.
pub struct SessionGoal {
    store: Option<MemoryStore>,
    clock: Arc<dyn Clock>,
    current: Mutex<Option<CurrentGoal>>,
    /// Held while the goal changes. Reminders do not wait for it.
    changing: Mutex<()>,
}

/// The goal that the model is reminded of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CurrentGoal {
    /// Its number, if the memory has it.
    id: Option<GoalId>,
    text: String,
}

/// What `/goal` answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GoalAnswer {
    /// The goal is another one now; everybody in the session should know.
    Changed(String),
    Shown(String),
}

/// A parsed `/goal` command.
#[derive(Debug, PartialEq, Eq)]
enum GoalCommand {
    Show,
    Set(String),
    Close(GoalStatus),
    /// Work on a goal that another session set.
    Take(GoalId),
}

impl SessionGoal {
    /// The goal of the session of `store`, out of the open goals of its project.
    pub fn new(store: Option<MemoryStore>, clock: Arc<dyn Clock>, open: &[Goal]) -> Self {
        let own =
            store.as_ref().and_then(|store| open.iter().find(|goal| goal.session_id == store.session_id));
        let current = own.map(|goal| CurrentGoal { id: Some(goal.id), text: goal.text.clone() });
        Self { store, clock, current: Mutex::new(current), changing: Mutex::default() }
    }

    /// The goal, if one is set.
    pub fn text(&self) -> Option<String> {
        self.current().as_ref().map(|goal| goal.text.clone())
    }

    /// Does what `/goal` with these arguments asks for: nothing shows the goal, a text sets it, `done` and `drop` close it, and `#7`
    /// takes over goal 7 of another session.
    pub async fn command(self: &Arc<Self>, arguments: &str) -> Result<GoalAnswer, MemoryError> {
        let command = GoalCommand::parse(arguments)?;
        let goal = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || goal.carry_out(command)).await;
        done.unwrap_or_else(|error| Err(MemoryError::Broken(error.to_string())))
    }

    fn carry_out(&self, command: GoalCommand) -> Result<GoalAnswer, MemoryError> {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        match command {
            GoalCommand::Show => self.show().map(GoalAnswer::Shown),
            GoalCommand::Set(text) => self.set(text).map(GoalAnswer::Changed),
            GoalCommand::Close(status) => self.close(status).map(GoalAnswer::Changed),
            GoalCommand::Take(id) => self.take(id).map(GoalAnswer::Changed),
        }
    }

    fn show(&self) -> Result<String, MemoryError> {
        let mut lines = vec![match self.text() {
            Some(text) => format!("goal: {text}"),
            None => "no goal is set; set one with /goal TEXT".to_owned(),
        }];
        if let Some(store) = &self.store {
            let open = store.memory.goals().open_of(&store.project)?;
            let others = others(&open, &store.session_id).take(OTHERS_LISTED_MAX);
            let others: Vec<String> = others.map(|goal| format!("  #{}  {}", goal.id.0, goal.text)).collect();
            if !others.is_empty() {
                lines.push("open goals of other sessions; adopt one with /goal #NUMBER:".to_owned());
                lines.extend(others);
            }
        }
        Ok(lines.join("\n"))
    }

    fn set(&self, text: String) -> Result<String, MemoryError> {
        let text = redacted(&text);
        let id = match &self.store {
            Some(store) => {
                let (project, session_id) = (&store.project, &store.session_id);
                Some(store.memory.goals().create(project, &text, session_id, self.clock.now())?)
            }
            None => None,
        };
        self.replace(CurrentGoal { id, text })
    }

    fn take(&self, id: GoalId) -> Result<String, MemoryError> {
        let store = self.store.as_ref().ok_or(MemoryError::NoOpenGoal { id: id.0 })?;
        let goals = store.memory.goals();
        let goal = goals.get(id)?.filter(|goal| goal.project == store.project);
        let goal = goal.ok_or(MemoryError::NoOpenGoal { id: id.0 })?;
        if !goals.assign(id, &store.session_id, self.clock.now())? {
            return Err(MemoryError::NoOpenGoal { id: id.0 });
        }
        self.replace(CurrentGoal { id: Some(id), text: goal.text })
    }

    /// A session has one goal: the one before is dropped.
    fn replace(&self, goal: CurrentGoal) -> Result<String, MemoryError> {
        let answer = format!("goal: {}", goal.text);
        let before = self.current().replace(goal.clone());
        match before {
            Some(before) if before.id != goal.id || before.id.is_none() => {
                self.mark(before.id, GoalStatus::Dropped)?;
                Ok(format!("{answer} (instead of: {})", before.text))
            }
            Some(_) | None => Ok(answer),
        }
    }

    fn close(&self, status: GoalStatus) -> Result<String, MemoryError> {
        let goal = self.current().clone().ok_or(MemoryError::NoGoal)?;
        self.mark(goal.id, status)?;
        *self.current() = None;
        let what = match status {
            GoalStatus::Done => "goal reached",
            GoalStatus::Dropped => "goal dropped",
            GoalStatus::Open => "goal",
        };
        Ok(format!("{what}: {}", goal.text))
    }

    fn mark(&self, id: Option<GoalId>, status: GoalStatus) -> Result<(), MemoryError> {
        if let (Some(store), Some(id)) = (&self.store, id) {
            store.memory.goals().set_status(id, status, self.clock.now())?;
        }
        Ok(())
    }

    fn current(&self) -> MutexGuard<'_, Option<CurrentGoal>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reminder for SessionGoal {
    fn name(&self) -> &str {
        "goal"
    }

    fn remind(&self, _situation: &ReminderContext<'_>) -> Option<String> {
        let goal = self.text()?;
        Some(include_str!("goal_reminder.md").trim_end().replace("{goal}", &goal))
    }
}

impl GoalCommand {
    fn parse(arguments: &str) -> Result<Self, MemoryError> {
        let text = arguments.split_whitespace().collect::<Vec<_>>().join(" ");
        let number = text.strip_prefix('#').and_then(|number| number.parse().ok());
        let chars = text.chars().count();
        match (text.as_str(), number) {
            ("", _) => Ok(Self::Show),
            ("done", _) => Ok(Self::Close(GoalStatus::Done)),
            ("drop", _) => Ok(Self::Close(GoalStatus::Dropped)),
            (_, Some(number)) => Ok(Self::Take(GoalId(number))),
            _ if chars > GOAL_CHARS_MAX => Err(MemoryError::LongGoal { chars, chars_max: GOAL_CHARS_MAX }),
            _ => Ok(Self::Set(text)),
        }
    }
}

/// The goals of other sessions.
fn others<'a>(open: &'a [Goal], session_id: &'a SessionId) -> impl Iterator<Item = &'a Goal> {
    open.iter().filter(move |goal| goal.session_id != *session_id)
}

/// What the model reads of open goals that other sessions of the project set; empty where there are none.
pub(crate) fn open_goals_text(open: &[Goal], session_id: &SessionId) -> String {
    let lines: Vec<String> = others(open, session_id)
        .take(OTHERS_TOLD_MAX)
        // A line cannot end its own frame.
        .map(|goal| format!("- {}\n", goal.text.replace('<', "&lt;")))
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    format!("<goals>\n{}{}</goals>", include_str!("goals_open.md"), lines.concat())
}

#[cfg(test)]
#[path = "goal_tests.rs"]
mod tests;
