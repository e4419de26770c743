//! What is wrong is told: where it is, what it is, and what would be right.

use expect_test::expect;

use super::fixtures::Place;

#[test]
fn unknown_keys_have_a_line_and_a_suggestion() {
    let text = "modle = \"a\"\n\n[limits]\nturn_max = 3\nturns_max = 4\n\n[sandbx]\nx = 1\n[interface]\nwallpaper = 1\n";
    let place = Place::new().user(text).managed("[log]\nlevels = 1");
    expect![[r#"
        cannot read /home/.config/rheon/config.toml: line 1: unknown key "modle", did you mean "model"?
        cannot read /home/.config/rheon/config.toml: line 4: unknown key "turn_max" in [limits], did you mean "turns_max"?
        cannot read /home/.config/rheon/config.toml: line 7: unknown key "sandbx", did you mean "sandbox"?
        cannot read /home/.config/rheon/config.toml: line 10: unknown key "wallpaper" in [interface]; expected one of color, notify, notify_after_seconds, title, spinner, markdown
        cannot read /etc/config.toml: line 2: unknown key "levels" in [log], did you mean "level"?"#]].assert_eq(&place.problems());
}

#[test]
fn wrong_types_and_values_are_told_all_at_once() {
    let text = r#"model = 3
effort = "huge"
limits = 5
permissions.allow = "Bash"
permissions.deny = ["Bash(", 7]
permissions.ask = [{ rule = "Edit", matches = [] }]
permissions.disable_bypass = "yes"
sandbox.require = "bwrap"
sessions.transcripts = 3
sessions.blob_bytes_max = -1
context.off = ["codemap"]
context.warn_percent = 101
interface.notify_after_seconds = 1.5
log.keep_days = 1979-05-27
system_prompt = ""
"#;
    expect![[r#"
        cannot read /home/.config/rheon/config.toml: line 1: "model" is a number; it must be a string
        cannot read /home/.config/rheon/config.toml: line 2: "effort": unknown value "huge"; use one of "low", "medium", "high", "max"
        cannot read /home/.config/rheon/config.toml: line 3: "limits" is a number; it must be a table, [limits]
        cannot read /home/.config/rheon/config.toml: line 4: "permissions.allow" is a string; it must be a list of rules
        cannot read /home/.config/rheon/config.toml: line 5: "permissions.deny": cannot read the rule "Bash(": character 6: the parenthesis is not closed; write Bash()
        cannot read /home/.config/rheon/config.toml: line 5: "permissions.deny" contains a number; it must be a list of rules
        cannot read /home/.config/rheon/config.toml: line 6: "permissions.ask": unknown key "matches", did you mean "match"?
        cannot read /home/.config/rheon/config.toml: line 7: "permissions.disable_bypass" is a string; it must be true or false
        cannot read /home/.config/rheon/config.toml: line 8: "sandbox.require": unknown value "bwrap"; use one of "none", "landlock", "namespaces"
        cannot read /home/.config/rheon/config.toml: line 9: "sessions.transcripts" is a number; it must be true, false, or a directory
        cannot read /home/.config/rheon/config.toml: line 10: "sessions.blob_bytes_max": -1 is out of range; use a whole number from 1
        cannot read /home/.config/rheon/config.toml: line 11: "context.off": unknown context source "codemap": use one of base, rules, tool-notes, skills, memory, learnings, code-map, environment, effort
        cannot read /home/.config/rheon/config.toml: line 12: "context.warn_percent": 101 is out of range; use a whole number from 1 to 100
        cannot read /home/.config/rheon/config.toml: line 13: "interface.notify_after_seconds": 1.5 is out of range; use a whole number from 0 to 1000000
        cannot read /home/.config/rheon/config.toml: line 14: "log.keep_days" is a date or nothing; it must be a whole number from 1 to 36500
        cannot read /home/.config/rheon/config.toml: line 15: "system_prompt": the text is empty; set it or remove the key"#]].assert_eq(&Place::new().user(text).problems());
}

#[test]
fn sums_of_money_are_exact() {
    let budget = |text: &str| {
        let place = Place::new().user(&format!("limits.budget_usd = {text}"));
        match super::load::Config::load(place.inputs()) {
            Ok(config) => format!("{text}: {}", config.settings.limits.budget.unwrap()),
            Err(error) => place.plain(&error.to_string()),
        }
    };
    let sums = [
        "2",
        "0.1",
        "2.50",
        "1_000.000001",
        "0.0000001",
        "0",
        "0.0",
        "-1",
        "inf",
        "1e3",
        "20000000000000",
        "\"2\"",
    ];
    expect![[r#"
        2: $2.000000
        0.1: $0.100000
        2.50: $2.500000
        1_000.000001: $1000.000001
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd": 0.0000001 has more than six decimals; round it
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd": a budget of 0 lets nothing run; set an amount or remove the key
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd": a budget of 0 lets nothing run; set an amount or remove the key
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd": -1 is not an amount in dollars; write it like 2.50
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd": inf is not an amount in dollars; write it like 2.50
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd": 1e3 is not an amount in dollars; write it like 2.50
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd": 20000000000000 is not an amount in dollars; write it like 2.50
        cannot read /home/.config/rheon/config.toml: line 1: "limits.budget_usd" is a string; it must be US dollars"#]].assert_eq(&sums.map(budget).join("\n"));
}

#[test]
fn texts_that_are_no_toml_are_told_with_their_lines() {
    let text = "model = \"a\"\nmodel = \"b\"\neffort = low\n[limits\n";
    expect![[r#"
        cannot read /home/.config/rheon/config.toml: line 2: duplicate key
        cannot read /home/.config/rheon/config.toml: line 3: string values must be quoted, expected literal string
        cannot read /home/.config/rheon/config.toml: line 4: unclosed table, expected `]`"#]].assert_eq(&Place::new().user(text).problems());
    let place = Place::new().bytes("home/.config/rheon/config.toml", b"effort = \"low\"\nmodel = \"\xff\"\n");
    expect!["cannot read /home/.config/rheon/config.toml: line 2 is not UTF-8; save the file as UTF-8"]
        .assert_eq(&place.problems());
    let deep = format!("hooks.PreToolUse = {}1{}", "[".repeat(40), "]".repeat(40));
    expect!["cannot read /home/.config/rheon/config.toml: tables and lists are nested more than 16 deep"]
        .assert_eq(&Place::new().user(&deep).problems());
}

#[test]
fn a_file_at_the_limit_is_read_and_one_above_it_is_not() {
    let filled = |bytes: usize| format!("effort = \"low\"\n#{}", "x".repeat(bytes - 16));
    let limit = usize::try_from(super::read_file::FILE_BYTES_MAX).unwrap();
    assert_eq!(Place::new().user(&filled(limit)).problems(), "nothing is wrong");
    expect!["cannot read /home/.config/rheon/config.toml: it is larger than 1048576 bytes; make it smaller"]
        .assert_eq(&Place::new().user(&filled(limit + 1)).problems());
    let place = Place::new().variable("RHEON_CONFIG_CONTENT", &filled(limit + 1));
    expect!["cannot read RHEON_CONFIG_CONTENT: it is larger than 1048576 bytes; make it smaller"]
        .assert_eq(&place.problems());
}

#[test]
fn a_file_of_nothing_but_mistakes_is_not_read_to_its_end() {
    let keys: String = (0..60_000).map(|index| format!("k{index} = 1\n")).collect();
    let problems = Place::new().user(&keys).problems();
    assert_eq!(problems.lines().count(), 21);
    assert!(problems.ends_with("and 80 more"), "{problems}");
    let lists = format!("permissions.deny = [{}]", "1,".repeat(4_000));
    assert!(Place::new().user(&lists).problems().ends_with("and 80 more"));
    let broken = "x = \n".repeat(10_000);
    assert!(Place::new().user(&broken).problems().lines().count() <= 21);
}

#[test]
fn lists_have_a_limit() {
    let rules = |count: usize| format!("permissions.deny = [{}]", "\"Edit\",".repeat(count));
    assert_eq!(Place::new().user(&rules(5_000)).problems(), "nothing is wrong");
    expect![[r#"cannot read /home/.config/rheon/config.toml: line 1: "permissions.deny" has more than 5000 items; remove some"#]].assert_eq(&Place::new().user(&rules(5_001)).problems());
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let place = Place::new().file("home/.config/rheon/config.toml/inner", "");
    expect!["cannot read /home/.config/rheon/config.toml: not a regular file; replace or remove it"]
        .assert_eq(&place.problems());
    let place = Place::new();
    let file = place.path("project/.rheon/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    expect!["cannot read /project/.rheon/config.toml: not a regular file; replace or remove it"]
        .assert_eq(&place.problems());
}

#[test]
fn permissions_of_a_variable_are_read_strictly() {
    let problems = |text: &str| Place::new().variable("RHEON_PERMISSION", text).problems();
    expect![[r#"cannot read RHEON_PERMISSION: unknown key "denny" in [permissions], did you mean "deny"?"#]]
        .assert_eq(&problems("{\"denny\": []}"));
    expect![[r#"cannot read RHEON_PERMISSION: line 1: the key "deny" is defined twice; merge the two"#]]
        .assert_eq(&problems("{\"deny\": [\"Bash\"], \"deny\": []}"));
    expect![[r#"cannot read RHEON_PERMISSION: "permissions" is a list; it must be a table, [permissions]"#]]
        .assert_eq(&problems("[1]"));
    expect!["cannot read RHEON_PERMISSION: line 1: expected ident"].assert_eq(&problems("not json"));
}

#[test]
fn the_settings_of_claude_code_are_understood_as_far_as_they_matter() {
    let text = r#"{"model": "claude-opus-4-1[1m]", "env": {"A": "b"}, "cleanupPeriodDays": 3, "sandbox": {"enabled": true},
        "permissions": {"defaultMode": "auto", "allow": ["Bash(", "Edit"], "disableAutoMode": "disable"},
        "hooks": {"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "x"}]}],
                  "Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    let place =
        Place::new().file("home/.claude/settings.json", text).variable("ANTHROPIC_API_KEY", "sk-test");
    let config = place.load();
    expect![[r#"
        model = "anthropic/claude-opus-4-1" [/home/.claude/settings.json]
        permissions.default_mode = "auto" [/home/.claude/settings.json]
        permissions.allow = "Edit" [/home/.claude/settings.json]
        env.A = "b" [/home/.claude/settings.json]
        hooks.PreToolUse = { hooks = [{ type = "prompt", prompt = "x" }] } [/home/.claude/settings.json]
        hooks.Stop = { hooks = [{ type = "command", command = "true" }] } [/home/.claude/settings.json]"#]]
    .assert_eq(&place.shown(&config));
    expect![[r#"
        /home/.claude/settings.json: "permissions.allow": cannot read the rule "Bash(": character 6: the parenthesis is not closed; write Bash()
        /home/.claude/settings.json: hooks: unknown key "prompt"; expected one of type, command, args, timeout, if, async, statusMessage, onFailure, sandbox"#]].assert_eq(&place.warnings(&config));
    assert_eq!(config.settings.hooks.hooks().count(), 1);
    // Without a key for Anthropic its choice of a model would only be in the way.
    let place = Place::new().file("home/.claude/settings.json", text);
    assert_eq!(place.load().settings.model.name, None);
    // A rule that forbids something is never passed over.
    let place = Place::new().file("home/.claude/settings.json", r#"{"permissions": {"deny": ["Bash("]}}"#);
    expect![[r#"cannot read /home/.claude/settings.json: "permissions.deny": cannot read the rule "Bash(": character 6: the parenthesis is not closed; write Bash()"#]].assert_eq(&place.problems());
}

#[test]
fn an_empty_directory_that_a_sandbox_left_in_a_project_is_no_file_of_settings() {
    let place = Place::new();
    for name in [".mcp.json", ".rheon/config.toml", ".claude/settings.json"] {
        std::fs::create_dir_all(place.path("project").join(name)).unwrap();
    }
    assert_eq!(place.problems(), "nothing is wrong");
    let place = place.file("project/.mcp.json/inner", "");
    expect!["cannot read /project/.mcp.json: not a regular file; replace or remove it"]
        .assert_eq(&place.problems());
}

#[test]
fn renamed_keys_still_work_with_a_deprecation_notice() {
    let place = Place::new()
        .user("sandbox.run_held = \"allow\"\n[sessions]\non_trouble = \"in_memory\"\n[interface]\ncolour = \"never\"\n");
    let config = place.load();
    expect![[r#"
        /home/.config/rheon/config.toml: line 1: "sandbox.run_held" is deprecated; use "sandbox.auto_allow"
        /home/.config/rheon/config.toml: line 3: "sessions.on_trouble" is deprecated; use "sessions.on_failure"
        /home/.config/rheon/config.toml: line 5: "interface.colour" is deprecated; use "interface.color""#]]
    .assert_eq(&place.warnings(&config));
    expect![[r#"
        sandbox.auto_allow = "allow" [/home/.config/rheon/config.toml:1]
        sessions.on_failure = "in_memory" [/home/.config/rheon/config.toml:3]
        interface.color = "never" [/home/.config/rheon/config.toml:5]"#]]
    .assert_eq(&place.shown(&config));
}
