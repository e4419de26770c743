//! The table a person reads.

use expect_test::expect;

use super::{Band, ContextUsage, PromptBuilder};
use crate::context::tokens::TokenCounter;

#[test]
fn the_report_shows_the_usage_of_each_part() {
    let sections = PromptBuilder::new(TokenCounter::default())
        .section("date", Band::Dynamic, "Today is 2026-11-15.")
        .section("base", Band::Static, &"Work with care. ".repeat(100))
        .section("rules", Band::Static, "Use tabs.")
        .sections();
    let report = ContextUsage::new(&sections, 3_000, 12_345, 200_000);
    expect![[r#"
        context                          tokens   window
        system prompt, static               426    0.2 %
          base                              422    0.2 %
          rules                               4    0.0 %
        system prompt, dynamic               12    0.0 %
          date                               12    0.0 %
        tools                             3,000    1.5 %
        messages                         12,345    6.2 %
        used                             15,783    7.9 %
        free                            184,217   92.1 %
        window                          200,000  100.0 %
    "#]]
    .assert_eq(&report.to_string());
    assert_eq!(report.used() + report.free(), 200_000);
}

#[test]
fn a_window_that_is_too_small_has_nothing_free() {
    let report = ContextUsage::new(&[], u64::MAX, 10, 0);
    assert_eq!((report.used(), report.free()), (u64::MAX, 0));
    assert!(report.to_string().contains("free"));
}
