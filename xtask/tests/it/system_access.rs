//! Rule "system access".

use expect_test::{Expect, expect};
use xtask::rules::system_access;

use crate::support;

fn check(text: &str, expected: Expect) {
    support::check(system_access::check, &[("crates/rheon-agent/src/lib.rs", text)], expected);
}

#[test]
fn the_environment_is_out_of_reach() {
    check(
        "fn f() { std::env::var(\"A\"); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:1: asks for the environment (std::env::var), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check(
        "use std::env;\nfn f() {\n    env::args();\n    env::current_dir();\n}",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:3: asks for the environment (std::env::args), which only rheon-app and rheon-cli may do; take the value as a parameter
        crates/rheon-agent/src/lib.rs:4: asks for the environment (std::env::current_dir), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check(
        "use std::env::var;\nfn f() { var(\"A\"); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the environment (std::env::var), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check(
        "use std::env::{self as e, temp_dir as t};\nfn f() { e::vars(); t(); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the environment (std::env::temp_dir), which only rheon-app and rheon-cli may do; take the value as a parameter
        crates/rheon-agent/src/lib.rs:2: asks for the environment (std::env::vars), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check(
        "use std::env::*;\nfn f() { var(\"A\"); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:1: asks for the environment (std::env::*), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check(
        "pub use std::env;",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:1: asks for the environment (std::env), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check(
        "fn f() {\n    use std::env;\n    println!(\"{:?}\", env::var_os(\"A\"));\n}",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the environment (std::env), which only rheon-app and rheon-cli may do; take the value as a parameter
        crates/rheon-agent/src/lib.rs:3: asks for the environment (std::env::var_os), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check(
        "use super::*;\nfn f() { ::std::env::var(\"A\"); env::var(\"B\"); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the environment (env::var), which only rheon-app and rheon-cli may do; take the value as a parameter
        crates/rheon-agent/src/lib.rs:2: asks for the environment (std::env::var), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
}

#[test]
fn the_home_directory_is_out_of_reach() {
    check(
        "fn f() { dirs::home_dir(); std::env::home_dir(); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:1: asks for the home directory (dirs::home_dir), which only rheon-app and rheon-cli may do; take the value as a parameter
        crates/rheon-agent/src/lib.rs:1: asks for the environment (std::env::home_dir), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check("fn f(home_dir: &Path) { g(home_dir) }", expect![[""]]);
}

#[test]
fn the_system_clock_is_out_of_reach() {
    check(
        "fn f() { std::time::Instant::now(); std::time::SystemTime::now(); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:1: asks for the system clock (std::time::Instant::now), which only rheon-app and rheon-cli may do; take a `Clock`
        crates/rheon-agent/src/lib.rs:1: asks for the system clock (std::time::SystemTime::now), which only rheon-app and rheon-cli may do; take a `Clock`
    "#]],
    );
    check(
        "use std::time::{Duration, Instant};\nfn f() {\n    Instant::now();\n}",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:3: asks for the system clock (std::time::Instant::now), which only rheon-app and rheon-cli may do; take a `Clock`
    "#]],
    );
    check(
        "use std::time::SystemTime as Wall;\nfn f() { g.unwrap_or_else(Wall::now); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the system clock (std::time::SystemTime::now), which only rheon-app and rheon-cli may do; take a `Clock`
    "#]],
    );
    check(
        "use std::time;\nuse time::Instant;\nfn f() { vec![Instant::now()]; }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:3: asks for the system clock (std::time::Instant::now), which only rheon-app and rheon-cli may do; take a `Clock`
    "#]],
    );
    check(
        "use crate::prelude::Instant;\nfn f() { Instant::now(); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the system clock (crate::prelude::Instant::now), which only rheon-app and rheon-cli may do; take a `Clock`
    "#]],
    );
    check(
        "use jiff::Timestamp;\nfn f() { Timestamp::now(); }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the system clock (jiff::Timestamp::now), which only rheon-app and rheon-cli may do; take a `Clock`
    "#]],
    );
}

#[test]
fn other_clocks_and_compile_time_values_are_fine() {
    check("use tokio::time::Instant;\nfn f() { Instant::now(); }", expect![[""]]);
    check("use tokio::time;\nfn f() { time::Instant::now(); tokio::time::Instant::now(); }", expect![[""]]);
    check(
        "use tokio::time::Instant;\nfn f() { Instant::now(); }\nfn g() { use std::time::Instant; Instant::now(); }",
        expect![[r#"
            crates/rheon-agent/src/lib.rs:3: asks for the system clock (std::time::Instant::now), which only rheon-app and rheon-cli may do; take a `Clock`
        "#]],
    );
    check(
        "use std::time::{Instant, SystemTime};\nfn f(a: Instant) -> SystemTime { SystemTime::UNIX_EPOCH }",
        expect![[""]],
    );
    check("const A: &str = env!(\"A\");\nconst B: Option<&str> = option_env!(\"B\");", expect![[""]]);
    check("use std::env::consts::OS;\nfn f() { g(OS, std::env::consts::ARCH); }", expect![[""]]);
    check("fn f(clock: &dyn Clock) { clock.now(); Timestamp::now(clock); }", expect![[""]]);
}

#[test]
fn inline_modules_see_the_imports_around_them() {
    check(
        "use std::env;\nmod inner { use super::*; fn f() { env::vars_os(); } }",
        expect![[r#"
        crates/rheon-agent/src/lib.rs:2: asks for the environment (std::env::vars_os), which only rheon-app and rheon-cli may do; take the value as a parameter
    "#]],
    );
    check("mod inner { use std::env; }\nfn f() { env::vars_os(); }", expect![[""]]);
}

#[test]
fn the_top_crates_and_tests_may_ask() {
    let ask = "fn f() { std::env::var(\"A\"); std::time::Instant::now(); }";
    let in_tests = "#[cfg(test)]\nmod tests { fn f() { std::env::var(\"A\"); } }\n\
                    #[cfg(all(test, unix))]\nfn g() { std::env::var(\"A\"); }\n\
                    #[test]\nfn h() { std::env::var(\"A\"); }\n";
    let files = [
        ("crates/rheon-app/src/lib.rs", ask),
        ("crates/rheon-cli/src/main.rs", ask),
        ("xtask/src/main.rs", ask),
        ("crates/rheon-agent/src/run_tests.rs", ask),
        ("crates/rheon-agent/src/run.rs", in_tests),
        ("crates/rheon-agent/tests/it/main.rs", ask),
        ("crates/rheon-agent/benches/run.rs", ask),
        ("crates/rheon-agent/examples/run.rs", ask),
        ("crates/rheon-agent/build.rs", ask),
    ];
    support::check(system_access::check, &files, expect![[""]]);
    check(
        "#[cfg(any(test, unix))]\nfn f() { std::env::var(\"A\"); }\n#[cfg(not(test))]\nfn g() { std::env::args(); }",
        expect![[r#"
            crates/rheon-agent/src/lib.rs:2: asks for the environment (std::env::var), which only rheon-app and rheon-cli may do; take the value as a parameter
            crates/rheon-agent/src/lib.rs:4: asks for the environment (std::env::args), which only rheon-app and rheon-cli may do; take the value as a parameter
        "#]],
    );
}
