//! What is wrong is told: where it is, what it is, and what would be right.

use expect_test::expect;

use super::fixtures::Place;

#[test]
fn unknown_keys_have_a_line_and_a_suggestion() {
    let text = "modle = \"a\"\n\n[limits]\nturn_max = 3\nturns_max = 4\n\n[sandbx]\nx = 1\n[interface]\nwallpaper = 1\n";
    let place = Place::new().user(text).managed("[log]\nlevels = 1");
    expect![[r#""#]].assert_eq(&place.problems());
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
    expect![[r#""#]].assert_eq(&Place::new().user(text).problems());
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
    expect![[r#""#]].assert_eq(&sums.map(budget).join("\n"));
}

#[test]
fn texts_that_are_no_toml_are_told_with_their_lines() {
    let text = "model = \"a\"\nmodel = \"b\"\neffort = low\n[limits\n";
    expect![[r#""#]].assert_eq(&Place::new().user(text).problems());
    let place = Place::new().bytes("home/.config/rheon/config.toml", b"effort = \"low\"\nmodel = \"\xff\"\n");
    expect![[r#""#]].assert_eq(&place.problems());
    let deep = format!("hooks.PreToolUse = {}1{}", "[".repeat(40), "]".repeat(40));
    expect![[r#""#]].assert_eq(&Place::new().user(&deep).problems());
}

#[test]
fn a_file_at_the_limit_is_read_and_one_above_it_is_not() {
    let filled = |bytes: usize| format!("effort = \"low\"\n#{}", "x".repeat(bytes - 16));
    let limit = usize::try_from(super::read_file::FILE_BYTES_MAX).unwrap();
    assert_eq!(Place::new().user(&filled(limit)).problems(), "nothing is wrong");
    expect![[r#""#]].assert_eq(&Place::new().user(&filled(limit + 1)).problems());
    let place = Place::new().variable("RHEON_CONFIG_CONTENT", &filled(limit + 1));
    expect![[r#""#]].assert_eq(&place.problems());
}

#[test]
fn lists_have_a_limit() {
    let rules = |count: usize| format!("permissions.deny = [{}]", "\"Edit\",".repeat(count));
    assert_eq!(Place::new().user(&rules(5_000)).problems(), "nothing is wrong");
    expect![[r#""#]].assert_eq(&Place::new().user(&rules(5_001)).problems());
}

#[test]
fn what_is_no_regular_file_is_refused() {
    let place = Place::new().file("home/.config/rheon/config.toml/inner", "");
    expect![[r#""#]].assert_eq(&place.problems());
    let place = Place::new();
    let file = place.path("project/.rheon/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    expect![[r#""#]].assert_eq(&place.problems());
}

#[test]
fn permissions_of_a_variable_are_read_strictly() {
    let problems = |text: &str| Place::new().variable("RHEON_PERMISSION", text).problems();
    expect![[r#""#]].assert_eq(&problems("{\"denny\": []}"));
    expect![[r#""#]].assert_eq(&problems("{\"deny\": [\"Bash\"], \"deny\": []}"));
    expect![[r#""#]].assert_eq(&problems("[1]"));
    expect![[r#""#]].assert_eq(&problems("not json"));
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
    expect![[r#""#]].assert_eq(&place.shown(&config));
    expect![[r#""#]].assert_eq(&place.warnings(&config));
    assert_eq!(config.settings.hooks.hooks().count(), 1);
    // Without a key for Anthropic its choice of a model would only be in the way.
    let place = Place::new().file("home/.claude/settings.json", text);
    assert_eq!(place.load().settings.model.name, None);
    // A rule that forbids something is never passed over.
    let place = Place::new().file("home/.claude/settings.json", r#"{"permissions": {"deny": ["Bash("]}}"#);
    expect![[r#""#]].assert_eq(&place.problems());
}
