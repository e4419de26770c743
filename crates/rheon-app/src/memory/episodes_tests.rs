//! What is told of a session.

use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use rheon_types::{AgentMessage, AgentOutput, History, Message, RunEnd, Timestamp};

use super::episodes::summary;

fn told(messages: Vec<AgentMessage>) -> Option<String> {
    let history: History = messages.into_iter().map(Arc::new).collect();
    summary(&history, &AgentOutput::new(RunEnd::Aborted), Path::new("/p"))
}

#[test]
fn a_session_in_which_nobody_asked_for_anything_is_not_told() {
    let note = Message::note("go on", Timestamp::default()).into();
    assert_eq!(told(vec![note, AgentMessage::user("  \n", Timestamp::default())]), None);
    assert_eq!(told(Vec::new()), None);
}

#[test]
fn prompts_are_cut_after_secrets_are_taken_out() {
    let first = format!("{} PASSWORD=sesame", "é".repeat(115));
    let last = "Use\n\nghp_abcdefghij0123456789 now";
    let user = |text: &str| AgentMessage::user(text, Timestamp::default());
    let told = told(vec![user(&first), user("middle"), user(last)]).unwrap();
    expect![[r#"Asked: "(é) PASS...". Asked last: "Use [redacted: GitHub token] now". Ended: aborted."#]]
        .assert_eq(&told.replace(&"é".repeat(115), "(é)"));
}
