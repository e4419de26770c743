//! PromptNames of prompts.

use std::sync::Arc;

use rheon_types::{AgentMessage, Timestamp};

use super::*;

fn said(seq: u64) -> Event {
    let message = Arc::new(AgentMessage::user("hi", Timestamp::default()));
    let kind = AgentEvent::Message(MessageEvent::End { message });
    Event { seq, at: Timestamp::default(), session_id: "s".into(), run_id: Some("r".into()), kind }
}

#[test]
fn a_prompt_is_known_by_the_name_that_the_program_gave_it() {
    let mut names = PromptNames::default();
    names.begin(Some("first".into()));
    names.observe(&said(3));
    // Steered into the same run: it has no name.
    names.observe(&said(5));
    names.begin(None);
    names.observe(&said(9));
    assert_eq!((names.seq("first"), names.seq("second")), (Some(3), None));
}

#[test]
fn so_many_names_are_remembered() {
    let mut names = PromptNames::default();
    for number in 0..=NAMES_MAX {
        names.begin(Some(number.to_string()));
        names.observe(&said(number as u64));
    }
    assert_eq!(names.seq(&(NAMES_MAX - 1).to_string()), Some(NAMES_MAX as u64 - 1));
    assert_eq!(names.seq(&NAMES_MAX.to_string()), None);
}
