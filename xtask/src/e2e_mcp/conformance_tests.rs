//! What the conformance suite says is read.

use expect_test::expect;

use super::SuiteOutcome;

#[test]
fn the_summary_of_the_suite_is_read() {
    let said = "\
✓ not part of it: 1 passed, 0 failed
=== SUITE SUMMARY ===

✓ tools_call: 3 passed, 0 failed
✗ auth/basic: 1 passed, 2 failed, 1 warnings
✗ warned: 1 passed, 0 failed, 1 warnings
✗ tasks-lifecycle: 0 passed, 10 failed
✓ newer: 1 passed, 0 failed

Total: 4 passed, 12 failed, 1 warnings

Not scored for 2026-07-28: 2 scenario(s) run, 1 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
  ✓ newer (added-after-release)
";
    let outcome = SuiteOutcome::parse(said);
    expect!["| r | server | 2 of 3 | 1 of 2 |"].assert_eq(&outcome.row("r", "server"));
    expect![[r#"{"auth/basic"} {"tasks-lifecycle"}"#]]
        .assert_eq(&format!("{:?} {:?}", outcome.failed, outcome.extensions_failed));
    assert_eq!(SuiteOutcome::parse("it crashed"), SuiteOutcome::default());
}

#[test]
fn the_list_of_the_suite_is_read() {
    let said = "\
Required for r (4 scenarios, frozen; run at the r wire):

Server scenarios (test against a server):
  - ping

Client scenarios (test against a client):
  - initialize
  - auth/basic

Run and reported, but never scored:
  extension (2):
    - auth/dpop [client]
    - tasks-lifecycle [server]
";
    let listed = SuiteOutcome::listed(said);
    expect!["| r | client | 2 of 2 | 1 of 1 |"].assert_eq(&listed.row("r", "client"));
}
