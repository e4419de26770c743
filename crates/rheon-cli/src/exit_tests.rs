//! Tests of the table of exit codes.

use expect_test::expect;
use rheon_types::{HookPoint, LimitKind, RunEnd, RunFailure};

use super::Exit;

#[test]
fn every_end_of_a_run_has_a_code() {
    let limit = |limit| RunEnd::Limit { limit, message: "m".into() };
    let ends = [
        RunEnd::Completed,
        RunEnd::Truncated,
        limit(LimitKind::Turns),
        limit(LimitKind::Duration),
        limit(LimitKind::Tokens),
        RunEnd::Rejected { rejection: "m".into() },
        RunEnd::Vetoed { point: HookPoint::BeforeTurn, message: "m".into() },
        RunEnd::Aborted,
        RunEnd::Failed { failure: RunFailure::Panic { message: "m".into() } },
    ];
    let lines: Vec<String> = ends.iter().map(|end| format!("{} {end:?}", Exit::of_run(end).code())).collect();
    expect![[r#"
        0 Completed
        4 Truncated
        4 Limit { limit: Turns, message: "m" }
        4 Limit { limit: Duration, message: "m" }
        3 Limit { limit: Tokens, message: "m" }
        5 Rejected { rejection: "m" }
        5 Vetoed { point: BeforeTurn, message: "m" }
        130 Aborted
        1 Failed { failure: Panic { message: "m" } }"#]]
    .assert_eq(&lines.join("\n"));
}
