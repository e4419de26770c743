//! Rule "words".

use expect_test::expect;
use xtask::rules::words;

use crate::support::check;

#[test]
fn documents_comments_and_messages_are_plain() {
    check(
        words::check,
        &[
            ("README.md", "Resume a session.\nWhoever runs it can go on with it.\n"),
            ("docs/GUIDE.md", "Mending is not\nunder way.\n"),
            ("CHANGELOG.md", "It is told anew.\n"),
            ("crates/a/src/lib.rs", "//! It is passed over.\nconst TEXT: &str = \"Nobody is no file\";\n"),
            ("crates/a/src/lib_tests.rs", "//! Nobody.\n"),
            ("crates/a/tests/it/main.rs", "//! Nobody.\n"),
            ("crates/a/src/fine.rs", "//! Recommended: amend, commend, understand.\n"),
        ],
        expect![[r#"
            README.md:2: says "go on with"; write plainly: resume, continue
            README.md:2: says "Whoever"; write plainly: the caller, the user, the client
            docs/GUIDE.md:1: says "Mending"; write plainly: fix, repair
            docs/GUIDE.md:2: says "under way"; write plainly: running, in progress
            crates/a/src/lib.rs:1: says "passed over"; write plainly: skipped
            crates/a/src/lib.rs:2: says "Nobody"; write plainly: the user, another process, a name for the actor
            crates/a/src/lib.rs:2: says "is no file"; write plainly: is not a ...
        "#]],
    );
}

#[test]
fn types_are_nouns() {
    check(
        words::check,
        &[(
            "crates/a/src/lib.rs",
            "//! Types.\nstruct KeptStore;\nenum Because {}\nfn f() { type Wanted = u8; }\ntrait Knowhow {}\npub struct Keepers;\n",
        )],
        expect![[r#"
            crates/a/src/lib.rs:2: the type KeptStore is named by "Kept"; use a noun that says what it holds
            crates/a/src/lib.rs:3: the type Because is named by "Because"; use a noun that says what it holds
            crates/a/src/lib.rs:4: the type Wanted is named by "Wanted"; use a noun that says what it holds
        "#]],
    );
}
