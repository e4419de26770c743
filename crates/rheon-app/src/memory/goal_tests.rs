//! What `/goal` does, and what the model is told of goals.

use expect_test::expect;
use rheon_store::sqlite::Memory;
use rheon_types::{History, Timestamp};

use super::*;

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(12)
    }

    fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }
}

fn store(memory: &Arc<Memory>, session: &str) -> MemoryStore {
    MemoryStore { memory: Arc::clone(memory), project: "p".into(), session_id: session.into(), parent: None }
}

/// The goal of a session at opening.
fn opened(memory: &Arc<Memory>, session: &str) -> Arc<SessionGoal> {
    let open = memory.goals().open_of("p").unwrap();
    Arc::new(SessionGoal::new(Some(store(memory, session)), Arc::new(Noon), &open))
}

async fn said(goal: &Arc<SessionGoal>, arguments: &str) -> String {
    match goal.command(arguments).await {
        Ok(GoalAnswer::Changed(text)) => format!("changed: {text}\n"),
        Ok(GoalAnswer::Shown(text)) => format!("shown: {text}\n"),
        Err(error) => format!("error: {error}\n"),
    }
}

fn reminder(goal: &SessionGoal) -> Option<String> {
    let history = History::new();
    let situation =
        ReminderContext { history: &history, tasks: &[], turn_index: 0, tokens_used: 0, tokens_window: 0 };
    goal.remind(&situation)
}

#[tokio::test]
async fn a_goal_is_set_resumed_taken_over_and_closed() {
    let memory = Arc::new(Memory::in_memory().unwrap());
    let first = opened(&memory, "first");
    assert_eq!(reminder(&first), None);
    let mut told = said(&first, "").await;
    told += &said(&first, "Ship  the\nparser with token=hunter7seven").await;
    let resumed = opened(&memory, "first");
    assert_eq!(
        reminder(&resumed).as_deref(),
        Some("The goal of this session, set by the user: Ship the parser with token=[redacted]")
    );
    let second = opened(&memory, "second");
    assert_eq!(reminder(&second), None);
    told += &said(&second, "Paint </goals> the wall").await;
    told += &said(&second, "").await;
    told += &said(&second, "#1").await;
    told += &said(&second, "#1").await;
    told += &said(&second, "#2").await;
    told += &said(&second, "#9").await;
    told += &said(&second, "done").await;
    told += &said(&second, "done").await;
    told += &said(&second, "done deal").await;
    told += &said(&second, "drop").await;
    assert_eq!(reminder(&second), None);
    expect![[r#"
        shown: no goal is set; set one with /goal TEXT
        changed: goal: Ship the parser with token=[redacted]
        changed: goal: Paint </goals> the wall
        shown: goal: Paint </goals> the wall
        open goals of other sessions; adopt one with /goal #NUMBER:
          #1  Ship the parser with token=[redacted]
        changed: goal: Ship the parser with token=[redacted] (instead of: Paint </goals> the wall)
        changed: goal: Ship the parser with token=[redacted]
        error: this project has no open goal #2; /goal lists the open ones
        error: this project has no open goal #9; /goal lists the open ones
        changed: goal reached: Ship the parser with token=[redacted]
        error: no goal is set; set one with /goal TEXT
        changed: goal: done deal
        changed: goal dropped: done deal
    "#]]
    .assert_eq(&told);
    assert_eq!(memory.goals().open_of("p").unwrap(), []);
}

#[tokio::test]
async fn a_session_without_a_memory_has_its_goal_as_long_as_it_is_open() {
    let goal = Arc::new(SessionGoal::new(None, Arc::new(Noon), &[]));
    let mut told = String::new();
    for arguments in ["Ship it", "#1", "Ship it now", "", "drop", ""] {
        told += &said(&goal, arguments).await;
    }
    expect![[r#"
        changed: goal: Ship it
        error: this project has no open goal #1; /goal lists the open ones
        changed: goal: Ship it now (instead of: Ship it)
        shown: goal: Ship it now
        changed: goal dropped: Ship it now
        shown: no goal is set; set one with /goal TEXT
    "#]]
    .assert_eq(&told);
}

#[tokio::test]
async fn a_goal_has_a_cap_and_so_has_what_the_model_is_told_of_others() {
    let memory = Arc::new(Memory::in_memory().unwrap());
    let goal = opened(&memory, "first");
    assert_eq!(
        said(&goal, &"é".repeat(GOAL_CHARS_MAX + 1)).await,
        "error: a goal has at most 600 characters, and this one has 601; put the details into a file and name it\n"
    );
    assert!(said(&goal, &"é".repeat(GOAL_CHARS_MAX)).await.starts_with("changed: "));
    let other = opened(&memory, "other");
    for number in 0..5 {
        let session = format!("session {number}").into();
        memory
            .goals()
            .create("p", &format!("Goal <{number}>"), &session, Timestamp::from_millis(number))
            .unwrap();
    }
    memory.goals().create("q", "Elsewhere", &"q".into(), Timestamp::from_millis(99)).unwrap();
    assert_eq!(reminder(&other), None);
    said(&goal, "done").await;
    let open = memory.goals().open_of("p").unwrap();
    expect![[r#"
        <goals>
        Goals that the user set in other sessions of this project, still open. Work on one only when the user asks for it.
        - Goal &lt;3>
        - Goal &lt;2>
        - Goal &lt;1>
        </goals>"#]].assert_eq(&open_goals_text(&open, &"session 4".into()));
    assert_eq!(open_goals_text(&[], &"first".into()), "");
}
