//! Rule "module cycles".

use expect_test::{Expect, expect};
use xtask::rules::cycles;

use crate::support;

/// Checks a crate with these files in `src/`.
fn check(files: &[(&str, &str)], expected: Expect) {
    let files: Vec<_> = files.iter().map(|(path, text)| (format!("crates/a/src/{path}"), *text)).collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    support::check(cycles::check, &files, expected);
}

#[test]
fn calls_that_go_down_pass() {
    check(
        &[
            ("lib.rs", "mod top;\nmod bottom;\npub use top::Top;\n"),
            ("top.rs", "use crate::bottom::Bottom;\npub struct Top(Bottom);\n"),
            ("bottom.rs", "pub struct Bottom;\n"),
        ],
        expect![[""]],
    );
}

#[test]
fn imports_in_a_circle_fail() {
    check(
        &[
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
            ("b.rs", "use super::c::{self, C};\npub struct B(C);\n"),
            ("c.rs", "//! C.\n\npub struct C;\nfn f() -> crate::a::A { todo!() }\n"),
            ("d.rs", "use crate::a::A;\npub struct D(A);\n"),
        ],
        expect![[r#"
            crates/a/src/a.rs:1: modules of a use each other in a circle: crate::a, crate::b, crate::c; move what they share into a module below them
                crates/a/src/a.rs:1: crate::a uses crate::b (crate::b::B)
                crates/a/src/b.rs:1: crate::b uses crate::c (super::c::C)
                crates/a/src/c.rs:4: crate::c uses crate::a (crate::a::A)
        "#]],
    );
}

#[test]
fn each_circle_is_reported_once() {
    check(
        &[
            ("lib.rs", "mod a;\nmod b;\nmod c;\nmod d;\n"),
            ("a.rs", "use crate::{b::B, c::C};\npub struct A(B, C);\n"),
            ("b.rs", "use crate::a::A;\npub struct B(A);\n"),
            ("c.rs", "use crate::d::D;\npub struct C(D);\n"),
            ("d.rs", "use crate::c::C;\npub struct D(C);\n"),
        ],
        expect![[r#"
            crates/a/src/a.rs:1: modules of a use each other in a circle: crate::a, crate::b; move what they share into a module below them
                crates/a/src/a.rs:1: crate::a uses crate::b (crate::b::B)
                crates/a/src/b.rs:1: crate::b uses crate::a (crate::a::A)
            crates/a/src/c.rs:1: modules of a use each other in a circle: crate::c, crate::d; move what they share into a module below them
                crates/a/src/c.rs:1: crate::c uses crate::d (crate::d::D)
                crates/a/src/d.rs:1: crate::d uses crate::c (crate::c::C)
        "#]],
    );
}

#[test]
fn paths_count_wherever_they_stand() {
    let uses = [
        "fn f(x: &crate::b::B) {}",
        "fn f() { crate::b::make(); }",
        "fn f() { println!(\"{}\", crate::b::make()); }",
        "fn f() { matches!(x, super::b::B { .. }); }",
        "use super::b;\nfn f() { b::make(); }",
        "use crate::b as other;\nfn f() { println!(\"{}\", other::make()); }",
        "fn f() { use crate::b; b::make(); }",
        "fn f() { use crate::b::*; make(); }",
        "use super::*;\nfn f() -> b::B { todo!() }",
        "mod inner { fn f() { super::super::b::make(); } }",
        "impl crate::b::T for A {}",
        "#[derive(Serialize)]\nstruct S { #[serde(with = \"crate::b\")] x: u8 }",
        "#[derive(Serialize)]\nstruct S { #[serde(default = \"crate::b::make\")] x: u8 }",
        "pub use crate::b;",
    ];
    for text in uses {
        let files = [
            ("crates/a/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/a/src/a.rs", text),
            ("crates/a/src/b.rs", "use crate::a::A;\npub struct B(A);\n"),
        ];
        assert_eq!(cycles::check(&support::repository(&files)).len(), 1, "not found: {text}");
    }
}

#[test]
fn names_that_only_look_like_modules_do_not_count() {
    let harmless = [
        "fn f(b: u8) -> u8 { b }",
        "fn f(x: X) { println!(\"{}\", x.b); }",
        "pub(in crate) fn f() {}",
        "/// See [`crate::b::B`].\nfn f() {}",
        "use ::b::B;\nfn f(x: ::b::B) {}",
        "#[cfg(test)]\nuse crate::b::B;",
        "#[cfg(test)]\nmod tests { use crate::b::B; }",
        "struct A;\nimpl A { #[cfg(test)] fn f(x: crate::b::B) {} }",
        "use crate::b;",
    ];
    for text in harmless {
        let files = [
            ("crates/a/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/a/src/a.rs", text),
            ("crates/a/src/b.rs", "use crate::a::A;\npub struct B(A);\n"),
        ];
        assert_eq!(
            support::report(&cycles::check(&support::repository(&files))),
            "",
            "wrongly found: {text}"
        );
    }
}

#[test]
fn a_facade_is_looked_through() {
    check(
        &[
            (
                "lib.rs",
                "mod parent;\nmod user;\npub use parent::{One, Two as Second};\npub mod prelude { pub use crate::user::*; }\n",
            ),
            ("parent/mod.rs", "mod one;\nmod two;\npub use one::One;\npub(crate) use self::two::*;\n"),
            ("parent/one.rs", "use super::Two;\nuse crate::parent::Three;\npub struct One(Two, Three);\n"),
            ("parent/two.rs", "pub struct Two;\npub struct Three;\n"),
            (
                "user.rs",
                "use crate::{One, Second};\nuse crate::parent;\nfn f(x: parent::Two) {}\npub struct User(One, Second);\n",
            ),
        ],
        expect![[""]],
    );
    check(
        &[
            ("lib.rs", "mod parent;\npub use parent::One;\n"),
            ("parent.rs", "mod one;\nmod two;\npub use one::One;\npub use two::*;\n"),
            ("parent/one.rs", "use super::Two;\npub struct One(Two);\n"),
            ("parent/two.rs", "use crate::One;\npub struct Two(One);\n"),
        ],
        expect![[r#"
            crates/a/src/parent/one.rs:1: modules of a use each other in a circle: crate::parent::one, crate::parent::two; move what they share into a module below them
                crates/a/src/parent/one.rs:1: crate::parent::one uses crate::parent::two (super::Two)
                crates/a/src/parent/two.rs:1: crate::parent::two uses crate::parent::one (crate::One)
        "#]],
    );
}

#[test]
fn a_parent_that_works_with_its_child_is_no_facade() {
    check(
        &[
            ("lib.rs", "mod parent;\n"),
            ("parent.rs", "mod child;\npub struct Shared;\nfn f() { child::work(); }\n"),
            ("parent/child.rs", "use super::Shared;\npub fn work() -> Shared { Shared }\n"),
        ],
        expect![[r#"
            crates/a/src/parent.rs:3: modules of a use each other in a circle: crate::parent, crate::parent::child; move what they share into a module below them
                crates/a/src/parent.rs:3: crate::parent uses crate::parent::child (child::work)
                crates/a/src/parent/child.rs:1: crate::parent::child uses crate::parent (super::Shared)
        "#]],
    );
}

#[test]
fn an_exported_macro_belongs_to_the_file_that_declares_it() {
    check(
        &[
            ("lib.rs", "mod macros;\nmod user;\nfn f() { user::work(); }\n"),
            (
                "macros.rs",
                "#[macro_export]\nmacro_rules! shout { () => { $crate::macros::loud() } }\npub fn loud() {}\n",
            ),
            ("user.rs", "pub fn work() { crate::shout!(); }\n"),
        ],
        expect![[""]],
    );
}

#[test]
fn names_that_import_each_other_come_to_an_end() {
    check(
        &[
            ("lib.rs", "mod a;\nmod b;\npub use a::*;\npub use b::*;\n"),
            (
                "a.rs",
                "pub use crate::*;\npub use crate::b::X;\nuse serde;\nuse bitflags::bitflags;\n\
                 fn f() { Unknown::new(); bitflags::bitflags!(); serde::x(); }\n",
            ),
            ("b.rs", "pub use crate::a::X;\n"),
        ],
        expect![[r#"
            crates/a/src/a.rs:2: modules of a use each other in a circle: crate::a, crate::b; move what they share into a module below them
                crates/a/src/a.rs:2: crate::a uses crate::b (crate::b::X)
                crates/a/src/b.rs:1: crate::b uses crate::a (crate::a::X)
        "#]],
    );
}

#[test]
fn a_program_and_a_library_are_apart() {
    check(
        &[
            ("lib.rs", "pub mod a;\n"),
            ("main.rs", "mod b;\nfn main() { b::work(); }\n"),
            ("a.rs", "pub fn f() {}\n"),
            ("b.rs", "pub fn work() { crate::main(); }\n"),
            ("bin/other.rs", "mod c;\nfn main() { c::work(); }\n"),
            ("bin/c.rs", "pub fn work() { super::main(); }\n"),
        ],
        expect![[r#"
            crates/a/src/bin/c.rs:1: modules of a use each other in a circle: crate, crate::c; move what they share into a module below them
                crates/a/src/bin/other.rs:2: crate uses crate::c (c::work)
                crates/a/src/bin/c.rs:1: crate::c uses crate (super::main)
            crates/a/src/b.rs:1: modules of a use each other in a circle: crate, crate::b; move what they share into a module below them
                crates/a/src/main.rs:2: crate uses crate::b (b::work)
                crates/a/src/b.rs:1: crate::b uses crate (crate::main)
        "#]],
    );
}

#[test]
fn files_of_unit_tests_are_ignored() {
    check(
        &[
            ("lib.rs", "mod a;\n#[cfg(test)]\nmod a_tests;\n#[cfg(test)]\nmod support;\n"),
            ("a.rs", "#[cfg(test)]\nuse crate::support::help;\npub struct A;\n"),
            ("a_tests.rs", "use crate::a::A;\n"),
            ("support.rs", "use crate::a::A;\npub fn help() {}\n"),
        ],
        expect![[""]],
    );
}
