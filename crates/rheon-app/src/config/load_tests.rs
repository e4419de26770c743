//! Layers from the weakest to the strongest, and what comes out of them.

use expect_test::{expect, expect_file};

use super::fixtures::Place;
use super::inputs::FlagValue;
use super::origin::Layer;
use super::settings::Settings;

#[test]
fn without_any_file_the_settings_are_the_defaults() {
    let place = Place::new();
    let config = place.load();
    assert_eq!(format!("{:#?}", config.settings), format!("{:#?}", Settings::default()));
    assert_eq!(place.warnings(&config), "");
    assert_eq!(place.plain(&config.project_root.display().to_string()), "/project");
}

#[test]
fn variables_without_effect_are_reported() {
    let place = Place::new()
        .variable("RHEON_CONFG_DIR", "/x")
        .variable("RHEON_TEST_NAME", "x")
        .variable("RHEON_NONSENSE_AT_ALL", "x")
        .variable("ANTHROPIC_BASE_URL", "")
        .variable("OTHER_BASE_URL", "");
    expect![[r#"
        ANTHROPIC_BASE_URL: it is empty, so the usual address is used; set or unset it
        RHEON_CONFG_DIR: unknown variable, which has no effect; did you mean RHEON_CONFIG_DIR?
        RHEON_NONSENSE_AT_ALL: unknown variable, which has no effect"#]]
    .assert_eq(&place.warnings(&place.load()));
}

#[test]
fn stronger_layers_override_and_every_value_says_where_it_comes_from() {
    let place = Place::new()
        .file("home/.claude/settings.json", r#"{"permissions": {"deny": ["Read(./.env)"]}, "theme": "dark"}"#)
        .user("model = \"openai/a\"\neffort = \"low\"\n\n[limits]\nturns_max = 40\nbudget_usd = 2.5\n")
        .project("[limits]\nturns_max = 30\n[permissions]\ndeny = [\n  \"Bash(rm *)\",\n  \"WebFetch\",\n]\n")
        .file("project/.rheon/config.local.toml", "limits.turns_max = 20\n")
        .managed("sandbox.network = \"blocked\"\nlog.level = \"warn\"\n")
        .variable("RHEON_CONFIG_CONTENT", "effort = \"high\"")
        .variable("RHEON_PERMISSION", r#"{"ask": ["Bash(git push *)"]}"#);
    let inputs = place
        .inputs()
        .with_flag("--model", "model", "openai/b")
        .with_flag("--max-budget-usd", "limits.budget_usd", FlagValue::Number("0.10".to_owned()))
        .with_flag("--disallowed-tools", "permissions.deny", vec!["Edit".to_owned()])
        .with_flag("--verbose", "log.level", "trace");
    let config = place.load_with(inputs);
    expect![[r#"
        model = "openai/b" [--model]
        model = "openai/a" [/home/.config/rheon/config.toml:1] (overridden)
        effort = "high" [RHEON_CONFIG_CONTENT:1]
        effort = "low" [/home/.config/rheon/config.toml:2] (overridden)
        limits.turns_max = 20 [/project/.rheon/config.local.toml:1]
        limits.turns_max = 30 [/project/.rheon/config.toml:2] (overridden)
        limits.turns_max = 40 [/home/.config/rheon/config.toml:5] (overridden)
        limits.budget_usd = 0.10 [--max-budget-usd]
        limits.budget_usd = 2.50 [/home/.config/rheon/config.toml:6] (overridden)
        permissions.ask = "Bash(git push *)" [RHEON_PERMISSION]
        permissions.deny = "Read(./.env)" [/home/.claude/settings.json]
        permissions.deny = "Bash(rm *)" [/project/.rheon/config.toml:5]
        permissions.deny = "WebFetch" [/project/.rheon/config.toml:6]
        permissions.deny = "Edit" [--disallowed-tools]
        sandbox.network = "blocked" [/etc/config.toml:1]
        log.level = "warn" [/etc/config.toml:2]
        log.level = "trace" [--verbose] (overridden)"#]]
    .assert_eq(&place.shown(&config));
    expect![[r#"
        ModelSettings { name: Some("openai/b"), fallback: None, effort: Some(High) }
        LimitSettings { turns_max: Some(20), budget: Some(MicroUsd(100000)), tokens_max: None, duration_max: None, output_tokens_max: None }
        LogSettings { level: Warn, keep_days: 14, redact: true }"#]].assert_eq(&format!(
        "{:?}\n{:?}\n{:?}",
        config.settings.model, config.settings.limits, config.settings.log
    ));
    let sources: Vec<String> = config
        .settings
        .permissions
        .sources
        .iter()
        .map(|source| {
            let deny: Vec<&str> = source.document.deny.iter().map(|entry| entry.rule.text()).collect();
            place.plain(&format!("{:?} {} {deny:?}", source.source, source.dir.display()))
        })
        .collect();
    expect![[r#"
        CommandLine /project ["Edit"]
        Project /project ["Bash(rm *)", "WebFetch"]
        User /project []
        User /home/.claude ["Read(./.env)"]"#]]
    .assert_eq(&sources.join("\n"));
    assert_eq!(place.warnings(&config), "");
}

#[test]
fn every_file_that_is_looked_for_is_named() {
    let place = Place::new().user("").project("");
    let config = place.load();
    let lines: Vec<String> = config
        .paths()
        .iter()
        .map(|it| place.plain(&format!("{:13} {} {}", it.layer.as_str(), it.exists, it.path.display())))
        .collect();
    expect![[r#"
        user          false /home/.claude/settings.json
        user          false /home/.config/rheon/settings.json
        user          true /home/.config/rheon/config.toml
        project       false /project/.mcp.json
        project       false /project/.claude/settings.json
        project       false /project/.rheon/settings.json
        project       true /project/.rheon/config.toml
        project-local false /project/.claude/settings.local.json
        project-local false /project/.rheon/settings.local.json
        project-local false /project/.rheon/config.local.toml
        managed       false /etc/config.toml"#]]
    .assert_eq(&lines.join("\n"));
    let rules = config.user_rules.unwrap();
    assert_eq!(place.plain(&rules.display().to_string()), "/home/.config/rheon/settings.json");
}

#[test]
fn everything_can_be_set() {
    let place = Place::new().user(include_str!("everything.toml"));
    let config = place.load();
    let settings = &config.settings;
    expect_file!["./expected/everything.txt"].assert_eq(&place.plain(&format!(
        "{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:#?}",
        settings.model,
        settings.limits,
        settings.sandbox,
        settings.sessions,
        settings.context,
        settings.interface,
        settings.log,
        settings.web
    )));
    assert_eq!(place.warnings(&config), "");
}

#[test]
fn another_file_can_be_named_and_must_then_be_there() {
    let place = Place::new()
        .user("model = \"openai/usual\"")
        .file("project/other.toml", "model = \"openai/other\"")
        .variable("RHEON_CONFIG", "other.toml");
    expect![[r#"model = "openai/other" [/project/other.toml:1]"#]].assert_eq(&place.shown(&place.load()));
    let place = Place::new().variable("RHEON_CONFIG", "missing.toml");
    expect!["cannot read /project/missing.toml: no such file; check the path"].assert_eq(&place.problems());
    let place = Place::new().variable("RHEON_CONFIG_DIR", "relative");
    expect![[r#"cannot read RHEON_CONFIG_DIR: RHEON_CONFIG_DIR is "relative", not an absolute path; set it to one or unset it"#]].assert_eq(&place.problems());
}

#[test]
fn settings_can_be_given_as_a_file_as_json_and_as_toml() {
    let given = |place: &Place, text: &str| {
        let mut inputs = place.inputs();
        inputs.settings = Some(text.to_owned());
        inputs
    };
    let place = Place::new()
        .file("project/mine.toml", "effort = \"max\"")
        .file("project/theirs.json", r#"{"permissions": {"defaultMode": "plan"}, "statusLine": {}}"#);
    expect![[r#"effort = "max" [/project/mine.toml:1]"#]]
        .assert_eq(&place.shown(&place.load_with(given(&place, "mine.toml"))));
    let config = place.load_with(given(&place, "theirs.json"));
    expect![[r#"
        permissions.default_mode = "plan" [/project/theirs.json]
        /project/theirs.json: unknown key "statusLine"; expected one of model, fallback_model, effort, system_prompt, append_system_prompt, limits, permissions, sandbox, env, sessions, context, keys, vendors, hooks, mcp_servers, interface, log, web"#]].assert_eq(&format!("{}\n{}", place.shown(&config), place.warnings(&config)));
    let json = r#"{"limits": {"turns_max": 3}, "permissions": {"disableBypassPermissionsMode": "disable"}}"#;
    expect![[r#"
        limits.turns_max = 3 [--settings]
        permissions.disable_bypass = true [--settings]"#]]
    .assert_eq(&place.shown(&place.load_with(given(&place, json))));
    expect!["web.fetch = false [--settings:1]"]
        .assert_eq(&place.shown(&place.load_with(given(&place, "web.fetch = false"))));
    expect!["cannot read /project/nowhere.toml: no such file; check the path"]
        .assert_eq(&place.problems_with(given(&place, "nowhere.toml")));
    expect!["cannot read --settings: line 1: EOF while parsing a value"]
        .assert_eq(&place.problems_with(given(&place, "{\"model\": ")));
}

#[test]
fn the_project_is_the_nearest_directory_with_a_mark_and_never_the_home() {
    let place = Place::new()
        .file("home/.rheon/config.toml", "this is not read")
        .file("home/work/inner/deep/file", "")
        .file("home/work/.rheon/config.toml", "interface.title = false");
    let root = |working_dir: &str| {
        let mut inputs = place.inputs();
        inputs.working_dir = place.path(working_dir);
        place.plain(&place.load_with(inputs).project_root.display().to_string())
    };
    assert_eq!(root("home/work/inner/deep"), "/home/work");
    assert_eq!(root("home"), "/home");
    assert_eq!(root("project"), "/project");
}

#[test]
fn a_program_without_a_home_has_settings_all_the_same() {
    let place = Place::new().project("interface.title = false");
    let mut inputs = place.inputs();
    inputs.environment = [("PATH", "/bin")].into_iter().collect();
    inputs.dirs = crate::sessions::UserDirs::of(&inputs.environment);
    let config = place.load_with(inputs);
    assert!(!config.settings.interface.title);
    assert_eq!(config.user_rules, None);
}

#[test]
fn files_of_layers_that_are_left_out_are_not_read() {
    let place = Place::new()
        .user("this is not read")
        .file("home/.claude/settings.json", "nor this")
        .file("project/.rheon/config.local.toml", "nor this")
        .project("interface.title = false")
        .variable("RHEON_CONFIG_CONTENT", "interface.spinner = false")
        .managed("web.fetch = false");
    let mut inputs = place.inputs();
    inputs.left_out = vec![Layer::User, Layer::ProjectLocal];
    expect![[r#"
        interface.title = false [/project/.rheon/config.toml:1]
        interface.spinner = false [RHEON_CONFIG_CONTENT:1]
        web.fetch = false [/etc/config.toml:1]"#]]
    .assert_eq(&place.shown(&place.load_with(inputs)));
}
