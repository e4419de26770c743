//! Rule "docs".

use expect_test::{Expect, expect};
use xtask::rules::docs;

use crate::support;

fn check(path: &str, text: &str, expected: Expect) {
    let files = [
        ("crates/a/src/lib.rs", "//! A.\n"),
        ("crates/b/src/lib.rs", "//! B.\n"),
        ("docs/guide.md", "# Guide\n"),
        ("tools/run.sh", ""),
        ("LICENSE", ""),
        (path, text),
    ];
    support::check(docs::check, &files, expected);
}

#[test]
fn a_word_in_backticks_that_looks_like_a_path_exists() {
    let good = "`crates/a/src/lib.rs`, `crates/a/`, `crates/a/src/lib.rs:12`, `crates/a/src/lib.rs:3-9`, \
                `docs/guide.md#part`, `./tools/run.sh`, and `cat docs/guide.md; ls crates/b`.\n";
    check("README.md", good, expect![[""]]);
    let bad =
        "# Title\n\nSee `crates/a/src/old.rs:12` and `web/`,\nthen `sh tools/gone.sh` and `./gone.sh`.\n";
    check(
        "README.md",
        bad,
        expect![[r#"
        README.md:3: names crates/a/src/old.rs:12, which does not exist; correct the path or remove it
        README.md:3: names web/, which does not exist; correct the path or remove it
        README.md:4: names tools/gone.sh, which does not exist; correct the path or remove it
        README.md:4: names ./gone.sh, which does not exist; correct the path or remove it
    "#]],
    );
}

#[test]
fn what_is_no_path_is_left_alone() {
    let text = "`src/lib.rs`, `and/or`, `text/plain`, `tests/it/`, `a/b`, `https://crates/x`, plain crates/none/here.\n";
    check("README.md", text, expect![[""]]);
}

#[test]
fn a_glob_matches_something() {
    check("README.md", "`crates/*/src/lib.rs`, `crates/{a,b}/src`, `crates/**`.\n", expect![[""]]);
    check(
        "README.md",
        "`crates/*/lib.rs` and `docs/*.txt`.\n",
        expect![[r#"
            README.md:1: names crates/*/lib.rs, which matches nothing; correct the path or remove it
            README.md:1: names docs/*.txt, which matches nothing; correct the path or remove it
        "#]],
    );
}

#[test]
fn placeholders_are_skipped() {
    check(
        "README.md",
        "`crates/<name>/src`, `crates/…/x.rs`, `crates/.../x.rs`, `docs/$page`.\n",
        expect![[""]],
    );
}

#[test]
fn fenced_and_indented_blocks_are_skipped() {
    check("README.md", "```sh\nls crates/none `crates/none`\n```\n\n    `crates/none`\n", expect![[""]]);
}

#[test]
fn a_relative_link_is_seen_from_its_document() {
    let good = "[a](guide.md), [b](./guide.md#part), [c](../LICENSE), [d](/LICENSE), [e](#here), [f](https://x.org/y), \
                [g](mailto:a@b.c), [h][ref]\n\n[ref]: ../crates/a/src/lib.rs\n\n<img src=\"../LICENSE\">\n";
    check("docs/page.md", good, expect![[""]]);
    let bad = "[a](gone.md) and\n![b](../picture.svg) and\n<a href=\"x.html\">x</a> and [c][ref]\n\n[ref]: ./none.md\n";
    check(
        "docs/page.md",
        bad,
        expect![[r#"
        docs/page.md:1: names gone.md, which does not exist; correct the path or remove it
        docs/page.md:2: names ../picture.svg, which does not exist; correct the path or remove it
        docs/page.md:3: names x.html, which does not exist; correct the path or remove it
        docs/page.md:3: names ./none.md, which does not exist; correct the path or remove it
    "#]],
    );
}

#[test]
fn only_the_documents_of_the_project_are_read() {
    for path in ["AGENTS.md", "CHANGELOG.md", "docs/page.md"] {
        assert_eq!(docs::check(&support::repository(&[(path, "`docs/none.md`\n")])).len(), 1, "{path}");
    }
    for path in ["NOTES.md", "docs/old/page.md", "crates/a/src/tool.md"] {
        assert_eq!(docs::check(&support::repository(&[(path, "`docs/none.md`\n")])).len(), 0, "{path}");
    }
}
