//! What a project brings along counts once the user has agreed to exactly that.

use expect_test::expect;

use super::fixtures::Place;
use super::inputs::{ConfigScope, TrustChoice};
use super::trust::revoke_trust;
use crate::context::ProjectTrust;

fn project() -> Place {
    Place::new()
        .project(
            r#"model = "openai/theirs"
[permissions]
allow = ["Bash(make *)"]
deny = ["Bash(rm *)"]
[[hooks.PreToolUse]]
matcher = "Bash"
hooks = [{ type = "command", command = ".rheon/hooks/check.sh" }]
[mcp_servers.x]
command = "x"
"#,
        )
        .file("project/.rheon/hooks/check.sh", "exit 0\n")
        .file(
            "project/.claude/settings.json",
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
        )
}

#[test]
fn nothing_of_it_counts_before_and_all_of_it_after() {
    let place = project();
    let config = place.load();
    assert_eq!(config.trust, ProjectTrust::Untrusted);
    expect![[r#"
        model = "openai/theirs" [/project/.rheon/config.toml:1] (left out: the project is not trusted)
        permissions.allow = "Bash(make *)" [/project/.rheon/config.toml:3] (left out: the project is not trusted)
        permissions.deny = "Bash(rm *)" [/project/.rheon/config.toml:4]
        hooks.PreToolUse = { matcher = "Bash", hooks = [{ command = ".rheon/hooks/check.sh", type = "command" }] } [/project/.rheon/config.toml:5] (left out: the project is not trusted)
        hooks.Stop = { hooks = [{ type = "command", command = "true" }] } [/project/.claude/settings.json] (left out: the project is not trusted)
        mcp_servers.x = { command = "x" } [/project/.rheon/config.toml:8] (left out: the project is not trusted)"#]].assert_eq(&place.shown(&config));
    expect!["/project: the project is not trusted, so its own content is ignored: .claude/settings.json, .rheon/config.toml, .rheon/hooks/check.sh; review it with `rheon trust show` and accept it with `rheon trust grant`"].assert_eq(&place.warnings(&config));
    assert!(config.settings.hooks.is_empty());
    let review = config.review.unwrap();
    assert!(review.is_open());
    expect![[r#"
        Its hooks run these commands:
          Stop (.claude/settings.json): true
          PreToolUse (.rheon/config.toml): .rheon/hooks/check.sh
        This project contains files that can run commands or instruct the agent:
          211989aa55b9 .claude/settings.json
          70d75a011253 .rheon/config.toml
          879b982e4735 .rheon/hooks/check.sh
        Do you trust them?"#]]
    .assert_eq(&review.question());
    review.grant().unwrap();

    let config = place.load();
    assert_eq!(config.trust, ProjectTrust::Trusted);
    expect![[r#"
        model = "openai/theirs" [/project/.rheon/config.toml:1]
        permissions.allow = "Bash(make *)" [/project/.rheon/config.toml:3]
        permissions.deny = "Bash(rm *)" [/project/.rheon/config.toml:4]
        hooks.PreToolUse = { matcher = "Bash", hooks = [{ command = ".rheon/hooks/check.sh", type = "command" }] } [/project/.rheon/config.toml:5]
        hooks.Stop = { hooks = [{ type = "command", command = "true" }] } [/project/.claude/settings.json]
        mcp_servers.x = { command = "x" } [/project/.rheon/config.toml:8]"#]].assert_eq(&place.shown(&config));
    assert_eq!(place.warnings(&config), "");
    assert_eq!(config.settings.hooks.hooks().count(), 2);
    assert!(!config.review.unwrap().is_open());
}

#[test]
fn a_change_of_what_was_agreed_to_asks_again() {
    for name in
        ["project/.rheon/config.toml", "project/.rheon/hooks/check.sh", "project/.claude/settings.json"]
    {
        let place = project();
        place.load().review.unwrap().grant().unwrap();
        let text = std::fs::read_to_string(place.path(name)).unwrap();
        let place = place.file(name, &format!("{text}\n"));
        let config = place.load();
        assert_eq!(config.trust, ProjectTrust::Untrusted, "{name}");
        assert!(config.settings.hooks.is_empty(), "{name}");
        assert!(config.review.unwrap().is_open(), "{name}");
    }
}

#[test]
fn a_project_that_only_tightens_asks_for_nothing() {
    let place = Place::new().project("limits.turns_max = 3\n[permissions]\ndeny = [\"Bash(rm *)\"]\n");
    let config = place.load();
    assert!(!config.review.unwrap().is_open());
    assert_eq!(config.settings.limits.turns_max, Some(3));
}

#[test]
fn trust_can_be_taken_back_and_left_aside() {
    let place = project();
    place.load().review.unwrap().grant().unwrap();
    let mut inputs = place.inputs();
    inputs.trust = TrustChoice::Nothing;
    let config = place.load_with(inputs);
    assert_eq!((config.trust, config.settings.hooks.is_empty()), (ProjectTrust::Untrusted, true));
    assert_eq!(place.warnings(&config), "");
    assert_eq!(place.load().trust, ProjectTrust::Trusted);
    revoke_trust(&place.path("project"), &place.inputs().dirs).unwrap();
    assert_eq!(place.load().trust, ProjectTrust::Untrusted);
}

#[test]
fn what_cannot_be_looked_at_is_left_out_and_told() {
    let place = project().file("home/.local/state/rheon/trust.json", "{");
    let config = place.load();
    assert_eq!(config.trust, ProjectTrust::Untrusted);
    expect![[r#"/project: the project's own content is ignored: cannot read trusted projects from "/home/.local/state/rheon/trust.json": EOF while parsing an object at line 1 column 1; delete the file to reset trust"#]].assert_eq(&place.warnings(&config));
}

#[test]
fn hooks_of_a_project_are_checked_though_they_do_not_run() {
    let place =
        Place::new().project("[[hooks.PreToolUse]]\nhooks = [{ type = \"command\", comand = \"x\" }]\n");
    expect![[r#"cannot read /project/.rheon/config.toml: line 1: hooks: unknown key "comand"; did you mean "command"?"#]].assert_eq(&place.problems());
    let place = Place::new().user("[[hooks.PreToolUs]]\nhooks = []\n");
    expect![[r#"cannot read /home/.config/rheon/config.toml: line 1: hooks: unknown event "PreToolUs"; did you mean "PreToolUse"?"#]].assert_eq(&place.problems());
}

#[test]
fn trust_for_one_session_counts_and_is_not_remembered() {
    let place = project();
    let inputs = || crate::config::ConfigInputs { trust: TrustChoice::ThisSession, ..place.inputs() };
    let config = place.load_with(inputs());
    assert_eq!((config.trust, config.settings.hooks.hooks().count()), (ProjectTrust::Trusted, 2));
    assert_eq!(config.settings.model.name.as_deref(), Some("openai/theirs"));
    assert_eq!(place.warnings(&config), "");
    assert_eq!(place.load().trust, ProjectTrust::Untrusted);
}

#[test]
fn a_bare_session_has_nothing_of_the_project_and_no_hooks_or_servers_of_the_user() {
    let place = project().user(
        "model = \"openai/mine\"\n[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"true\" }]\n[mcp_servers.y]\ncommand = \"y\"\n",
    );
    let bare = place.load_with(crate::config::ConfigInputs { extent: ConfigScope::Bare, ..place.inputs() });
    assert_eq!(bare.settings.model.name.as_deref(), Some("openai/mine"));
    assert!(bare.settings.hooks.is_empty() && bare.settings.mcp_servers.is_empty() && bare.review.is_none());
    assert_eq!(place.warnings(&bare), "");
    assert_eq!(place.load().settings.hooks.hooks().count(), 1);
}
