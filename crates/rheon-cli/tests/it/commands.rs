//! The commands that look at things and set them up, as they are typed.

use std::fs;
use std::path::PathBuf;

use expect_test::{Expect, expect, expect_file};
use serde_json::Value;

use crate::support::{Place, Ran};

/// A project and a home of their own.
struct Project {
    place: Place,
}

impl Project {
    fn new() -> Self {
        let place = Place::new();
        for folder in ["home", "project/.git"] {
            fs::create_dir_all(place.path().join(folder)).unwrap();
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

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.place.rheon(arguments);
        command.current_dir(self.path("project")).env("HOME", self.path("home"));
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, &[])
    }

    /// What was said on both streams and the exit code, with the same paths on every machine.
    fn told(&self, ran: Ran) -> String {
        let folder = self.path("").display().to_string();
        let plain = |text: &str| text.replace(&folder, "/");
        let code = ran.code.unwrap();
        let stderr =
            if ran.stderr.is_empty() { String::new() } else { format!("--\n{}", plain(&ran.stderr)) };
        format!("{}{stderr}exit {code}\n", plain(&ran.stdout))
    }

    fn says(&self, arguments: &[&str], expected: &Expect) {
        expected.assert_eq(&self.told(self.run(arguments)));
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.run(arguments).stdout).unwrap()
    }
}

#[test]
fn help_of_all_commands() {
    let commands: [&[&str]; 22] = [
        &["config"],
        &["config", "show"],
        &["config", "path"],
        &["config", "edit"],
        &["config", "validate"],
        &["context"],
        &["policy"],
        &["policy", "explain"],
        &["policy", "test"],
        &["doctor"],
        &["init"],
        &["trust"],
        &["trust", "grant"],
        &["memory"],
        &["memory", "list"],
        &["memory", "show"],
        &["memory", "search"],
        &["memory", "edit"],
        &["memory", "delete"],
        &["memory", "approve"],
        &["memory", "reject"],
        &["models"],
    ];
    let mut text = String::new();
    for command in commands {
        let ran = Place::new().run(&[command, &["--help"]].concat());
        assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
        text.push_str(&format!("$ rheon {} --help\n{}\n", command.join(" "), ran.stdout));
    }
    expect_file!["help/commands.txt"].assert_eq(&text);
}

