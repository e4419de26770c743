//! Rules times calls: whole explanations (D7, D13, D14, D20, modes).

use expect_test::expect_file;
use rheon_types::event::PermissionMode;
use serde_json::json;

use crate::policy::Decision;
use crate::policy::call::PATHS_MAX;
use crate::policy::explanation::REASONS_MAX;
use crate::policy::fixtures::{World, bash, call, read, write};
use crate::policy::truncation::CHARACTERS_MAX;

const POLICY_D: &str = r#"{"allow":["Bash(git status *)","Bash(ls *)","Bash(cat *)","Bash(find *)","Bash(echo *)","Bash(mkdir *)"],
    "deny":["Bash(curl *)","Bash(rm -rf *)"]}"#;

#[test]
fn every_part_of_a_line_is_checked() {
    let world = World::new();
    let gate = world.gate(POLICY_D);
    let lines = [
        "ls; curl x",
        "ls && curl x",
        "ls || curl x",
        "ls | curl x",
        "ls\ncurl x",
        "ls\rcurl x",
        "ls; mytool",
        "timeout 5 curl x",
        "/usr/bin/curl x",
        "timeout 5 mkdir a",
        "curl $X",
        "cd $X && curl x",
        "# nothing $X",
        "",
    ];
    expect_file!["expected/every_part_of_a_line_is_checked.txt"]
        .assert_eq(&world.explain(&gate, &lines.map(bash)));
}

#[test]
fn a_rule_covers_nothing_more_dangerous_than_its_words() {
    let world = World::new();
    let gate = world.gate(
        r#"{"allow":["Bash(find *)","Bash(git push *)","Bash(mytool *)","Bash(* --version)","Bash(rm x)"]}"#,
    );
    let lines = [
        "find . -exec sh",
        "find .",
        "git push origin",
        "git push -f",
        "mytool x",
        "other --version",
        "npm --version",
        "rm x",
        "rm y",
        "rm -rf x",
        "LD_PRELOAD=x ls",
        "LC_ALL=C ls",
        "LD_PRELOAD=x find .",
    ];
    expect_file!["expected/a_rule_covers_nothing_more_dangerous_than_its_words.txt"]
        .assert_eq(&world.explain(&gate, &lines.map(bash)));
}

#[test]
fn paths_among_words_are_resolved_and_checked() {
    let world = World::new();
    world.link("secret", "work/link");
    let gate = world.gate(&POLICY_D.replace("\"deny\":[", "\"deny\":[\"Read(.env)\","));
    let lines = [
        "cat ~/.ssh/id_rsa",
        "cat ~root/x",
        "cat ../secret",
        "cat link",
        "cat src/main.rs",
        "cat .env",
        "ls src/../.env",
        "grep --file=../secret x",
        "grep -f../secret x",
        "grep /api/none src",
        "cp .env b",
        "echo .env",
        "cat /dev/null",
        "ls ../work-evil",
    ];
    expect_file!["expected/paths_among_words_are_resolved_and_checked.txt"]
        .assert_eq(&world.explain(&gate, &lines.map(bash)));
}

#[test]
fn redirections_are_edits_and_the_dir_is_tracked() {
    let world = World::new();
    let gate = world.gate(&POLICY_D.replace("\"allow\":[", "\"allow\":[\"Edit(src/**)\","));
    let lines = [
        "echo x > src/a",
        "echo x > b",
        "echo x > /dev/null",
        "echo x > ../b",
        "cat < ../secret",
        "cd .git && echo x > hooks/x",
        "cd .git && mkdir x",
        "cd .git && ls",
        "cd src && echo x > a",
        "cd src && echo x > ../.git/config",
        "echo x > $F",
        "cd .. && ls",
        "cd $D && echo x > a",
        "echo x > /dev/udp/h/1",
    ];
    expect_file!["expected/redirections_are_edits_and_the_dir_is_tracked.txt"]
        .assert_eq(&world.explain(&gate, &lines.map(bash)));
}

