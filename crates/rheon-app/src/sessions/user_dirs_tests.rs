//! Where things are, for all kinds of environments.

use std::path::PathBuf;

use expect_test::expect;

use super::{EnvVars, UserDirs, UserDirsError};

fn places(variables: &[(&str, &str)]) -> String {
    let environment: EnvVars = variables.iter().copied().collect();
    let dirs = UserDirs::of(&environment);
    let line = |name: &str, place: Result<PathBuf, UserDirsError>| match place {
        Ok(path) => format!("{name}: {}\n", path.display()),
        Err(error) => format!("{name}: {error}\n"),
    };
    [
        line("data", dirs.data()),
        line("state", dirs.state()),
        line("config", dirs.config()),
        line("cache", dirs.cache()),
        line("claude", dirs.claude_projects()),
    ]
    .concat()
}

#[test]
fn a_home_is_enough() {
    expect![[r#"
        data: /home/ada/.local/share/rheon
        state: /home/ada/.local/state/rheon
        config: /home/ada/.config/rheon
        cache: /home/ada/.cache/rheon
        claude: /home/ada/.claude/projects
    "#]]
    .assert_eq(&places(&[("HOME", "/home/ada")]));
}

#[test]
fn each_place_can_be_named() {
    expect![[r#"
        data: /d/rheon
        state: /s/rheon
        config: /own
        cache: /k/rheon
        claude: /claude/projects
    "#]]
    .assert_eq(&places(&[
        ("HOME", "/home/ada"),
        ("XDG_DATA_HOME", "/d"),
        ("XDG_STATE_HOME", "/s"),
        ("XDG_CONFIG_HOME", "/c"),
        ("XDG_CACHE_HOME", "/k"),
        ("RHEON_CONFIG_DIR", "/own"),
        ("CLAUDE_CONFIG_DIR", "/claude"),
    ]));
}

#[test]
fn relative_and_empty_paths_of_the_specification_are_passed_over() {
    expect![[r#"
        data: /home/ada/.local/share/rheon
        state: /home/ada/.local/state/rheon
        config: /home/ada/.config/rheon
        cache: /home/ada/.cache/rheon
        claude: /home/ada/.claude/projects
    "#]]
    .assert_eq(&places(&[
        ("HOME", "/home/ada"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "./state"),
        ("XDG_CONFIG_HOME", ""),
        ("XDG_CACHE_HOME", "~/cache"),
        ("RHEON_CONFIG_DIR", ""),
        ("CLAUDE_CONFIG_DIR", ""),
    ]));
}

#[test]
fn what_is_not_known_says_what_to_set() {
    expect![[r#"
        data: /d/rheon
        state: cannot find the state directory: set XDG_STATE_HOME or HOME to an absolute path
        config: RHEON_CONFIG_DIR is "conf", not an absolute path; set it to one or unset it
        cache: cannot find the cache directory: set XDG_CACHE_HOME or HOME to an absolute path
        claude: CLAUDE_CONFIG_DIR is "c", not an absolute path; set it to one or unset it
    "#]]
    .assert_eq(&places(&[
        ("HOME", "ada"),
        ("XDG_DATA_HOME", "/d"),
        ("RHEON_CONFIG_DIR", "conf"),
        ("CLAUDE_CONFIG_DIR", "c"),
    ]));
    expect![[r#"
        data: cannot find the data directory: set XDG_DATA_HOME or HOME to an absolute path
        state: cannot find the state directory: set XDG_STATE_HOME or HOME to an absolute path
        config: cannot find the config directory: set XDG_CONFIG_HOME or HOME to an absolute path
        cache: cannot find the cache directory: set XDG_CACHE_HOME or HOME to an absolute path
        claude: cannot find the Claude Code directory: set CLAUDE_CONFIG_DIR or HOME to an absolute path
    "#]]
    .assert_eq(&places(&[]));
}
