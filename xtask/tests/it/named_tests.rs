//! Rule "named tests".

use expect_test::{Expect, expect};
use xtask::rules::named_tests;

use crate::support;

fn check(text: &str, expected: Expect) {
    let files = [
        ("crates/a/tests/it/main.rs", "//! A.\nmod hooks;\n"),
        ("crates/a/tests/it/hooks.rs", "//! Hooks.\n#[test]\nasync fn they_run() {}\n"),
        ("docs/guide.md", text),
    ];
    support::check(named_tests::check, &files, expected);
}

#[test]
fn a_test_that_is_named_exists() {
    check(
        "`hooks.rs::they_run`, `it/hooks.rs::they_run`, `std::env`, `History::push` and `hooks.rs`.\n",
        expect![[""]],
    );
    check(
        "# Title\n\n`hooks.rs::they_ran` and `tools.rs::they_run`.\n",
        expect![[r#"
            docs/guide.md:3: names the test hooks.rs::they_ran, which does not exist; correct the name or remove it
            docs/guide.md:3: names the test tools.rs::they_run, which does not exist; correct the name or remove it
        "#]],
    );
}
