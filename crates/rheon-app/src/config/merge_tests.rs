//! What a project may do with each key, row by row.

use expect_test::{expect, expect_file};

use super::fixtures::Place;
use super::keys::KEYS;
use super::load::Config;

/// What comes of a project's line, over the settings of the user.
fn outcome(user: &str, project: &str) -> String {
    let place = Place::new().user(user).project(project);
    match Config::load(place.inputs()) {
        Err(error) => format!("error: {}", place.plain(&error.to_string())),
        Ok(config) => {
            let shown = config.show();
            let mine =
                shown.iter().filter(|shown| place.plain(&shown.origin.to_string()).starts_with("/project"));
            let effects: Vec<String> =
                mine.map(|shown| format!("{} = {} {:?}", shown.key, shown.value, shown.effect)).collect();
            format!("{} | {}", effects.join(", "), place.warnings(&config))
        }
    }
}

/// A line for every key, tightest sense first.
const LINES: &[&str] = &[
    "model = \"openai/x\"",
    "fallback_model = \"openai/x\"",
    "effort = \"low\"",
    "system_prompt = \"x\"",
    "append_system_prompt = \"x\"",
    "limits.turns_max = 3",
    "limits.budget_usd = 0.5",
    "limits.tokens_max = 3",
    "limits.minutes_max = 3",
    "limits.output_tokens_max = 3",
    "permissions.default_mode = \"plan\"",
    "permissions.default_mode = \"bypassPermissions\"",
    "permissions.allow = [\"Bash(x)\"]",
    "permissions.ask = [\"Bash(x)\"]",
    "permissions.deny = [\"Bash(x)\"]",
    "permissions.additional_directories = [\"..\"]",
    "permissions.disable_bypass = true",
    "permissions.disable_bypass = false",
    "sandbox.require = \"namespaces\"",
    "sandbox.require = \"none\"",
    "sandbox.network = \"blocked\"",
    "sandbox.network = \"open\"",
    "sandbox.network = [\"example.com\"]",
    "sandbox.caches = \"private\"",
    "sandbox.caches = \"shared\"",
    "sandbox.cache_bytes_max = 3",
    "sandbox.processes_max = 3",
    "sandbox.memory_bytes_max = 3",
    "sandbox.file_bytes_max = 3",
    "sandbox.auto_allow = \"ask\"",
    "sandbox.auto_allow = \"allow\"",
    "sandbox.outside = [\"sh *\"]",
    "sandbox.env_hide = [\"HOME\"]",
    "sandbox.env_pass = [\"AWS_*\"]",
    "env.PATH = \"/evil\"",
    "sessions.keep = false",
    "sessions.transcripts = false",
    "sessions.checkpoints = false",
    "sessions.on_failure = \"refuse\"",
    "sessions.blob_bytes_max = 3",
    "context.off = [\"code-map\"]",
    "context.reminders = false",
    "context.auto_compact = false",
    "context.warn_percent = 50",
    "context.compact_percent = 50",
    "keys.openai = \"sk-x\"",
    "vendors.openai.base_url = \"https://x\"",
    "hooks.Stop = [{ hooks = [{ type = \"command\", command = \"x\" }] }]",
    "mcp_servers.x.command = \"x\"",
    "interface.color = \"never\"",
    "interface.notify = false",
    "interface.notify_after_seconds = 3",
    "interface.title = false",
    "interface.spinner = false",
    "interface.markdown = false",
    "log.level = \"off\"",
    "log.keep_days = 3",
    "log.redact = false",
    "web.fetch = false",
    "web.fetch = true",
];

#[test]
fn every_key_is_tried_by_a_project_that_is_not_trusted() {
    for row in KEYS {
        let prefix = row.path.trim_end_matches('*');
        assert!(LINES.iter().any(|line| line.starts_with(prefix)), "{} is not tried", row.path);
    }
    let outcomes: Vec<String> =
        LINES.iter().map(|line| format!("{line}\n  -> {}", outcome("", line))).collect();
    expect_file!["./expected/project_may.txt"].assert_eq(&outcomes.join("\n"));
}

