//! EnvironmentFacts as the model reads them.

use std::path::{Path, PathBuf};

use expect_test::expect;
use rheon_fleet::git::GitState;
use rheon_types::Timestamp;

use super::EnvironmentFacts;

fn facts(dir: &str, shell: Option<&str>, millis: u64, git: GitState) -> String {
    let facts =
        EnvironmentFacts::new(Path::new(dir), shell.map(Path::new), Timestamp::from_millis(millis), git);
    EnvironmentFacts { system: "linux (x86_64)".into(), ..facts }.text()
}

#[test]
fn the_same_day_gives_the_same_bytes_and_nothing_hidden_gets_in() {
    let morning = facts("/home/a/p", Some("/usr/bin/fish"), 1_794_700_800_000, GitState::NoRepository);
    let evening = facts("/home/a/p", Some("/usr/bin/fish"), 1_794_787_199_999, GitState::NoRepository);
    assert_eq!(morning, evening);
    expect![[r#"
        # Environment
        - System: linux (x86_64)
        - Shell of the user: fish
        - Working directory: /home/a/p
        - Date: 2026-11-15 (UTC)
        - Git: not a repository"#]]
    .assert_eq(&morning);
    let odd =
        facts("/home/a\n- Git: b\u{202e}", None, u64::MAX, GitState::Unknown("git is not installed".into()));
    expect![[r#"
        # Environment
        - System: linux (x86_64)
        - Working directory: /home/a\n- Git: b\u{202e}
        - Git: unknown (git is not installed)"#]]
    .assert_eq(&odd);
}

#[test]
fn facts_of_this_machine_name_its_system() {
    let facts =
        EnvironmentFacts::new(&PathBuf::from("/"), None, Timestamp::from_millis(0), GitState::NoRepository);
    assert!(facts.system.starts_with(std::env::consts::OS));
    assert_eq!((facts.shell, facts.day.as_deref()), (None, Some("1970-01-01")));
}
