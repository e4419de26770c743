//! Rule "header".

use expect_test::expect;
use xtask::rules::header;

use crate::support::check;

#[test]
fn a_file_opens_with_what_it_owns() {
    check(
        header::check,
        &[
            ("crates/a/src/good.rs", "\n//! Owns the good.\n"),
            ("crates/a/src/empty.rs", ""),
            ("crates/a/src/mute.rs", "//!\n//! Second line.\n"),
            ("crates/a/src/outer.rs", "/// Not a header.\nfn f() {}\n"),
            ("crates/a/src/attribute.rs", "#![allow(unused)]\n//! Late.\n"),
            ("crates/a/tests/it/main.rs", "mod x;\n"),
            ("crates/a/benches/b.rs", "fn main() {}\n"),
            ("crates/a/examples/e.rs", "fn main() {}\n"),
            ("crates/a/build.rs", "fn main() {}\n"),
            ("crates/a/data/template.rs", "not of the crate\n"),
            ("xtask/src/main.rs", "fn main() {}\n"),
        ],
        expect![[r#"
            crates/a/benches/b.rs:1: does not open with a `//!` line; say in one what the file owns
            crates/a/build.rs:1: does not open with a `//!` line; say in one what the file owns
            crates/a/examples/e.rs:1: does not open with a `//!` line; say in one what the file owns
            crates/a/src/attribute.rs:1: does not open with a `//!` line; say in one what the file owns
            crates/a/src/empty.rs:1: does not open with a `//!` line; say in one what the file owns
            crates/a/src/mute.rs:1: does not open with a `//!` line; say in one what the file owns
            crates/a/src/outer.rs:1: does not open with a `//!` line; say in one what the file owns
            crates/a/tests/it/main.rs:1: does not open with a `//!` line; say in one what the file owns
            xtask/src/main.rs:1: does not open with a `//!` line; say in one what the file owns
        "#]],
    );
}
