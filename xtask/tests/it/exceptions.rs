//! The table of exceptions: what it covers, and when it is at fault itself.

use expect_test::expect;
use xtask::Violation;
use xtask::exceptions::{EXCEPTIONS, Exception, except};
use xtask::rules::RULES;

use crate::support::report;

const ROW: Exception = Exception { rule: "sizes", path: "a.rs", item: None, reason: "a table", line: 7 };

fn findings() -> Vec<(&'static str, Violation)> {
    vec![
        ("sizes", Violation::new("a.rs", 1, "the file is too long")),
        ("sizes", Violation::new("a.rs", 9, "run is too long").about("run")),
        ("header", Violation::new("a.rs", 1, "no header")),
        ("sizes", Violation::new("b.rs", 1, "the file is too long")),
    ]
}

#[test]
fn without_exceptions_everything_is_reported() {
    expect![[r#"
        a.rs:1: no header
        a.rs:1: the file is too long
        a.rs:9: run is too long
        b.rs:1: the file is too long
    "#]]
    .assert_eq(&report(&except(findings(), &[])));
}

#[test]
fn an_exception_covers_one_rule_in_one_file() {
    expect![[r#"
        a.rs:1: no header
        b.rs:1: the file is too long
    "#]]
    .assert_eq(&report(&except(findings(), &[ROW])));
}

#[test]
fn an_exception_can_cover_one_item() {
    expect![[r#"
        a.rs:1: no header
        a.rs:1: the file is too long
        b.rs:1: the file is too long
    "#]]
    .assert_eq(&report(&except(findings(), &[Exception { item: Some("run"), ..ROW }])));
}

#[test]
fn an_exception_that_nothing_needs_is_a_violation() {
    let unneeded = [Exception { path: "c.rs", ..ROW }, Exception { item: Some("walk"), line: 8, ..ROW }];
    expect![[r#"
        xtask/src/exceptions.rs:7: nothing needs the exception from "sizes" for c.rs; remove it
        xtask/src/exceptions.rs:8: nothing needs the exception from "sizes" for a.rs, walk; remove it
    "#]]
    .assert_eq(&report(&except(vec![], &unneeded)));
}

#[test]
fn an_exception_gives_a_reason() {
    expect![[r#"
        a.rs:1: no header
        b.rs:1: the file is too long
        xtask/src/exceptions.rs:7: the exception from "sizes" for a.rs gives no reason; write one
    "#]]
    .assert_eq(&report(&except(findings(), &[Exception { reason: " ", ..ROW }])));
}

#[test]
fn every_exception_names_a_rule() {
    for exception in EXCEPTIONS {
        assert!(
            RULES.iter().any(|rule| rule.name == exception.rule),
            "no rule is called {:?}",
            exception.rule
        );
    }
}
