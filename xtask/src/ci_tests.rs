//! Tests of the choice of steps.

use expect_test::expect;

use super::{CargoDeny, Step, steps};

fn text(deny: CargoDeny) -> String {
    let line = |step| match step {
        Step::Run { name, call } => format!("{name}: {call}\n"),
        Step::Skip { name, reason } => format!("{name}: skipped, {reason}\n"),
    };
    steps(deny).into_iter().map(line).collect()
}

#[test]
fn a_bare_toolchain_runs_all_but_the_dependency_check() {
    expect![[r#"
        format: cargo fmt --all --check
        lints: cargo clippy --workspace --all-targets --locked -- -D warnings
        tests: cargo test --workspace --locked
        tests over a pipe: RHEON_OVER_PIPE="1" cargo test -p rheon-cli --test it --locked
        programs of the README: cargo xtask readme
        slim SDK: engine: cargo check -p rheon --no-default-features --locked
        slim SDK: session: cargo check -p rheon --no-default-features --features session --locked
        crashes: cargo xtask crash
        documentation: RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
        first command: cargo run --release --locked -- demo --fast
        dependencies: skipped, cargo-deny is not installed (`cargo install --locked cargo-deny`)
    "#]]
    .assert_eq(&text(CargoDeny::Missing));
}

#[test]
fn an_installed_checker_is_used() {
    let last = text(CargoDeny::Installed).lines().last().map(str::to_owned);
    assert_eq!(last.as_deref(), Some("dependencies: cargo deny check"));
}