#[test]
fn file_tools_follow_their_paths() {
    let world = World::new();
    world.link("secret", "work/link");
    world.link("work/.env", "work/src/shown");
    world.link("work/src/main.rs", "work/alias");
    let gate = world.gate(
        r#"{"deny":["Read(.env)","Edit(/src/gen/**)"],"ask":["Read(*.pem)"],"allow":["Edit(src/**)","Read(~/.ssh/*.pub)","Edit(.git/**)"]}"#,
    );
    let calls = [
        read("src/main.rs"),
        read(".env"),
        read("src/../.env"),
        read("src/shown"),
        read("link"),
        read("../secret"),
        read("~/.ssh/id_rsa"),
        read("~/.ssh/x.pub"),
        read("../work-evil/x"),
        read(""),
        read("a\0b"),
        read("key.pem"),
        read(".git/config"),
        write("src/a.rs"),
        write("src/gen/a.rs"),
        write("alias"),
        write("b"),
        write(".git/hooks/x"),
        write("../b"),
        call("edit", json!({})),
        call("list", json!({})),
        call("glob", json!({"pattern": "../**"})),
        call("glob", json!({"pattern": "**/*.rs"})),
        call("search", json!({"pattern": "x", "path": "/"})),
    ];
    expect_file!["expected/file_tools_follow_their_paths.txt"].assert_eq(&world.explain(&gate, &calls));
}

#[test]
fn other_tools_are_judged_by_name_domain_and_argument() {
    let world = World::new();
    let gate = world.gate(
        r#"{"allow":["WebFetch(domain:*.rust-lang.org)","mcp__wiki__read","mcp__git__get_*","Agent(explore)"],
            "ask":["Agent(ship*)"],"deny":["WebFetch(domain:evil.com)","mcp__git__delete_*","deploy(target:prod)","Skill(bad)"]}"#,
    );
    let fetch = |url: &str| call("web_fetch", json!({ "url": url }));
    let named = |name: &str| call("agent", json!({ "agent": name }));
    let calls = [
        fetch("https://doc.rust-lang.org/x"),
        fetch("https://rust-lang.org.evil.com"),
        fetch("https://EVIL.com./"),
        fetch("https://doc.rust-lang.org@evil.com"),
        fetch("x"),
        fetch("https://*/"),
        call("mcp__wiki__read", json!({})),
        call("mcp__wiki__write", json!({})),
        call("mcp__git__get_x", json!({})),
        call("mcp__git__delete_x", json!({})),
        named("explore"),
        named("ship-it"),
        named("x"),
        named("*"),
        call("deploy", json!({"target": "prod"})),
        call("deploy", json!({"target": "test"})),
        call("look", json!({})),
        call("todo", json!({})),
        call("skill", json!({"name": "bad"})),
        call("skill", json!({"name": "good"})),
    ];
    expect_file!["expected/other_tools_are_judged_by_name_domain_and_argument.txt"]
        .assert_eq(&world.explain(&gate, &calls));
}

#[test]
fn rules_mean_what_their_documentation_says() {
    let world = World::new();
    for dir in ["work/deep/secrets", "work/secrets", "work/deep/src"] {
        std::fs::create_dir_all(world.path().join(dir)).unwrap();
    }
    let gate = world.gate(
        r#"{"allow":["Edit(src/**)"],"ask":["Edit(docs/api/**)"],
            "deny":["Read(secrets/**)","Read(.env)","Edit(gen/**)","Read(./top/x)","WebFetch(domain:example.*)",
                    "Bash(run_in_background:true)","Search(pattern:pass*)","Read(limit:*)"]}"#
            .replace("Search(", "Grep(")
            .as_str(),
    );
    let calls = [
        read("secrets/a"),
        read("deep/secrets/a"),
        read("deep/secrets"),
        read("secretsx/a"),
        read("deep/.env"),
        write(".env"),
        write("deep/.env"),
        write("deep/gen/x"),
        read("deep/gen/x"),
        write("deep/docs/api/x"),
        write("src/x"),
        write("deep/src/x"),
        read("top/x"),
        read("deep/top/x"),
        bash("cat deep/secrets/a"),
        call("web_fetch", json!({"url": "https://example.org/"})),
        call("web_fetch", json!({"url": "https://example.evil.com/"})),
        call("bash", json!({"command": "ls", "background": true})),
        call("bash", json!({"command": "ls", "background": false})),
        call("bash", json!({"command": "> x", "background": true})),
        call("search", json!({"pattern": "password"})),
        call("search", json!({"pattern": "x"})),
        call("read", json!({"path": "src/main.rs", "limit": 5})),
    ];
    expect_file!["expected/rules_mean_what_their_documentation_says.txt"]
        .assert_eq(&world.explain(&gate, &calls));
}

