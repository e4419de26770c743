//! Rule "it files".

use expect_test::expect;
use xtask::rules::it_files;

use crate::support::check;

#[test]
fn every_file_is_reached_from_main() {
    check(
        it_files::check,
        &[
            ("crates/a/tests/it/main.rs", "mod flat;\nmod folder;\nmod old;\nmod inline { mod deep; }\n"),
            ("crates/a/tests/it/flat.rs", "mod child;\n#[path = \"odd_name.rs\"]\nmod odd;\n"),
            ("crates/a/tests/it/flat/child.rs", ""),
            ("crates/a/tests/it/odd_name.rs", ""),
            ("crates/a/tests/it/folder/mod.rs", "#[cfg(unix)]\nmod child;\n"),
            ("crates/a/tests/it/folder/child.rs", ""),
            ("crates/a/tests/it/inline/deep.rs", ""),
            ("crates/a/tests/it/old.rs", "// mod lost;\n"),
        ],
        expect![[""]],
    );
}

#[test]
fn a_forgotten_file_is_named() {
    check(
        it_files::check,
        &[
            ("crates/a/tests/it/main.rs", "mod folder;\n"),
            ("crates/a/tests/it/folder/mod.rs", ""),
            ("crates/a/tests/it/folder/lost.rs", ""),
            ("crates/a/tests/it/lost.rs", "mod also_lost;\n"),
            ("crates/a/tests/it/lost/also_lost.rs", ""),
            ("crates/b/tests/it/headless.rs", ""),
        ],
        expect![[r#"
            crates/a/tests/it/folder/lost.rs:1: never runs: no chain of `mod` lines from crates/a/tests/it/main.rs reaches it; add one
            crates/a/tests/it/lost.rs:1: never runs: no chain of `mod` lines from crates/a/tests/it/main.rs reaches it; add one
            crates/a/tests/it/lost/also_lost.rs:1: never runs: no chain of `mod` lines from crates/a/tests/it/main.rs reaches it; add one
            crates/b/tests/it/headless.rs:1: never runs: no chain of `mod` lines from crates/b/tests/it/main.rs reaches it; add one
        "#]],
    );
}

#[test]
fn there_is_one_test_binary() {
    check(
        it_files::check,
        &[
            ("crates/a/tests/it/main.rs", ""),
            ("crates/a/tests/second.rs", ""),
            ("crates/a/tests/third/main.rs", ""),
            ("crates/a/tests/data/sample.rs", ""),
        ],
        expect![[r#"
            crates/a/tests/second.rs:1: is a second test binary; move it to crates/a/tests/it/ and name it in main.rs
            crates/a/tests/third/main.rs:1: is a second test binary; move it to crates/a/tests/it/ and name it in main.rs
        "#]],
    );
}
