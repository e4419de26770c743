//! The commands that look at things and set them up, as they are typed.

use std::fs;
use std::path::PathBuf;

use expect_test::{expect, expect_file};
use rheon_app::memory::{MemoryPaths, Proposal};
use rheon_app::sessions::{EnvVars, UserDirs};
use rheon_types::Timestamp;
use serde_json::Value;

use crate::support::{Place, Ran};

/// A project and a home of their own.
struct Project {
    place: Place,
}

impl Project {
    fn new() -> Self {
        let place = Place::new();
        for dir in ["home", "project/.git"] {
            fs::create_dir_all(place.path().join(dir)).unwrap();
        }
        Self { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().canonicalize().unwrap().join(name)
    }

    fn with(self, name: &str, text: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn with_settings(self, text: &str) -> Self {
        self.with("home/.config/rheon/config.toml", text)
    }

    fn run_with(&self, arguments: &str, variables: &[(&str, &str)]) -> Ran {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        let mut command = self.place.rheon(&arguments);
        command.current_dir(self.path("project")).env("HOME", self.path("home"));
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    }

    fn run(&self, arguments: &str) -> Ran {
        self.run_with(arguments, &[])
    }

    /// What was typed and said, on both streams, and the exit code, with the same paths on every machine.
    fn told(&self, arguments: &str, ran: &Ran) -> String {
        let dir = self.path("").display().to_string();
        let plain = |text: &str| text.replace(&dir, "/");
        let code =
            ran.code.filter(|code| *code != 0).map_or_else(String::new, |code| format!("(exit {code})\n"));
        format!("$ rheon {arguments}\n{}{}{code}", plain(&ran.stdout), plain(&ran.stderr))
    }

    /// The same for one line after the other.
    fn transcript(&self, lines: &[&str]) -> String {
        lines.iter().map(|line| self.told(line, &self.run(line))).collect()
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.run(arguments).stdout).unwrap()
    }
}

#[test]
fn help_of_all_commands() {
    let commands = [
        "config",
        "config show",
        "config path",
        "config edit",
        "config validate",
        "context",
        "policy",
        "policy explain",
        "policy test",
        "doctor",
        "init",
        "trust",
        "trust grant",
        "sandbox",
        "sandbox clean",
        "memory",
        "memory list",
        "memory show",
        "memory search",
        "memory edit",
        "memory delete",
        "memory approve",
        "memory reject",
    ];
    let lines = commands.map(|command| format!("{command} --help"));
    let text = Project::new().transcript(&lines.each_ref().map(String::as_str));
    expect_file!["help/commands.txt"].assert_eq(&text);
}

#[test]
fn what_counts_is_shown_with_its_origin() {
    let project = Project::new()
        .with_settings("model = \"openai/gpt-5\"\n[limits]\nturns_max = 9\n")
        .with("project/.rheon/config.toml", "[limits]\nturns_max = 5\n");
    expect![[r#"
        $ rheon config show model
        model = "openai/gpt-5"
        $ rheon config show limits.turns_max --origin
        key               value              layer    from
        limits.turns_max  5                  project  /project/.rheon/config.toml:2
        limits.turns_max  9      overridden  user     /home/.config/rheon/config.toml:3
        $ rheon config show effort
        effort is not set
        $ rheon config show modle
        error: unknown key "modle"; did you mean "model"?
        (exit 2)
        $ rheon config show model --json
        [
          {
            "effect": "counts",
            "from": "/home/.config/rheon/config.toml",
            "key": "model",
            "layer": "user",
            "line": 1,
            "value": "\"openai/gpt-5\"",
            "why": null
          }
        ]
        $ rheon config path
        layer                 file
        user           -      /home/.claude/settings.json
        user           -      /home/.config/rheon/settings.json
        user           there  /home/.config/rheon/config.toml
        project        -      /project/.mcp.json
        project        -      /project/.claude/settings.json
        project        -      /project/.rheon/settings.json
        project        there  /project/.rheon/config.toml
        project-local  -      /project/.claude/settings.local.json
        project-local  -      /project/.rheon/settings.local.json
        project-local  -      /project/.rheon/config.local.toml
        managed        -      /etc/rheon/config.toml
    "#]]
    .assert_eq(&project.transcript(&[
        "config show model",
        "config show limits.turns_max --origin",
        "config show effort",
        "config show modle",
        "config show model --json",
        "config path",
    ]));
}

#[test]
fn a_key_is_never_shown() {
    let project = Project::new().with_settings("[keys]\nanthropic = \"sk-secret-123\"\n");
    for arguments in ["config show --origin", "config show --json", "doctor", "doctor --json"] {
        let ran = project.run_with(arguments, &[("OPENAI_API_KEY", "sk-secret-456")]);
        assert!(!ran.stdout.contains("sk-secret") && !ran.stderr.contains("sk-secret"), "{}", ran.stdout);
    }
}

#[test]
fn a_mistake_is_told_with_its_place_and_ends_with_2() {
    let project = Project::new().with("project/.rheon/config.toml", "\neffrt = \"low\"\n");
    expect![[r#"
        $ rheon config validate
        error: cannot read /project/.rheon/config.toml: line 2: unknown key "effrt", did you mean "effort"?
        (exit 2)
    "#]]
    .assert_eq(&project.transcript(&["config validate"]));
    let told = project.run("config validate");
    for arguments in ["config show", "context", "policy test", "trust", "models", "-p hello"] {
        assert_eq!(project.run(arguments), told);
    }
    // Where the files are can be found out nevertheless.
    assert_eq!(project.run("config path").code, Some(0));
}

#[test]
fn one_file_can_be_validated_wherever_it_is() {
    let project = Project::new()
        .with("project/good.toml", "model = \"openai/gpt-5\"\n")
        .with("project/bad.toml", "model = 5\n")
        .with("project/bad.json", "{\"permissions\": {\"allow\": 5}}")
        .with("project/.rheon/config.toml", "model = 7\n");
    expect![[r#"
        $ rheon config validate good.toml
        no problems in good.toml
        note: elsewhere: /project/.rheon/config.toml: line 1: "model" is a number; it must be a string
        $ rheon config validate bad.toml
        error: cannot read /project/bad.toml: line 1: "model" is a number; it must be a string
        (exit 2)
        $ rheon config validate bad.json
        error: cannot read /project/bad.json: "permissions.allow" is a number; it must be a list of rules
        (exit 2)
        $ rheon config validate missing.toml
        error: cannot read missing.toml: No such file or directory (os error 2)
        (exit 2)
        $ rheon config validate .
        error: cannot read .: not a file
        (exit 2)
    "#]]
    .assert_eq(&project.transcript(&[
        "config validate good.toml",
        "config validate bad.toml",
        "config validate bad.json",
        "config validate missing.toml",
        "config validate .",
    ]));
}

#[test]
fn settings_are_edited_and_checked() {
    let project = Project::new();
    let edit = |editor: &str, arguments: &str| {
        project.told(arguments, &project.run_with(arguments, &[("EDITOR", editor)]))
    };
    let text = [
        edit("true", "config edit"),
        edit("echo effrt=1 >", "config edit --project"),
        edit("false", "config edit --local"),
        edit("", "config edit"),
    ];
    expect![[r#"
        $ rheon config edit
        no problems in /home/.config/rheon/config.toml
        made /home/.config/rheon/config.toml
        $ rheon config edit --project
        made /project/.rheon/config.toml
        error: cannot read /project/.rheon/config.toml: line 1: unknown key "effrt", did you mean "effort"?
        (exit 2)
        $ rheon config edit --local
        made /project/.rheon/config.local.toml
        error: the editor "false" failed with exit status: 1
        (exit 1)
        $ rheon config edit
        error: no editor is configured: set VISUAL or EDITOR, or open /home/.config/rheon/config.toml yourself
        (exit 2)
    "#]]
    .assert_eq(&text.concat());
}

#[test]
fn without_a_home_it_is_said_what_is_missing() {
    let project = Project::new();
    let run = |arguments| project.run_with(arguments, &[("HOME", "nowhere"), ("EDITOR", "true")]);
    let said = ["config edit", "memory list"].map(|arguments| project.told(arguments, &run(arguments)));
    expect![[r#"
        $ rheon config edit
        error: cannot find the config directory: set XDG_CONFIG_HOME or HOME to an absolute path
        (exit 1)
        $ rheon memory list
        error: cannot find the data directory: set XDG_DATA_HOME or HOME to an absolute path
        (exit 1)
    "#]]
    .assert_eq(&said.concat());
    let ran = run("doctor");
    let dirs = ran.stdout.lines().filter(|line| line.starts_with("BAD   directory "));
    assert_eq!((dirs.count(), ran.code), (4, Some(1)));
}

#[test]
fn a_project_begins_and_nothing_is_overwritten() {
    let project = Project::new();
    let first = project.transcript(&["init"]);
    fs::write(project.path("project/AGENTS.md"), "mine").unwrap();
    expect![[r#"
        $ rheon init
        created  /project/.rheon/config.toml
        created  /project/.rheon/.gitignore
        created  /project/AGENTS.md
        Describe in AGENTS.md how to build and test this project; every session reads it.
        $ rheon init
        exists   /project/.rheon/config.toml
        exists   /project/.rheon/.gitignore
        exists   /project/AGENTS.md
        $ rheon config validate
        no problems in
          /project/.rheon/config.toml (project)
    "#]]
    .assert_eq(&(first + &project.transcript(&["init", "config validate"])));
    assert_eq!(fs::read_to_string(project.path("project/AGENTS.md")).unwrap(), "mine");
}

#[test]
fn a_home_is_no_project() {
    let project = Project::new();
    let home = project.path("project").display().to_string();
    fs::remove_dir(project.path("project/.git")).unwrap();
    expect![[r#"
        $ rheon init
        error: this is your home directory, not a project; change to a project, or edit your own settings with `rheon config edit`
        (exit 2)
    "#]]
    .assert_eq(&project.told("init", &project.run_with("init", &[("HOME", &home)])));
    assert_eq!(fs::read_dir(project.path("project")).unwrap().count(), 0);
}

/// Rules of the user, one of them with examples that fit.
const RULES: &str = r#"
[permissions]
allow = [{ rule = "Bash(cargo test *)", match = ["cargo test --all"], not_match = ["cargo publish"] }]
deny = ["Read(./.env)"]
"#;

#[test]
fn rules_are_explained() {
    let project = Project::new().with_settings(RULES);
    let lines = [
        "policy explain Bash cargo test --all && git push",
        "policy explain Bash cargo test --all",
        "policy explain Read .env",
        "policy explain WebFetch https://example.org/x",
        "policy explain --json Edit src/main.rs",
    ];
    // What is odd about the sandbox of a machine is told beside it.
    let said = lines.map(|line| project.told(line, &Ran { stderr: String::new(), ..project.run(line) }));
    expect![[r#"
        $ rheon policy explain Bash cargo test --all && git push
        ask
          allow run `cargo test --all`: allow rule Bash(cargo test *) from user settings
          ask run `git push`: no rule allows it; accesses the network
          ask reach the network: the sandbox blocks the network
        Rheon asks you; in a non-interactive run it is denied.
        $ rheon policy explain Bash cargo test --all
        allow
          allow run `cargo test --all`: allow rule Bash(cargo test *) from user settings
        It runs without asking.
        $ rheon policy explain Read .env
        deny
          deny read .env: deny rule Read(./.env) from user settings
        It is denied.
        $ rheon policy explain WebFetch https://example.org/x
        ask
          ask fetch from example.org: no rule allows it; it accesses the network
        Rheon asks you; in a non-interactive run it is denied.
        To always allow it: permissions.allow = ["WebFetch(domain:example.org)"] in your settings.
        $ rheon policy explain --json Edit src/main.rs
        {
          "by_rules": "ask",
          "danger": "moderate",
          "decision": "ask",
          "mode": "default",
          "parts": [
            {
              "because": "no rule allows it; edits need approval",
              "danger": "moderate",
              "decision": "ask",
              "list": null,
              "rule": null,
              "source": null,
              "suggestion": "Edit(//project/src/main.rs)",
              "what": "change src/main.rs"
            }
          ],
          "reason": "change src/main.rs: no rule allows it; edits need approval"
        }
    "#]]
    .assert_eq(&said.concat());
    expect![[r#"
        $ rheon policy explain Bsh ls
        error: unknown tool "Bsh"; did you mean "bash"? Use a name from rules, such as Bash, Read, Edit, WebFetch or mcp__server__tool
        (exit 2)
        $ rheon policy explain Read a b
        error: read takes its arguments as one JSON object, for example '{"path": "src"}'
        (exit 2)
    "#]].assert_eq(&project.transcript(&["policy explain Bsh ls", "policy explain Read a b"]));
}

#[test]
fn rules_are_tried_on_their_examples() {
    let good = Project::new().with_settings(RULES).transcript(&["policy test"]);
    let wrong = Project::new().with_settings(&RULES.replace("cargo publish", "cargo test --doc"));
    let none = Project::new().transcript(&["policy test"]);
    expect![[r#"
        $ rheon policy test
        list   rule                from           examples
        deny   Read(./.env)        user settings         0
        allow  Bash(cargo test *)  user settings         2
        2 rules, 2 examples
        $ rheon policy test
        list   rule                from           examples
        deny   Read(./.env)        user settings         0
        allow  Bash(cargo test *)  user settings         2  wrong
        2 rules, 2 examples
        error: the allow rule Bash(cargo test *) from user settings matches its example "cargo test --doc"; fix the rule or the example
        (exit 1)
        $ rheon config validate
        error: the allow rule Bash(cargo test *) from user settings matches its example "cargo test --doc"; fix the rule or the example
        (exit 2)
        $ rheon policy test
        no rules: reading in the workspace is allowed, everything else asks
    "#]].assert_eq(&(good + &wrong.transcript(&["policy test", "config validate"]) + &none));
}

#[test]
fn what_a_model_would_be_told() {
    let project = Project::new()
        .with("project/AGENTS.md", "Always sing.")
        .with_settings("model = \"anthropic/claude-sonnet-5-5\"\n[context]\noff = [\"code-map\"]\n");
    let table = project.run("context").stdout;
    let is_figure = |c: char| c.is_ascii_digit() || " ,.%".contains(c);
    let rows: Vec<&str> = table.lines().skip(1).map(|line| line.trim_end_matches(is_figure)).collect();
    expect![[r#"
        context                          tokens   window
        system prompt, static
          base
          rules
        system prompt, dynamic
          environment
          effort
        tools
        messages
        used
        free
        window
    "#]]
    .assert_eq(&(rows.join("\n") + "\n"));
    let full = project.run("context --full sing").stdout;
    assert!(full.contains("-------- rules --------") && full.contains("Always sing."), "{full}");
    let report = project.json("context --json");
    let names =
        report["sections"].as_array().unwrap().iter().map(|section| section["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["base", "rules", "environment", "effort"]);
    assert_eq!(report["model"], "anthropic/claude-sonnet-5-5");
    // Nothing of it is kept.
    expect![[r#"
        $ rheon sessions list
        no sessions in this directory; use --all for all directories
    "#]]
    .assert_eq(&project.transcript(&["sessions list"]));
}

#[test]
fn the_doctor_names_what_is_bad_and_ends_with_1() {
    let project = Project::new().with("project/.rheon/config.toml", "effrt = 1\n");
    let found = project.json("doctor --json");
    let bad = found["checks"].as_array().unwrap().iter().find(|check| check["standing"] == "bad").unwrap();
    let file = project.path("project/.rheon/config.toml").display().to_string();
    let what = format!("{file}: line 1: unknown key \"effrt\", did you mean \"effort\"?");
    assert_eq!((bad["topic"].as_str(), bad["what"].as_str()), (Some("config"), Some(what.as_str())));
    let ran = project.run("doctor");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.ends_with(" problem found.\n"), "{}", ran.stdout);
}

#[test]
fn the_doctor_looks_for_a_key_and_contacts_services_only_with_online() {
    let project = Project::new().with_settings("model = \"anthropic/claude-sonnet-5-5\"\n");
    let line = |arguments: &str, variables: &[(&str, &str)], topic: &str| {
        let text = project.run_with(arguments, variables).stdout;
        text.lines().find(|line| line.get(6..).is_some_and(|rest| rest.starts_with(topic))).map(str::to_owned)
    };
    // A local port without a server.
    let with_key = [("ANTHROPIC_API_KEY", "x"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
    assert_eq!(line("doctor", &[], "key").unwrap(), "BAD   key       no key for anthropic");
    assert_eq!(line("doctor", &with_key, "key").unwrap(), "ok    key       anthropic has a key");
    assert_eq!(line("doctor", &with_key, "online"), None);
    assert_eq!(line("doctor --online", &[], "online"), None);
    let tried = line("doctor --online", &with_key, "online").unwrap();
    let expected = "BAD   online    anthropic cannot be reached: cannot connect to http://127.0.0.1:9: ";
    assert!(tried.starts_with(expected), "{tried}");
}

/// A hook of a project.
const HOOK: &str = r#"
[[hooks.Stop]]
hooks = [{ type = "command", command = "echo hello" }]
"#;

#[test]
fn what_a_project_brings_along_is_trusted_as_it_is() {
    let project = Project::new().with("project/.rheon/config.toml", HOOK);
    let before = project.transcript(&["trust", "trust grant", "trust grant --yes", "trust show"]);
    let project = project.with("project/.rheon/config.toml", &HOOK.replace("hello", "goodbye"));
    let after =
        project.transcript(&["trust", "trust grant -y", "trust revoke", "config show hooks --origin"]);
    expect![[r#"
        $ rheon trust
        Its hooks run these commands:
          Stop (.rheon/config.toml): echo hello
        This project contains files that can run commands or instruct the agent:
          55638db7d097 .rheon/config.toml
        Do you trust them? To trust it: rheon trust grant
        $ rheon trust grant
        error: trust not granted: review .rheon/config.toml with `rheon trust show`, then run `rheon trust grant --yes`
        (exit 2)
        $ rheon trust grant --yes
        trusting /project with its current content
        $ rheon trust show
        You trust this project.
        $ rheon trust
        Its hooks run these commands:
          Stop (.rheon/config.toml): echo goodbye
        This project has changed since you trusted it:
          changed a981f464e002 .rheon/config.toml
        Do you trust these changes? To trust it: rheon trust grant
        $ rheon trust grant -y
        trusting /project with its current content
        $ rheon trust revoke
        no longer trusting /project
        $ rheon config show hooks --origin
        key         value                                                                                               layer    from
        hooks.Stop  { hooks = [{ command = "echo goodbye", type = "command" }] }  left out: the project is not trusted  project  /project/.rheon/config.toml:2
        note: /project: the project is not trusted, so its own content is ignored: .rheon/config.toml; review it with `rheon trust show` and accept it with `rheon trust grant`
    "#]].assert_eq(&(before + &after));
}

#[test]
fn a_headless_run_says_how_to_trust() {
    let project = Project::new().with("project/.rheon/config.toml", HOOK);
    // Warnings come before the error about the model.
    let said = |flag: &str| {
        let ran = project.run(&format!("-p hello -m nobody/nothing {flag}"));
        assert_eq!(ran.code, Some(2));
        ran.stderr.contains("accept it with `rheon trust grant`")
    };
    assert_eq!([said(""), said("--trust"), said("--bare")], [true, false, false]);
}

/// A note as it stands in a file.
const NOTE: &str = "---\ndescription: how to release\nkeywords: tag\n---\nTag first, then publish.\n";

#[test]
fn notes_are_listed_shown_found_and_changed() {
    let project = Project::new().with("home/.local/share/rheon/notes/release.md", NOTE);
    let before = project.transcript(&[
        "memory list",
        "memory show release",
        "memory search publish",
        "memory edit release --text Publish.",
        "memory show release --json",
    ]);
    let edit = "memory edit release";
    let edited = project.told(edit, &project.run_with(edit, &[("VISUAL", "echo Sing. >")]));
    expect![[r#"
        $ rheon memory list
        note     of    about
        release  user  how to release
        $ rheon memory show release
        note release of the user: how to release
        keywords: tag

        Tag first, then publish.
        $ rheon memory search publish
        what  name     about
        note  release  how to release
        $ rheon memory edit release --text Publish.
        changed
        $ rheon memory show release --json
        {
          "created": "",
          "description": "how to release",
          "keywords": [
            "tag"
          ],
          "kind": "semantic",
          "name": "release",
          "owner": "user",
          "text": "Publish.",
          "what": "note"
        }
        $ rheon memory edit release
        changed
        $ rheon memory show release
        note release of the user: how to release
        keywords: tag

        Sing.
    "#]]
    .assert_eq(&(before + &edited + &project.transcript(&["memory show release"])));
}

#[test]
fn notes_are_deleted_if_that_is_meant() {
    let project = Project::new().with("home/.local/share/rheon/notes/release.md", NOTE);
    expect![[r#"
        $ rheon memory delete release
        error: not confirmed: use --yes to skip the question
        (exit 2)
        $ rheon memory delete release --yes
        forgot note release: how to release
        $ rheon memory list
        the memory is empty
        $ rheon memory show release
        error: no such note: "release"; list the notes to see the names
        (exit 1)
    "#]]
    .assert_eq(&project.transcript(&[
        "memory delete release",
        "memory delete release --yes",
        "memory list",
        "memory show release",
    ]));
}

#[test]
fn learnings_are_judged() {
    let project = Project::new();
    let environment: EnvVars = [("HOME", project.path("home"))].into_iter().collect();
    let places = MemoryPaths::of(&UserDirs::of(&environment), &project.path("project")).unwrap();
    let memory = places.open().unwrap();
    for text in ["run make first", "never rest"] {
        let proposal =
            Proposal { project: Some(places.project.clone()), text: text.to_owned(), session_id: "s".into() };
        memory.learnings().propose(&proposal, Timestamp::from_millis(0)).unwrap();
    }
    expect![[r#"
        $ rheon memory approve 1
        learning 1 is validated: run make first
        $ rheon memory reject 2
        learning 2 is rejected: never rest
        $ rheon memory show 1
        learning 1 (validated; helped 1 times, misled 0 times)

        run make first
        $ rheon memory edit 2 --text Rest.
        changed
        $ rheon memory delete 2 --yes
        forgot learning 2: Rest.
        $ rheon memory approve 7
        error: no such learning: 7; list the learnings to see the ids
        (exit 1)
        $ rheon memory show --learning x
        error: invalid number "x" for a learning
        (exit 2)
    "#]]
    .assert_eq(&project.transcript(&[
        "memory approve 1",
        "memory reject 2",
        "memory show 1",
        "memory edit 2 --text Rest.",
        "memory delete 2 --yes",
        "memory approve 7",
        "memory show --learning x",
    ]));
    expect![[r#"
        $ rheon memory list
        learning  status     +/-  text
               1  validated  1/0  run make first
    "#]]
    .assert_eq(&project.transcript(&["memory list"]));
}