#[test]
fn every_mode_has_the_last_word_but_never_over_deny() {
    let world = World::new();
    let gate =
        world.gate(r#"{"deny":["Bash(curl *)"],"ask":["Bash(npm publish *)"],"allow":["Bash(cargo *)"]}"#);
    let calls = [
        bash("ls"),
        bash("cargo test"),
        bash("npm publish"),
        bash("curl x"),
        bash("rm -rf x"),
        bash("echo x > a"),
        write("a"),
        write(".git/x"),
        write("../a"),
        read("../secret"),
        call("todo", json!({})),
        call("deploy", json!({})),
    ];
    let mut table = String::new();
    for mode in [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::DontAsk,
        PermissionMode::BypassPermissions,
    ] {
        gate.set_mode(mode).unwrap();
        table.push_str(&format!("{mode:?}\n"));
        for call in &calls {
            let explanation = gate.explain(call, crate::policy::fixtures::effect(call));
            table.push_str(&format!("  {} {} {}\n", explanation.decision, call.name, call.arguments));
        }
    }
    expect_file!["expected/every_mode_has_the_last_word_but_never_over_deny.txt"].assert_eq(&table);
}

#[test]
fn a_rule_for_all_commands_reaches_the_unknown_only_where_nothing_is_forbidden() {
    let world = World::new();
    let lines = ["echo $X", "mytool x", "rm -rf x", "LD_PRELOAD=x ls"];
    let mut text = world.explain(&world.gate(r#"{"allow":["Bash"]}"#), &lines.map(bash));
    text.push_str("--\n");
    text.push_str(
        &world.explain(&world.gate(r#"{"allow":["Bash"],"deny":["Bash(curl *)"]}"#), &lines.map(bash)),
    );
    expect_file!["expected/a_rule_for_all_commands_reaches_the_unknown_only_where_nothing_is_forbidden.txt"]
        .assert_eq(&text);
}

#[test]
fn nothing_in_an_explanation_is_hidden() {
    let world = World::new();
    let gate = world.gate("{}");
    let calls =
        [bash("mytool \u{1b}[2K\u{202e}x"), read("../\u{1b}]0;x\u{7}"), call("x\u{200b}y", json!({}))];
    let mut text = String::new();
    for call in &calls {
        text.push_str(&gate.explain(call, rheon_types::Effect::Unsafe).to_string());
        text.push('\n');
    }
    expect_file!["expected/nothing_in_an_explanation_is_hidden.txt"].assert_eq(&world.clean(&text));
}

#[test]
fn long_lines_are_judged_to_the_end_and_told_in_brief() {
    let world = World::new();
    let gate = world.gate(POLICY_D);
    let decision = |line: &str| gate.explain(&bash(line), rheon_types::Effect::Unsafe).decision;
    // The directory that a command runs in counts too.
    let words = |count: usize| format!("ls{}", " a".repeat(count - 1));
    assert_eq!(decision(&words(PATHS_MAX)), Decision::Allow);
    assert_eq!(decision(&words(PATHS_MAX + 1)), Decision::Ask);
    assert_eq!(decision(&format!("{} ; curl x", words(PATHS_MAX + 1))), Decision::Deny);

    let many = "mytool; ".repeat(3) + &(0..20).map(|n| format!("tool{n}; ")).collect::<String>();
    let reason = gate.explain(&bash(&many), rheon_types::Effect::Unsafe).reason();
    assert_eq!(reason.matches("unknown command").count(), REASONS_MAX);
    assert!(reason.ends_with("; and 11 more"), "{reason}");

    let long =
        gate.explain(&bash(&format!("mytool{}", "x".repeat(CHARACTERS_MAX))), rheon_types::Effect::Unsafe);
    assert!(long.reason().contains("x [6 more characters]`"), "{}", long.reason());
}
