//! Tests of the table of ways out.

use expect_test::expect;

use super::{Findings, Tester, executable};

#[test]
fn what_the_tests_print_becomes_a_table() {
    let mut findings = Findings::default();
    let output = "running 1 test\ntest x ... escapes\tnamespaces\t67\t0\nescapes\tlandlock\t54\t0\n\
                  escapes\tbubblewrap\tnot supported here\nescapes\tgarbage\tx\ty\nok\n";
    findings.read(output, Tester::Root);
    findings.read("escapes\tnamespaces\t67\t1\n", Tester::Ordinary);
    assert_eq!(findings.open(), 1);
    expect![[r#"
        | level | root | ordinary user |
        |---|---|---|
        | namespaces | 67 ways tried, 0 open | 67 ways tried, 1 open |
        | landlock | 54 ways tried, 0 open | not tried |
        | bubblewrap | not supported here | not tried |

        188 ways tried, 1 open."#]]
    .assert_eq(&findings.table());
}

#[test]
fn the_program_of_a_package_is_found_among_the_messages_of_cargo() {
    let messages = [
        r#"{"reason":"compiler-artifact","package_id":"path+file:///r/crates/rheon#0.1.0","executable":null}"#,
        r#"{"reason":"compiler-artifact","package_id":"path+file:///r/crates/rheon-tools#0.1.0","executable":"/t/it-1"}"#,
        r#"{"reason":"compiler-artifact","package_id":"path+file:///r/crates/rheon#0.1.0","executable":"/t/it-2"}"#,
    ]
    .join("\n");
    assert_eq!(executable(&messages, "rheon"), Some("/t/it-2".into()));
    assert_eq!(executable(&messages, "rheon-tools"), Some("/t/it-1".into()));
    assert_eq!(executable(&messages, "rheon-app"), None);
}
