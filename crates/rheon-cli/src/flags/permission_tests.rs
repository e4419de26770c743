//! Rules as they are typed.

use super::rules;

fn parsed(typed: &[&str]) -> Vec<String> {
    rules(&typed.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
}

#[test]
fn commas_and_spaces_separate_rules_but_not_within_brackets() {
    assert_eq!(
        parsed(&["Bash(git log *, x) Edit,Read", "Write", " , "]),
        ["Bash(git log *, x)", "Edit", "Read", "Write"]
    );
}

#[test]
fn brackets_that_do_not_match_lose_nothing() {
    assert_eq!(parsed(&["Bash(git", ")Edit"]), ["Bash(git", ")Edit"]);
}
