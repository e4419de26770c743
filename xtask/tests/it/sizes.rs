//! Rule "sizes".

use expect_test::{Expect, expect};
use xtask::rules::sizes;

use crate::support;

fn check(text: &str, expected: Expect) {
    support::check(sizes::check, &[("crates/a/src/lib.rs", text)], expected);
}

/// A function of `lines` lines, from `fn` to the closing brace.
fn function(lines: usize) -> String {
    format!("fn long() {{\n{}}}\n", "    work();\n".repeat(lines - 2))
}

#[test]
fn a_file_has_at_most_600_code_lines() {
    check(&"const A: u8 = 0;\n".repeat(600), expect![[""]]);
    check(
        &"const A: u8 = 0;\n".repeat(601),
        expect![[r#"
        crates/a/src/lib.rs:1: has 601 code lines, at most 600 are allowed; give each noun in it a file
    "#]],
    );
}

#[test]
fn blank_lines_and_comments_are_no_code() {
    let filler =
        "\n// Why.\n/// What.\n/* Both\nof them. */\n/** Documentation\nin a block. */\nconst A: u8 = 0;\n";
    check(&format!("//! Header.\n{}", filler.repeat(600)), expect![[""]]);
    let string = "const A: &str = \"\n// no comment\n\n\";\n";
    check(
        &string.repeat(201),
        expect![[r#"
        crates/a/src/lib.rs:1: has 603 code lines, at most 600 are allowed; give each noun in it a file
    "#]],
    );
}

#[test]
fn a_function_has_at_most_70_lines() {
    check(&function(70), expect![[""]]);
    check(
        &format!("/// Documentation\n/// is free.\n#[inline]\n{}", function(71)),
        expect![[r#"
        crates/a/src/lib.rs:4: long has 71 lines, at most 70 are allowed; name a part of it and move it out
    "#]],
    );
    check(
        &format!("struct A;\nimpl A {{\n{}}}\n", function(71)),
        expect![[r#"
        crates/a/src/lib.rs:3: long has 71 lines, at most 70 are allowed; name a part of it and move it out
    "#]],
    );
    check(
        &format!("trait A {{\n{}}}\n", function(71)),
        expect![[r#"
        crates/a/src/lib.rs:2: long has 71 lines, at most 70 are allowed; name a part of it and move it out
    "#]],
    );
    check(
        &format!("#[cfg(test)]\nmod tests {{\n#[test]\n{}}}\n", function(71)),
        expect![[r#"
        crates/a/src/lib.rs:4: long has 71 lines, at most 70 are allowed; name a part of it and move it out
    "#]],
    );
}

#[test]
fn a_function_has_at_most_6_parameters() {
    check("fn f(a: A, b: A, c: A, d: A, e: A, f: A) {}", expect![[""]]);
    check(
        "fn f(a: A, b: A, c: A, d: A, e: A, f: A, g: A) {}",
        expect![[r#"
        crates/a/src/lib.rs:1: f has 7 parameters, at most 6 are allowed; gather those that belong together in a struct
    "#]],
    );
    check("impl S { fn f(&self, a: A, b: A, c: A, d: A, e: A, f: A) {} }", expect![[""]]);
    check(
        "trait T { fn f(&self, a: A, b: A, c: A, d: A, e: A, f: A, g: A); }",
        expect![[r#"
        crates/a/src/lib.rs:1: f has 7 parameters, at most 6 are allowed; gather those that belong together in a struct
    "#]],
    );
}

#[test]
fn a_struct_has_at_most_12_fields() {
    check(
        "struct S { a: A, b: A, c: A, d: A, e: A, f: A, g: A, h: A, i: A, j: A, k: A, l: A }",
        expect![[""]],
    );
    check(
        "struct S { a: A, b: A, c: A, d: A, e: A, f: A, g: A, h: A, i: A, j: A, k: A, l: A, m: A }",
        expect![[r#"
            crates/a/src/lib.rs:1: S has 13 fields, at most 12 are allowed; group those that change together in a struct of their own
        "#]],
    );
    check(
        "fn f() { struct S(A, A, A, A, A, A, A, A, A, A, A, A, A); }",
        expect![[r#"
        crates/a/src/lib.rs:1: S has 13 fields, at most 12 are allowed; group those that change together in a struct of their own
    "#]],
    );
}
