//! Rule "unique types".

use expect_test::expect;
use xtask::rules::unique_types;

use crate::support::check;

#[test]
fn a_public_type_name_exists_once() {
    check(
        unique_types::check,
        &[
            ("crates/a/src/lib.rs", "//! A.\npub struct Cursor;\npub enum Mode {}\nstruct Local;\n"),
            (
                "crates/b/src/lib.rs",
                "//! B.\npub struct Local;\npub trait Cursor {}\npub(crate) struct Mode;\n",
            ),
            ("crates/c/src/lib.rs", "//! C.\n#[cfg(unix)]\nmod unix;\n#[cfg(not(unix))]\nmod other;\n"),
            ("crates/c/src/unix.rs", "//! Unix.\npub struct Directory;\n"),
            ("crates/c/src/other.rs", "//! Others.\npub struct Directory;\n"),
            ("crates/c/src/x_tests.rs", "//! Tests.\npub struct Cursor;\n"),
            ("xtask/src/lib.rs", "//! Tools.\npub struct Cursor;\n"),
        ],
        expect![[r#"
            crates/b/src/lib.rs:3: the public type Cursor exists in crates/a/src/lib.rs too; give one of them a qualifier
        "#]],
    );
}
