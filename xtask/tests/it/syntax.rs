//! Rule "syntax".

use expect_test::expect;
use xtask::rules::syntax;

use crate::support::check;

#[test]
fn a_file_that_cannot_be_parsed_is_named() {
    check(
        syntax::check,
        &[("crates/a/src/lib.rs", "//! A.\nfn f() {}\n"), ("crates/a/src/broken.rs", "//! B.\nfn f( {}\n")],
        expect![[r#"
            crates/a/src/broken.rs:2: cannot be parsed: cannot parse string into token stream; correct it, no other rule has looked at it
        "#]],
    );
}