#[test]
fn what_is_compared_is_compared_with_the_user_and_the_tighter_one_stays() {
    let cases = [
        ("limits.turns_max = 5", "limits.turns_max = 9"),
        ("limits.turns_max = 5", "limits.turns_max = 5"),
        ("limits.budget_usd = 1", "limits.budget_usd = 1.000001"),
        ("limits.budget_usd = 1", "limits.budget_usd = 0.999999"),
        ("sandbox.require = \"namespaces\"", "sandbox.require = \"landlock\""),
        ("sandbox.require = \"none\"", "sandbox.require = \"landlock\""),
        ("sandbox.network = \"open\"", "sandbox.network = \"blocked\""),
        ("sandbox.auto_allow = \"allow\"", "sandbox.auto_allow = \"ask\""),
        ("web.fetch = false", "web.fetch = true"),
        ("permissions.disable_bypass = true", "permissions.disable_bypass = false"),
    ];
    let outcomes =
        cases.map(|(user, project)| format!("{user} / {project}\n  -> {}", outcome(user, project)));
    expect![[r#"
        limits.turns_max = 5 / limits.turns_max = 9
          -> limits.turns_max = 9 LeftOut("a project can only make it stricter") | /project/.rheon/config.toml: line 1: a project can only lower "limits.turns_max", so 5 stays instead of 9
        limits.turns_max = 5 / limits.turns_max = 5
          -> limits.turns_max = 5 Counts | 
        limits.budget_usd = 1 / limits.budget_usd = 1.000001
          -> limits.budget_usd = 1.000001 LeftOut("a project can only make it stricter") | /project/.rheon/config.toml: line 1: a project can only lower "limits.budget_usd", so 1.00 stays instead of 1.000001
        limits.budget_usd = 1 / limits.budget_usd = 0.999999
          -> limits.budget_usd = 0.999999 Counts | 
        sandbox.require = "namespaces" / sandbox.require = "landlock"
          -> sandbox.require = "landlock" LeftOut("a project can only make it stricter") | /project/.rheon/config.toml: line 1: a project can only tighten "sandbox.require", so "namespaces" stays instead of "landlock"
        sandbox.require = "none" / sandbox.require = "landlock"
          -> sandbox.require = "landlock" Counts | 
        sandbox.network = "open" / sandbox.network = "blocked"
          -> sandbox.network = "blocked" Counts | 
        sandbox.auto_allow = "allow" / sandbox.auto_allow = "ask"
          -> sandbox.auto_allow = "ask" Counts | 
        web.fetch = false / web.fetch = true
          -> error: cannot read /project/.rheon/config.toml: line 1: a project may not set "web.fetch" to true; set it in your own settings
        permissions.disable_bypass = true / permissions.disable_bypass = false
          -> error: cannot read /project/.rheon/config.toml: line 1: a project may not set "permissions.disable_bypass" to false; set it in your own settings"#]].assert_eq(&outcomes.join("\n"));
}

#[test]
fn a_project_can_set_a_limit_or_lower_the_users() {
    let limits = |user: &str, project: &str| {
        let settings = Place::new().user(user).project(project).load().settings;
        format!("{user} / {project}\n  -> {:?}", settings.limits.execution())
    };
    let many = "limits = { turns_max = 9000, tokens_max = 9000000000, minutes_max = 9000 }";
    let few = "limits = { turns_max = 3, tokens_max = 4, minutes_max = 5 }";
    let middle = "limits = { turns_max = 500, tokens_max = 50000000, minutes_max = 500 }";
    let outcomes = [
        limits("", ""),
        limits("", many),
        limits("", few),
        limits(many, middle),
        limits(middle, many),
        limits(many, ""),
    ];
    expect![[r#"
         / 
          -> ExecutionLimits { turns_max: None, tokens_max: None, duration_max: None }
         / limits = { turns_max = 9000, tokens_max = 9000000000, minutes_max = 9000 }
          -> ExecutionLimits { turns_max: Some(9000), tokens_max: Some(9000000000), duration_max: Some(540000s) }
         / limits = { turns_max = 3, tokens_max = 4, minutes_max = 5 }
          -> ExecutionLimits { turns_max: Some(3), tokens_max: Some(4), duration_max: Some(300s) }
        limits = { turns_max = 9000, tokens_max = 9000000000, minutes_max = 9000 } / limits = { turns_max = 500, tokens_max = 50000000, minutes_max = 500 }
          -> ExecutionLimits { turns_max: Some(500), tokens_max: Some(50000000), duration_max: Some(30000s) }
        limits = { turns_max = 500, tokens_max = 50000000, minutes_max = 500 } / limits = { turns_max = 9000, tokens_max = 9000000000, minutes_max = 9000 }
          -> ExecutionLimits { turns_max: Some(500), tokens_max: Some(50000000), duration_max: Some(30000s) }
        limits = { turns_max = 9000, tokens_max = 9000000000, minutes_max = 9000 } / 
          -> ExecutionLimits { turns_max: Some(9000), tokens_max: Some(9000000000), duration_max: Some(540000s) }"#]].assert_eq(&outcomes.join("\n"));
}

#[test]
fn a_local_file_of_a_project_is_no_freer_than_its_shared_one() {
    let place = Place::new()
        .user("limits.turns_max = 9")
        .project("limits.turns_max = 5")
        .file("project/.rheon/config.local.toml", "limits.turns_max = 7\nsandbox.network = \"open\"");
    expect![[r#"cannot read /project/.rheon/config.local.toml: line 2: a project may not set "sandbox.network" to "open"; set it in your own settings"#]].assert_eq(&place.problems());
    let place = Place::new()
        .project("limits.turns_max = 5")
        .file("project/.rheon/config.local.toml", "limits.turns_max = 7");
    let config = place.load();
    assert_eq!(config.settings.limits.turns_max, Some(5));
    expect![[r#"/project/.rheon/config.local.toml: line 1: a project can only lower "limits.turns_max", so 5 stays instead of 7"#]].assert_eq(&place.warnings(&config));
}

#[test]
fn the_hand_of_the_user_is_stronger_than_a_project_and_the_machine_stronger_than_both() {
    let place = Place::new().project("limits.turns_max = 5\nsandbox.require = \"namespaces\"");
    let inputs = place.inputs().with_flag("--max-turns", "limits.turns_max", 50_u64).with_flag(
        "--no-sandbox",
        "sandbox.require",
        "none",
    );
    expect![[r#"
        limits.turns_max = 50 [--max-turns]
        limits.turns_max = 5 [/project/.rheon/config.toml:1] (overridden)
        sandbox.require = "none" [--no-sandbox]
        sandbox.require = "namespaces" [/project/.rheon/config.toml:2] (overridden)"#]]
    .assert_eq(&place.shown(&place.load_with(inputs.clone())));
    let place = place.managed("limits.turns_max = 10\nsandbox.require = \"landlock\"");
    expect![[r#"
        limits.turns_max = 10 [/etc/config.toml:1]
        limits.turns_max = 50 [--max-turns] (overridden)
        limits.turns_max = 5 [/project/.rheon/config.toml:1] (overridden)
        sandbox.require = "landlock" [/etc/config.toml:2]
        sandbox.require = "none" [--no-sandbox] (overridden)
        sandbox.require = "namespaces" [/project/.rheon/config.toml:2] (overridden)"#]]
    .assert_eq(&place.shown(&place.load_with(inputs)));
}
