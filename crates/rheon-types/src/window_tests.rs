//! The window: cuts over a conversation.

use super::*;
use crate::fixtures::{answer, user};
use crate::{StopReason, Timestamp, ToolResultMessage, unanswered_calls};

fn result_of(id: &str, text: &str) -> Arc<AgentMessage> {
    let message = Message::ToolResult(ToolResultMessage {
        tool_call_id: id.into(),
        tool_name: "t".into(),
        content: vec![Content::text(text)],
        is_error: false,
        timestamp: Timestamp::default(),
    });
    Arc::new(message.into())
}

fn history() -> History {
    [
        user("begin"),
        answer(&["a"], StopReason::ToolUse),
        result_of("a", "0123456789"),
        answer(&["b"], StopReason::ToolUse),
        result_of("b", "short"),
        user("go on"),
    ]
    .into_iter()
    .collect()
}

fn texts(history: &History) -> Vec<String> {
    history.for_model().map(Message::text).collect()
}

fn cut(from: u64, to: u64, kind: CutKind) -> WindowCut {
    WindowCut { from, to, kind }
}

#[test]
fn without_cuts_the_window_is_the_conversation() {
    let history = history();
    assert_eq!(window(&history, &[]), history);
}

#[test]
fn a_summary_is_at_the_start_of_its_range_and_later_cuts_apply() {
    let summary = CutKind::Summary { message: user("what happened") };
    let cuts = [cut(1, 3, summary), cut(3, 5, CutKind::Drop)];
    let seen = window(&history(), &cuts);
    assert_eq!(texts(&seen), ["begin", "what happened", "go on"]);
    assert_eq!(unanswered_calls(&seen), []);
}

#[test]
fn long_results_lose_their_middle_and_others_are_unchanged() {
    let history = history();
    let seen = window(&history, &[cut(0, 6, CutKind::Trim { bytes_max: 6 })]);
    assert_eq!(texts(&seen), ["begin", "", "0123\n[4 bytes left out]\n89", "", "short", "go on"]);
    let kept = seen.get(4).zip(history.get(4));
    assert!(kept.is_some_and(|(seen, own)| Arc::ptr_eq(seen, own)));
    assert_eq!(unanswered_calls(&seen), []);
}

#[test]
fn a_cut_never_splits_a_character() {
    for bytes_max in 0..14 {
        let cut = cut_middle("ährenfeld€€", bytes_max);
        assert!(cut.contains("bytes left out") || cut == "ährenfeld€€", "{cut}");
    }
}

#[test]
fn a_cut_beyond_the_end_changes_nothing() {
    let history = history();
    assert_eq!(window(&history, &[cut(6, 99, CutKind::Drop)]), history);
}

#[test]
fn a_summary_that_tells_of_discarded_messages_goes_with_them() {
    let summary = || CutKind::Summary { message: user("what happened") };
    let trim = || cut(0, 1, CutKind::Trim { bytes_max: 6 });
    let cuts = [trim(), cut(1, 3, summary()), cut(3, 5, CutKind::Drop)];
    assert_eq!(cuts_until(&cuts, 6), cuts);
    assert_eq!(cuts_until(&cuts, 4), [trim()]);
    assert_eq!(cuts_until(&[cut(1, 3, summary())], 4), [cut(1, 3, summary())]);
}
