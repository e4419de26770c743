//! Each message is counted once.

use std::sync::Arc;

use rheon_types::{AgentMessage, History, Timestamp};

use super::{MessageCounts, TokenCounter};

fn history(texts: &[&str]) -> History {
    texts.iter().map(|text| Arc::new(AgentMessage::user(*text, Timestamp::from_millis(0)))).collect()
}

#[test]
fn following_a_growing_conversation_counts_the_same_as_counting_it_whole() {
    let counter = TokenCounter::default();
    let mut counts = MessageCounts::default();
    let mut conversation = history(&["one", "two words"]);
    counts.follow(&conversation, &counter);
    conversation.push(Arc::new(AgentMessage::user("three more words", Timestamp::from_millis(1))));
    counts.follow(&conversation, &counter);
    let mut whole = MessageCounts::default();
    whole.follow(&conversation, &counter);
    assert_eq!((counts.len(), &counts), (3, &whole));
    assert_eq!(counts.total(), (0..3).map(|index| counts.at(index)).sum::<u64>());
    assert_eq!(counts.range(1..3), counts.at(1) + counts.at(2));
}

#[test]
fn missing_messages_have_no_tokens() {
    let mut counts = MessageCounts::default();
    assert_eq!((counts.total(), counts.at(0), counts.range(3..9)), (0, 0, 0));
    counts.push(7);
    assert_eq!(
        (counts.at(0), counts.at(1), counts.range(0..usize::MAX), counts.at(usize::MAX)),
        (7, 0, 7, 0)
    );
}

#[test]
fn a_shorter_conversation_forgets_what_is_beyond_it() {
    let counter = TokenCounter::default();
    let mut counts = MessageCounts::default();
    counts.follow(&history(&["one", "two", "three"]), &counter);
    counts.follow(&history(&["one"]), &counter);
    assert_eq!(counts.len(), 1);
}
