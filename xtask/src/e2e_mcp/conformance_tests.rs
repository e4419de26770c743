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
    expect!["2 of 3, failed {\"auth/basic\"}, extensions {\"newer\", \"tasks-lifecycle\"}, failed {\"tasks-lifecycle\"}"]
        .assert_eq(&format!(
            "{} of {}, failed {:?}, extensions {:?}, failed {:?}",
            outcome.passed(),
            outcome.required(),
            outcome.failed,
            outcome.extensions,
            outcome.extensions_failed
        ));
    assert_eq!(SuiteOutcome::parse("it crashed"), SuiteOutcome::default());
}
