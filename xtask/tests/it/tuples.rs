//! Rule "tuples".

use expect_test::expect;
use xtask::rules::tuples;

use crate::support;

#[test]
fn a_parameter_that_is_a_tuple_lacks_a_name() {
    let text = r#"
fn free((a, b): (u8, u8)) {}
fn borrowed(pair: &(u8, u8)) {}
fn perhaps(pair: Option<(u8, u8)>) {}
fn fine(a: u8, table: &[(u8, u8)], (): (), each: impl Fn((u8, u8))) {}
struct A;
impl A {
    fn method(&self, pair: (u8, u8)) {}
}
trait B {
    fn wanted(&self, pair: (u8, u8));
}
"#;
    support::check(
        tuples::check,
        &[("crates/rheon-a/src/lib.rs", text)],
        expect![[r#"
            crates/rheon-a/src/lib.rs:2: free takes a tuple; name what it is with a struct, or take its parts
            crates/rheon-a/src/lib.rs:3: borrowed takes a tuple; name what it is with a struct, or take its parts
            crates/rheon-a/src/lib.rs:4: perhaps takes a tuple; name what it is with a struct, or take its parts
            crates/rheon-a/src/lib.rs:8: method takes a tuple; name what it is with a struct, or take its parts
            crates/rheon-a/src/lib.rs:11: wanted takes a tuple; name what it is with a struct, or take its parts
        "#]],
    );
}

#[test]
fn tests_and_traits_of_others_may_take_them() {
    let text = r#"
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod tests {
    fn f(pair: (u8, u8)) {}
}
impl From<(u8, u8)> for A {
    fn from(pair: (u8, u8)) -> Self {
        [pair].map(|(a, b)| A)
    }
}
"#;
    let tuple = "fn f(pair: (u8, u8)) {}\n";
    let files = [
        ("crates/rheon-a/src/lib.rs", text),
        ("crates/rheon-a/src/fixtures.rs", tuple),
        ("crates/rheon-a/src/a_tests.rs", tuple),
        ("crates/rheon-a/tests/it/main.rs", tuple),
    ];
    support::check(tuples::check, &files, expect![[""]]);
}
