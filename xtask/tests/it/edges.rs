//! Rule "crate edges".

use expect_test::{Expect, expect};
use xtask::rules::edges;

use crate::support;

const PAGE: &str = "\
# Architecture

| crate | one sentence | may use |
|---|---|---|
| `low` | the words | nothing |
| `middle` | uses | `low` |
| `rheon-testkit` | for tests | `low`, `middle` |
| `later` (planned) | not yet | `low` |
| `xtask` | rules | nothing |

Text.
";

const ROOT: &str = "[workspace]\nmembers = [\"crates/*\", \"xtask\"]\n\n[workspace.dependencies]\n\
                    alias = { path = \"crates/middle\", package = \"middle\" }\n";

/// A sound workspace, in which the given files replace those of the same path.
fn check(changed: &[(&str, &str)], expected: Expect) {
    let sound = [
        ("Cargo.toml", ROOT),
        ("docs/ARCHITECTURE.md", PAGE),
        ("crates/low/Cargo.toml", "[package]\nname = \"low\"\n[dependencies]\nserde = \"1\"\n"),
        ("crates/middle/Cargo.toml", "[package]\nname = \"middle\"\n[dependencies]\nlow.workspace = true\n"),
        ("crates/rheon-testkit/Cargo.toml", "[package]\nname = \"rheon-testkit\"\n"),
        ("xtask/Cargo.toml", "[package]\nname = \"xtask\"\n"),
    ];
    let files: Vec<_> = sound.iter().chain(changed).copied().collect();
    support::check(edges::check, &files, expected);
}

#[test]
fn a_sound_workspace_passes() {
    check(&[], expect![[""]]);
}

#[test]
fn an_edge_outside_the_table_fails() {
    let upward =
        "[package]\nname = \"low\"\n\n[dependencies]\nserde = \"1\"\nmiddle = { path = \"../middle\" }\n";
    check(
        &[("crates/low/Cargo.toml", upward)],
        expect![[r#"
        crates/low/Cargo.toml:6: low may not use middle; remove it, or decide it in its row of docs/ARCHITECTURE.md
    "#]],
    );
    let hidden = "[package]\nname = \"low\"\n[build-dependencies.middle]\nworkspace = true\n\
                  [target.'cfg(unix)'.dependencies]\nother = { package = \"middle\", path = \"../middle\" }\n\
                  alias.workspace = true\n[dependencies.later]\npath = \"..\"\n";
    check(
        &[("crates/low/Cargo.toml", hidden)],
        expect![[r#"
        crates/low/Cargo.toml:3: low may not use middle; remove it, or decide it in its row of docs/ARCHITECTURE.md
        crates/low/Cargo.toml:6: low may not use middle; remove it, or decide it in its row of docs/ARCHITECTURE.md
        crates/low/Cargo.toml:7: low may not use middle; remove it, or decide it in its row of docs/ARCHITECTURE.md
        crates/low/Cargo.toml:8: low may not use later; remove it, or decide it in its row of docs/ARCHITECTURE.md
    "#]],
    );
}

#[test]
fn tests_may_use_the_testkit_and_nothing_else_of_ours() {
    let manifest = "[package]\nname = \"low\"\n[dev-dependencies]\nrheon-testkit.workspace = true\nproptest = \"1\"\n\
                    middle.workspace = true\n";
    check(
        &[("crates/low/Cargo.toml", manifest)],
        expect![[r#"
        crates/low/Cargo.toml:6: the tests of low may not use middle; of our crates only rheon-testkit is for tests
    "#]],
    );
    let linked = "[package]\nname = \"xtask\"\n[dependencies]\nrheon-testkit.workspace = true\n";
    check(
        &[("xtask/Cargo.toml", linked)],
        expect![[r#"
        xtask/Cargo.toml:4: xtask may not use rheon-testkit; remove it, or decide it in its row of docs/ARCHITECTURE.md
    "#]],
    );
}

#[test]
fn rows_and_dirs_are_the_same() {
    check(
        &[("crates/extra/Cargo.toml", "[package]\nname = \"extra\"\n")],
        expect![[r#"
        crates/extra/Cargo.toml:1: extra has no row in the table of docs/ARCHITECTURE.md; add one that says what it may use
    "#]],
    );
    check(
        &[("crates/later/Cargo.toml", "[package]\nname = \"later\"\n")],
        expect![[r#"
        docs/ARCHITECTURE.md:8: later exists; remove (planned)
    "#]],
    );
    let page = PAGE.replace("| `later` (planned)", "| `later`");
    check(
        &[("docs/ARCHITECTURE.md", &page)],
        expect![[r#"
        docs/ARCHITECTURE.md:8: later does not exist; add the crate, mark the row (planned), or remove it
    "#]],
    );
    check(
        &[("crates/low/Cargo.toml", "[package]\nname = \"lower\"\n")],
        expect![[r#"
        crates/low/Cargo.toml:1: the package is called lower, its directory low; give both one name
    "#]],
    );
    check(&[("crates/low/tests/data/Cargo.toml", "[package]\nname = \"sample\"\n")], expect![[""]]);
}

#[test]
fn the_table_itself_is_sound() {
    check(
        &[("docs/ARCHITECTURE.md", "# Architecture\n")],
        expect![[r#"
        docs/ARCHITECTURE.md:1: has no table with the columns "crate", "one sentence" and "may use"; add it
    "#]],
    );
    let page = PAGE
        .replace("| uses | `low` |", "| uses | `low`, `lwo` |")
        .replace(
            "\nText.",
            "| low | again | `low` |\n| `low` | again | low |\n| `low` | again | nothing |\n\nText.",
        )
        .replace("nothing |\n\n|", "nothing |\n|");
    check(
        &[("docs/ARCHITECTURE.md", &page)],
        expect![[r#"
        docs/ARCHITECTURE.md:10: cannot be read as a row; write | `crate` | one sentence | `crate`, `crate` or nothing |
        docs/ARCHITECTURE.md:11: cannot be read as a row; write | `crate` | one sentence | `crate`, `crate` or nothing |
        docs/ARCHITECTURE.md:6: middle may use lwo, which has no row; correct the name or add the row
        docs/ARCHITECTURE.md:12: low has a second row; merge the two
    "#]],
    );
}

#[test]
fn a_manifest_that_cannot_be_read_is_named() {
    check(
        &[("crates/low/Cargo.toml", "[package]\nname = \n")],
        expect![[r#"
        crates/low/Cargo.toml:2: cannot be read: string values must be quoted, expected literal string; correct it
    "#]],
    );
    check(
        &[("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"xtask\", \"hidden\"]\n")],
        expect![[r#"
        Cargo.toml:1: the members of the workspace must be "crates/*" and "xtask"; move other crates to crates/
    "#]],
    );
}
