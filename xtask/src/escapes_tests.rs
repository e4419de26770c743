//! Tests of the table of ways out.

use expect_test::expect;

use super::{Findings, Tester};

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
