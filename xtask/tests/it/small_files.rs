//! Rule "small files".

use expect_test::{Expect, expect};
use xtask::rules::small_files;

use crate::support;

/// Checks a crate called `name` with these files in `src/`.
fn check_in(name: &str, files: &[(&str, &str)], expected: Expect) {
    let files: Vec<_> =
        files.iter().map(|(path, text)| (format!("crates/{name}/src/{path}"), *text)).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    support::check(small_files::check, &files, expected);
}

fn check(files: &[(&str, &str)], expected: Expect) {
    check_in("rheon-tools", files, expected);
}

/// A file of `lines` code lines that uses `used`.
fn user(used: &str, lines: usize) -> String {
    format!("//! Header.\n\n{used}\n{}", "const A: u8 = 0;\n".repeat(lines - 1))
}

#[test]
fn a_small_file_needs_a_second_user() {
    let (one, other) = (user("use crate::small::Small;", 40), user("use crate::Small;", 40));
    let lib = "mod one;\nmod other;\nmod small;\npub use small::Small;\n";
    let small = "pub struct Small;\n";
    check(&[("lib.rs", lib), ("one.rs", &one), ("other.rs", &other), ("small.rs", small)], expect![[""]]);
    let apart = user("const B: u8 = 0;", 40);
    let files = [("lib.rs", lib), ("one.rs", one.as_str()), ("other.rs", &apart), ("small.rs", small)];
    check(
        &files,
        expect![[r#"
        crates/rheon-tools/src/small.rs:1: has 1 code lines and no second user, 40 are wanted; move them into the file that uses them
    "#]],
    );
    check_in("rheon", &files, expect![[""]]);
}

#[test]
fn forty_lines_are_enough() {
    let lib = "mod a;\nmod b;\n";
    check(
        &[("lib.rs", lib), ("a.rs", &user("const B: u8 = 0;", 40)), ("b.rs", &user("const B: u8 = 0;", 39))],
        expect![[r#"
        crates/rheon-tools/src/b.rs:1: has 39 code lines and no second user, 40 are wanted; move them into the file that uses them
    "#]],
    );
}

#[test]
fn what_some_machines_ask_for_may_be_small() {
    let lib = "#[cfg(unix)]\nmod a;\nmod b;\n";
    check(&[("lib.rs", lib), ("a.rs", "fn f() {}\n"), ("b.rs", "#[cfg(unix)]\nfn f() {}\n")], expect![[""]]);
    check(
        &[("lib.rs", "mod a;\n"), ("a.rs", "fn f() {}\n#[cfg(test)]\nmod tests {}\n")],
        expect![[r#"
            crates/rheon-tools/src/a.rs:1: has 3 code lines and no second user, 40 are wanted; move them into the file that uses them
        "#]],
    );
}

#[test]
fn tables_of_contents_and_tests_may_be_small() {
    let files = [
        ("lib.rs", "mod a;\n#[cfg(test)]\nmod fixtures;\n"),
        ("a/mod.rs", "mod b;\n"),
        ("a/b.rs", &user("const B: u8 = 0;", 40)),
        ("fixtures.rs", "fn f() {}\n"),
        ("a_tests.rs", "fn f() {}\n"),
    ];
    check(&files, expect![[""]]);
}

#[test]
fn a_user_in_another_crate_counts_and_one_that_hands_on_does_not() {
    let check = |inside: &str, elsewhere: &str, expected: Expect| {
        let small = "pub struct Small;\n";
        let files = [
            ("crates/rheon-tools/src/lib.rs", "mod one;\nmod small;\npub use small::Small;\n"),
            ("crates/rheon-tools/src/one.rs", inside),
            ("crates/rheon-tools/src/small.rs", small),
            ("crates/rheon-app/src/lib.rs", elsewhere),
        ];
        support::check(small_files::check, &files, expected);
    };
    let one = user("use crate::Small;", 40);
    check(&one, "use rheon_tools::Small;\n", expect![[""]]);
    check(&one, "fn f() -> rheon_tools::Small { todo!() }\n", expect![[""]]);
    check(
        &one,
        "pub use rheon_tools::Small;\n",
        expect![[r#"
            crates/rheon-tools/src/small.rs:1: has 1 code lines and no second user, 40 are wanted; move them into the file that uses them
        "#]],
    );
    check(
        &user("const B: u8 = 0;", 40),
        "use rheon_tools::Small;\n",
        expect![[r#"
            crates/rheon-tools/src/small.rs:1: has 1 code lines and no second user, 40 are wanted; move them into the file that uses them
        "#]],
    );
}

#[test]
fn rows_of_a_table_and_pages_may_be_small() {
    check_in(
        "rheon-cli",
        &[
            ("main.rs", "mod command;\nmod page;\n"),
            ("command/mod.rs", "mod a;\n"),
            ("command/a.rs", "pub struct A;\n"),
            ("page.rs", "//! Only words.\n"),
        ],
        expect![[""]],
    );
}
