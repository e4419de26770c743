//! Tests of facts about calls.

use super::CallFacts;

#[test]
fn facts_are_found_by_their_type_and_only_by_it() {
    let facts = CallFacts::new("a line".to_owned());
    assert_eq!(facts.get::<String>().map(String::as_str), Some("a line"));
    assert_eq!(facts.get::<u32>(), None);
    assert_eq!(CallFacts::default().get::<String>(), None);
}

#[test]
fn a_clone_is_the_same_and_another_value_is_not() {
    let facts = CallFacts::new(1_u32);
    assert_eq!(facts.clone(), facts);
    assert_eq!(CallFacts::default(), CallFacts::default());
    assert_ne!(facts, CallFacts::new(1_u32));
    assert_ne!(facts, CallFacts::default());
}
