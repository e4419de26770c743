//! `History`: clones share, forks part, and unanswered calls are found.

use crate::fixtures::{answer, result, user};
use crate::*;

fn texts(history: &History) -> Vec<String> {
    history.iter().filter_map(|message| message.as_llm()).map(Message::text).collect()
}

#[test]
fn a_clone_keeps_its_view_while_the_original_grows() {
    let mut history = History::new();
    history.push(user("a"));
    let snapshot = history.clone();
    history.push(user("b"));
    assert_eq!(texts(&snapshot), ["a"]);
    assert_eq!(texts(&history), ["a", "b"]);
}

#[test]
fn forks_do_not_affect_each_other() {
    let mut left: History = ["a", "b", "c"].map(user).into_iter().collect();
    let mut right = left.prefix(1);
    right.push(user("x"));
    left.push(user("d"));
    let mut third = left.clone();
    third.push(user("e"));
    left.push(user("f"));
    assert_eq!(texts(&left), ["a", "b", "c", "d", "f"]);
    assert_eq!(texts(&right), ["a", "x"]);
    assert_eq!(texts(&third), ["a", "b", "c", "d", "e"]);
}

#[test]
fn clones_that_push_at_once_each_keep_their_own() {
    let base: History = ["base"].map(user).into_iter().collect();
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let mut mine = base.clone();
            std::thread::spawn(move || {
                for step in 0..100 {
                    mine.push(user(&format!("{thread}.{step}")));
                }
                (thread, mine)
            })
        })
        .collect();
    for thread in threads {
        let (thread, history) = thread.join().unwrap();
        let expected: Vec<String> =
            std::iter::once("base".into()).chain((0..100).map(|step| format!("{thread}.{step}"))).collect();
        assert_eq!(texts(&history), expected);
    }
}

#[test]
fn calls_without_a_result_are_found() {
    let history: History = [
        user("go"),
        answer(&["a", "b"], StopReason::ToolUse),
        result("a"),
        user("again"),
        answer(&["never"], StopReason::Error),
        answer(&["c", "d"], StopReason::Aborted),
        result("d"),
    ]
    .into_iter()
    .collect();
    let found: Vec<String> = unanswered_calls(&history).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["b", "c"]);
    assert_eq!(history.for_model().count(), 6, "the failed answer is not sent again");
}