#[test]
fn what_counts_is_shown_with_its_origin() {
    let project = Project::new()
        .with("home/.config/rheon/config.toml", "model = \"openai/gpt-5\"\n[limits]\nturns_max = 9\n")
        .with("project/.rheon/config.toml", "[limits]\nturns_max = 5\n");
    project.says(&["config", "show", "model"], &expect![[r#"
        model = "openai/gpt-5"
        exit 0
    "#]]);
    project.says(&["config", "show", "limits.turns_max", "--origin"], &expect![[r#"
        key               value              layer    from
        limits.turns_max  5                  project  /project/.rheon/config.toml:2
        limits.turns_max  9      overridden  user     /home/.config/rheon/config.toml:3
        exit 0
    "#]]);
    project.says(&["config", "show", "effort"], &expect![[r#"
        --
        effort is not set
        exit 0
    "#]]);
    project.says(&["config", "show", "modle"], &expect![[r#"
        --
        error: there is no key "modle"; did you mean "model"?
        exit 2
    "#]]);
    project.says(&["config", "show", "model", "--json"], &expect![[r#"
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
        exit 0
    "#]]);
}

#[test]
fn a_key_is_never_shown() {
    let project =
        Project::new().with("home/.config/rheon/config.toml", "[keys]\nanthropic = \"sk-secret-123\"\n");
    let commands: [&[&str]; 4] =
        [&["config", "show", "--origin"], &["config", "show", "--json"], &["doctor"], &["doctor", "--json"]];
    for arguments in commands {
        let ran = project.run_with(arguments, &[("OPENAI_API_KEY", "sk-secret-456")]);
        assert!(!ran.stdout.contains("sk-secret") && !ran.stderr.contains("sk-secret"), "{}", ran.stdout);
    }
}

#[test]
fn the_files_that_are_looked_for() {
    let project = Project::new().with("project/.rheon/config.toml", "");
    project.says(&["config", "path"], &expect![[r#"
        layer                 file
        user           -      /home/.claude/settings.json
        user           -      /home/.config/rheon/settings.json
        user           -      /home/.config/rheon/config.toml
        project        -      /project/.mcp.json
        project        -      /project/.claude/settings.json
        project        -      /project/.rheon/settings.json
        project        there  /project/.rheon/config.toml
        project-local  -      /project/.claude/settings.local.json
        project-local  -      /project/.rheon/settings.local.json
        project-local  -      /project/.rheon/config.local.toml
        managed        -      /etc/rheon/config.toml
        exit 0
    "#]]);
}

#[test]
fn a_mistake_is_told_with_its_place_and_ends_with_2() {
    let project = Project::new().with("project/.rheon/config.toml", "\neffrt = \"low\"\n");
    let wrong = expect![[r#"
        --
        error: cannot read /project/.rheon/config.toml: line 2: unknown key "effrt", did you mean "effort"?
        exit 2
    "#]      --
        error: cannot read /project/.rheon/config.toml: line 2: unknown key "effrt", did you mean "effort"?
        exit 2
    "#]      --
        error: cannot read /project/.rheon/config.toml: line 2: unknown key "effrt", did you mean "effort"?
        exit 2
    "#]      --
        error: cannot read /project/.rheon/config.toml: line 2: unknown key "effrt", did you mean "effort"?
        exit 2
    "#]      --
        error: cannot read /project/.rheon/config.toml: line 2: unknown key "effrt", did you mean "effort"?
        exit 2
    "#]      --
        error: cannot read /project/.rheon/config.toml: line 2: unknown key "effrt", did you mean "effort"?
        exit 2
    "#]];
    project.says(&["config", "validate"], &wrong);
    for arguments in
        [&["config", "show"][..], &["context"], &["policy", "test"], &["trust"], &["-p", "hello"]]
    {
        project.says(arguments, &wrong);
    }
    // Where the files are can be found out nevertheless.
    assert_eq!(project.run(&["config", "path"]).code, Some(0));
}

#[test]
fn one_file_can_be_validated_wherever_it_is() {
    let project = Project::new()
        .with("project/good.toml", "model = \"openai/gpt-5\"\n")
        .with("project/bad.toml", "model = 5\n")
        .with("project/bad.json", "{\"permissions\": {\"alow\": []}}")
        .with("project/.rheon/config.toml", "model = 7\n");
    project.says(&["config", "validate", "good.toml"], &expect![[r#"
        nothing is wrong in good.toml
        --
        note: elsewhere: /project/.rheon/config.toml: line 1: "model" is a number; it must be a text
        exit 0
    "#]]);
    project.says(&["config", "validate", "bad.toml"], &expect![[r#"
        --
        error: cannot read /project/bad.toml: line 1: "model" is a number; it must be a text
        exit 2
    "#]]);
    project.says(&["config", "validate", "bad.json"], &expect![[r#"
        nothing is wrong in bad.json
        --
        note: elsewhere: /project/.rheon/config.toml: line 1: "model" is a number; it must be a text
        exit 0
    "#]]);
    project.says(&["config", "validate", "missing.toml"], &expect![[r#"
        --
        error: cannot read missing.toml: No such file or directory (os error 2)
        exit 2
    "#]]);
    project.says(&["config", "validate", "."], &expect![[r#"
        --
        error: cannot read .: it is no file
        exit 2
    "#]]);
}

#[test]
fn settings_are_edited_and_checked() {
    let project = Project::new();
    let edit = |editor: &str, arguments: &[&str]| {
        let arguments = [&["config", "edit"], arguments].concat();
        project.told(project.run_with(&arguments, &[("EDITOR", editor)]))
    };
    expect![[r#"
        nothing is wrong in /home/.config/rheon/config.toml
        --
        made /home/.config/rheon/config.toml
        exit 0
    "#]].assert_eq(&edit("true", &[]));
    expect![[r#"
        --
        made /project/.rheon/config.toml
        error: cannot read /project/.rheon/config.toml: line 1: unknown key "x"; there are model, fallback_model, effort, system_prompt, append_system_prompt, limits, permissions, sandbox, sessions, context, keys, vendors, hooks, mcp_servers, interface, log, web
        exit 2
    "#]].assert_eq(&edit("echo 'x = 1' >", &["--project"]));
    expect![[r#"
        --
        made /project/.rheon/config.local.toml
        error: the editor "false" ended with exit status: 1
        exit 1
    "#]].assert_eq(&edit("false", &["--local"]));
    expect![[r#"
        --
        error: it is not known which editor to use: set VISUAL or EDITOR, or open /home/.config/rheon/config.toml yourself
        exit 2
    "#]].assert_eq(&project.told(project.run(&["config", "edit"])));
}

#[test]
fn without_a_home_there_is_nothing_to_edit() {
    let project = Project::new();
    let ran = project.run_with(&["config", "edit"], &[("HOME", "nowhere"), ("EDITOR", "true")]);
    expect![[r#"
        --
        error: it is not known where what is configured belongs: neither XDG_CONFIG_HOME nor HOME is set to an absolute path; set one of them
        exit 1
    "#]].assert_eq(&project.told(ran));
    let ran = project.run_with(&["memory", "list"], &[("HOME", "nowhere")]);
    expect![[r#"
        --
        error: it is not known where a session belongs: neither XDG_DATA_HOME nor HOME is set to an absolute path; set one of them
        exit 1
    "#]].assert_eq(&project.told(ran));
}

#[test]
fn a_project_begins_and_nothing_is_overwritten() {
    let project = Project::new();
    project.says(&["init"], &expect![[r#"
        made  /project/.rheon/config.toml
        made  /project/.rheon/.gitignore
        made  /project/AGENTS.md
        Now say in AGENTS.md how this project is built and tested; every session reads it.
        exit 0
    "#]]);
    fs::write(project.path("project/AGENTS.md"), "mine").unwrap();
    project.says(&["init"], &expect![[r#"
        left  /project/.rheon/config.toml (it is there already)
        left  /project/.rheon/.gitignore (it is there already)
        left  /project/AGENTS.md (it is there already)
        exit 0
    "#]]);
    assert_eq!(fs::read_to_string(project.path("project/AGENTS.md")).unwrap(), "mine");
    assert_eq!(project.run(&["config", "validate"]).code, Some(0));
}

#[test]
fn a_home_is_no_project() {
    let project = Project::new();
    let mut command = project.place.rheon(&["init"]);
    command.current_dir(project.path("home")).env("HOME", project.path("home"));
    expect![[r#"
        --
        error: this is your home, which is no project: go to one; `rheon config edit` opens your own settings
        exit 2
    "#]].assert_eq(&project.told(Ran::from(command.output().unwrap())));
}

/// Rules of the user, one of them with examples that fit.
const RULES: &str = r#"
[permissions]
allow = [{ rule = "Bash(cargo test *)", match = ["cargo test --all"], not_match = ["cargo publish"] }]
deny = ["Read(./.env)"]
"#;

/// What was said on standard output; what is odd about the sandbox of a machine is told beside it.
fn stdout_of(project: &Project, arguments: &[&str]) -> String {
    let ran = project.run(arguments);
    project.told(Ran { stderr: String::new(), ..ran })
}

#[test]
fn rules_are_explained() {
    let project = Project::new().with("home/.config/rheon/config.toml", RULES);
    expect![[r#"
        ask
          allow run `cargo test --all`: rule Bash(cargo test *) in allow of user settings
          ask run `git push`: no rule allows it; reaches the network
        You are asked; where nobody can be asked, it is refused.
        exit 0
    "#]]
        .assert_eq(&stdout_of(&project, &["policy", "explain", "Bash", "cargo test --all && git push"]));
    expect![[r#"
        allow
          allow run `cargo test --all`: rule Bash(cargo test *) in allow of user settings
        It runs without a question.
        exit 0
    "#]]
        .assert_eq(&stdout_of(&project, &["policy", "explain", "Bash", "cargo", "test", "--all"]));
    expect![[r#"
        deny
          deny read .env: rule Read(./.env) in deny of user settings
        It is refused.
        exit 0
    "#]].assert_eq(&stdout_of(&project, &["policy", "explain", "Read", ".env"]));
    expect![[r#"
        ask
          ask fetch from example.org: no rule allows it; it reaches the network
        You are asked; where nobody can be asked, it is refused.
        To allow it for good: permissions.allow = ["WebFetch(domain:example.org)"] in your settings.
        exit 0
    "#]]
        .assert_eq(&stdout_of(&project, &["policy", "explain", "WebFetch", "https://example.org/x"]));
    expect![[r#"
        {
          "by_rules": "ask",
          "danger": "moderate",
          "decision": "ask",
          "mode": "default",
          "parts": [
            {
              "because": "no rule allows it; edits are asked about",
              "danger": "moderate",
              "decision": "ask",
              "list": null,
              "rule": null,
              "source": null,
              "suggestion": "Edit(//project/src/main.rs)",
              "what": "change src/main.rs"
            }
          ],
          "reason": "change src/main.rs: no rule allows it; edits are asked about"
        }
        exit 0
    "#]].assert_eq(&stdout_of(&project, &["policy", "explain", "--json", "Edit", "src/main.rs"]));
    project.says(&["policy", "explain", "Bsh", "ls"], &expect![[r#"
        --
        error: there is no tool "Bsh": did you mean "bash"? Names are those of rules, for instance Bash, Read, Edit, WebFetch or mcp__server__tool
        exit 2
    "#]]);
}

#[test]
fn rules_are_tried_on_their_examples() {
    let project = Project::new().with("home/.config/rheon/config.toml", RULES);
    project.says(&["policy", "test"], &expect![[r#"
        list   rule                from           examples
        deny   Read(./.env)        user settings         0
        allow  Bash(cargo test *)  user settings         2
        2 rules, 2 examples
        exit 0
    "#]]);
    let wrong = RULES.replace("cargo publish", "cargo test --doc");
    let project = Project::new().with("home/.config/rheon/config.toml", &wrong);
    project.says(&["policy", "test"], &expect![[r#"
        list   rule                from           examples
        deny   Read(./.env)        user settings         0
        allow  Bash(cargo test *)  user settings         2  wrong
        2 rules, 2 examples
        --
        error: the rule Bash(cargo test *) in allow of user settings matches its example "cargo test --doc"; correct the rule or the example
        exit 1
    "#]]);
    project.says(&["config", "validate"], &expect![[r#"
        --
        error: the rule Bash(cargo test *) in allow of user settings matches its example "cargo test --doc"; correct the rule or the example
        exit 2
    "#]]);
}

/// The names of the rows.
fn rows(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.split("  ").find(|part| !part.is_empty())).collect()
}

#[test]
fn what_a_model_would_be_told() {
    let project = Project::new().with("project/AGENTS.md", "Always sing.").with(
        "home/.config/rheon/config.toml",
        "model = \"anthropic/claude-sonnet-5-5\"\n[context]\noff = [\"code-map\"]\n",
    );
    let ran = project.run(&["context"]);
    let names = rows(&ran.stdout)
        .into_iter()
        .map(|row| row.trim_end_matches(|c: char| c == ',' || c.is_ascii_digit()).trim_end());
    expect![[r#"
        model anthropic/claude-sonnet-5-
        context
        system prompt, static
        base
        rules
        system prompt, dynamic
        environment
        effort
        complexity
        tools
        messages
        used
        free
        window
    "#]].assert_eq(&(names.collect::<Vec<_>>().join("\n") + "\n"));
    let full = project.run(&["context", "--full", "sing a song"]).stdout;
    assert!(full.contains("-------- rules --------") && full.contains("Always sing."), "{full}");
    let report = project.json(&["context", "--json"]);
    let names: Vec<&str> = report["sections"]
        .as_array()
        .unwrap()
        .iter()
        .map(|section| section["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["base", "rules", "environment", "effort", "complexity"]);
    assert_eq!(report["model"], "anthropic/claude-sonnet-5-5");
    // Nothing of it is kept.
    project.says(&["sessions", "list"], &expect![[r#"
        there are no sessions here yet; --all looks in all folders
        exit 0
    "#]]);
}

#[test]
fn the_doctor_names_what_is_bad_and_ends_with_1() {
    let project = Project::new().with("project/.rheon/config.toml", "effrt = 1\n");
    let found = project.json(&["doctor", "--json"]);
    let checks = found["checks"].as_array().unwrap();
    let bad: Vec<String> = checks
        .iter()
        .filter(|check| check["standing"] == "bad" && check["topic"] == "config")
        .map(|check| check["what"].as_str().unwrap().replace(&project.path("").display().to_string(), "/"))
        .collect();
    assert_eq!(bad, ["/project/.rheon/config.toml: line 1: unknown key \"effrt\", did you mean \"effort\"?"]);
    let ran = project.run(&["doctor"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.ends_with(" must be mended.\n"), "{}", ran.stdout);
}

#[test]
fn the_doctor_needs_no_home_to_say_that_there_is_none() {
    let project = Project::new();
    let ran = project.run_with(&["doctor"], &[("HOME", "nowhere")]);
    let folders: String = ran
        .stdout
        .lines()
        .filter(|line| line.contains(" folder "))
        .map(|line| line.to_owned() + "\n")
        .collect();
    expect![[r#"
        BAD   folder    settings: it is not known where what is configured belongs: neither XDG_CONFIG_HOME nor HOME is set to an absolute path; set one of them
        BAD   folder    sessions: it is not known where a session belongs: neither XDG_DATA_HOME nor HOME is set to an absolute path; set one of them
        BAD   folder    state: it is not known where what outlives a run belongs: neither XDG_STATE_HOME nor HOME is set to an absolute path; set one of them
        BAD   folder    cache: it is not known where what can be made again belongs: neither XDG_CACHE_HOME nor HOME is set to an absolute path; set one of them
    "#]].assert_eq(&folders);
    assert_eq!(ran.code, Some(1));
}

#[test]
fn the_doctor_looks_for_a_key_and_calls_nobody_up() {
    let model = "model = \"anthropic/claude-sonnet-5-5\"\n";
    let project = Project::new().with("home/.config/rheon/config.toml", model);
    let of = |ran: Ran, topic: &str| {
        let line = ran.stdout.lines().find(|line| line.contains(topic)).map(str::to_owned);
        line.unwrap_or_default()
    };
    let key = " key ";
    expect!["BAD   key       there is no key for anthropic"].assert_eq(&of(project.run(&["doctor"]), key));
    let variables = [("ANTHROPIC_API_KEY", "x")];
    expect!["ok    key       anthropic can be asked"]
        .assert_eq(&of(project.run_with(&["doctor"], &variables), key));
    assert_eq!(of(project.run_with(&["doctor"], &variables), " network "), "");
    // A port of this machine at which nobody is.
    let variables = [("ANTHROPIC_API_KEY", "x"), ("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")];
    expect!["BAD   network   127.0.0.1:9 cannot be reached: Connection refused (os error 111)"].assert_eq(&of(project.run_with(&["doctor", "--online"], &variables), " network "));
}

/// A hook of a project.
const HOOK: &str = r#"
[[hooks.Stop]]
hooks = [{ type = "command", command = "echo hello" }]
"#;

#[test]
fn what_a_project_brings_along_is_trusted_as_it_is() {
    let project = Project::new().with("project/.rheon/config.toml", HOOK);
    project.says(&["trust"], &expect![[r#"
        Its hooks would run these commands:
          Stop (.rheon/config.toml): echo hello
        This project brings along files that would be run or obeyed:
          55638db7d097 .rheon/config.toml
        Do you trust them? If so: rheon trust grant
        exit 0
    "#]]);
    project.says(&["trust", "grant"], &expect![[r#"
        --
        error: nothing was agreed to: look at .rheon/config.toml with `rheon trust show`, then say `rheon trust grant --yes`
        exit 2
    "#]]);
    project.says(&["trust", "grant", "--yes"], &expect![[r#"
        /project is trusted as it is now.
        exit 0
    "#]]);
    project.says(&["trust", "show"], &expect![[r#"
        You trust what this project brings along.
        exit 0
    "#]]);
    let project = project.with("project/.rheon/config.toml", &HOOK.replace("hello", "goodbye"));
    project.says(&["trust"], &expect![[r#"
        Its hooks would run these commands:
          Stop (.rheon/config.toml): echo goodbye
        What this project brings along has changed since you trusted it:
          changed a981f464e002 .rheon/config.toml
        Do you trust it as it is now? If so: rheon trust grant
        exit 0
    "#]]);
    project.says(&["trust", "grant", "-y"], &expect![[r#"
        /project is trusted as it is now.
        exit 0
    "#]]);
    project.says(&["trust", "revoke"], &expect![[r#"
        Nothing of /project is trusted any more.
        exit 0
    "#]]);
    project.says(&["config", "show", "hooks", "--origin"], &expect![[r#"
        key         value                                                                                               layer    from
        hooks.Stop  { hooks = [{ command = "echo goodbye", type = "command" }] }  left out: the project is not trusted  project  /project/.rheon/config.toml:2
        --
        note: /project: the project is not trusted, so what it brings along is left out: .rheon/config.toml; look at it with `rheon trust show` and agree with `rheon trust grant`
        exit 0
    "#]]);
}

#[test]
fn a_headless_run_says_how_to_trust() {
    let project = Project::new().with("project/.rheon/config.toml", HOOK);
    // What is odd is told before it turns out that there is no such model.
    let said = |flag: &[&str]| {
        let ran = project.run(&[&["-p", "hello", "-m", "nobody/nothing"], flag].concat());
        assert_eq!(ran.code, Some(2));
        ran.stderr.contains("agree with `rheon trust grant`")
    };
    assert_eq!([said(&[]), said(&["--trust"]), said(&["--bare"])], [true, false, false]);
}

/// A note as it stands in a file.
const NOTE: &str = "---\ndescription: how to release\nkeywords: tag\n---\nTag first, then publish.\n";

#[test]
fn notes_are_listed_shown_found_changed_and_deleted() {
    let project = Project::new().with("home/.local/share/rheon/notes/release.md", NOTE);
    project.says(&["memory", "list"], &expect![[r#"
        note     of    about
        release  user  how to release
        exit 0
    "#]]);
    project.says(&["memory", "show", "release"], &expect![[r#"
        note release of the user: how to release
        keywords: tag

        Tag first, then publish.
        exit 0
    "#]]);
    project.says(&["memory", "search", "publish"], &expect![[r#"
        what  name     about
        note  release  how to release
        exit 0
    "#]]);
    project.says(&["memory", "edit", "release", "--text", "Publish, then tag."], &expect![[r#"
        changed
        exit 0
    "#]]);
    project.says(&["memory", "show", "release", "--json"], &expect![[r#"
        {
          "created": "",
          "description": "how to release",
          "keywords": [
            "tag"
          ],
          "kind": "semantic",
          "name": "release",
          "owner": "user",
          "text": "Publish, then tag.",
          "what": "note"
        }
        exit 0
    "#]]);
    let edited = project.run_with(&["memory", "edit", "release"], &[("VISUAL", "echo Sing. >")]);
    expect![[r#"
        changed
        exit 0
    "#]].assert_eq(&project.told(edited));
    project.says(&["memory", "delete", "release"], &expect![[r#"
        --
        error: nothing was done: say --yes to do it without being asked
        exit 2
    "#]]);
    project.says(&["memory", "delete", "release", "--yes"], &expect![[r#"
        forgot note release: how to release
        exit 0
    "#]]);
    project.says(&["memory", "list"], &expect![[r#"
        nothing is remembered here yet
        exit 0
    "#]]);
    project.says(&["memory", "show", "release"], &expect![[r#"
        --
        error: there is no note "release"; list the notes to see which there are
        exit 1
    "#]]);
    project.says(&["memory", "approve", "7"], &expect![[r#"
        --
        error: there is no learning 7; list the learnings to see which there are
        exit 1
    "#]]);
    project.says(&["memory", "show", "--learning", "x"], &expect![[r#"
        --
        error: a learning has a number, and "x" is none
        exit 2
    "#]]);
}
