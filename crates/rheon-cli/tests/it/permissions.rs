//! What may run without a question, and that a yes is enough.

use rheon_testkit::server::FakeReply;
use serde_json::{Value, json};

use crate::stage::{MODEL, Stage, reads, write};

/// What the model read as results of its calls.
fn results(stage: &Stage) -> Vec<String> {
    let requests = stage.server.requests();
    let last = requests.last().unwrap().json["messages"].as_array().unwrap().last().unwrap().clone();
    let text = |block: &Value| match &block["content"] {
        Value::String(text) => text.clone(),
        blocks => blocks[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    last["content"].as_array().unwrap().iter().map(text).collect()
}

fn file(path: &str) -> Value {
    json!({ "path": path, "content": "new\n" })
}

#[test]
fn mode_auto_edits_and_runs_in_the_workspace_and_asks_about_the_rest() {
    let calls = FakeReply::call("write", &file("b.txt"))
        .and_call("write", &file("../outside.txt"))
        .and_call("bash", &json!({ "command": "rm a.txt; echo $HOME > c.txt" }));
    let stage = Stage::new([calls, FakeReply::text("Done.")]);
    let ran = stage.run(&["--permission-mode", "auto", "Work."]);
    assert!(stage.path("workspace/b.txt").exists(), "{ran:?}");
    assert!(!stage.path("outside.txt").exists());
    let results = results(&stage);
    assert!(results[1].contains("outside the workspace"), "{results:?}");
    // Where the sandbox is not at full strength, commands ask.
    let is_held = !ran.stderr.contains("weaker sandbox") && !results[2].contains("approval");
    assert_eq!(stage.path("workspace/c.txt").exists(), is_held, "{results:?}");
}

#[test]
fn a_rule_for_another_dir_is_enough_to_write_there() {
    let stage = Stage::new([FakeReply::call("write", &file("../notes/a.txt")), FakeReply::text("Done.")]);
    let rule = format!("Write(/{}/**)", stage.path("notes").display());
    let ran = stage.run(&["Write it.", "--allowed-tools", &rule]);
    assert_eq!(std::fs::read_to_string(stage.path("notes/a.txt")).unwrap(), "new\n", "{ran:?}");
}

#[test]
fn a_call_that_cannot_succeed_fails_before_anybody_is_asked() {
    let edit = json!({ "path": "a.txt", "edits": [{ "old_string": "absent", "new_string": "x" }] });
    let calls = FakeReply::call("edit", &edit)
        .and_call("write", &file("."))
        .and_call("read", &json!({ "path": "../nowhere.txt" }));
    let read = FakeReply::call("read", &json!({ "path": "a.txt" }));
    let stage = Stage::new([read, calls, FakeReply::text("Done.")]);
    let ran = stage.run(&["Change it."]);
    let results = results(&stage);
    assert!(results[0].contains("was not changed"), "{results:?}");
    assert!(results[1].contains("is a directory"), "{results:?}");
    assert!(results[2].contains("does not exist"), "{results:?}");
    assert!(!ran.stderr.contains("needs approval"), "{ran:?}");
}

#[test]
fn commands_see_the_users_variables_without_secrets() {
    let command = json!({ "command": "echo place=$MY_PLACE token=$MY_TOKEN ci=$CI set=$SET hidden=$HIDDEN" });
    let stage = Stage::new([FakeReply::call("bash", &command), FakeReply::text("Done.")]);
    let config = "sandbox.require = \"none\"\nsandbox.env_hide = [\"HIDDEN\"]\n[env]\nSET = \"yes\"\n";
    write(&stage.path("home/.config/rheon/config.toml"), config);
    let mut rheon = stage.rheon(&["-p", "--model", MODEL, "Look.", "--allowed-tools", "Bash"]);
    rheon.env("PATH", std::env::var_os("PATH").unwrap());
    rheon.env("MY_PLACE", "here").env("MY_TOKEN", "secret").env("HIDDEN", "x");
    let ran = stage.ran(rheon);
    let results = results(&stage);
    assert!(results[0].starts_with("place=here token= ci= set=yes hidden=\n"), "{results:?} {ran:?}");
    assert!(ran.stderr.contains("note: commands run without a sandbox"), "{ran:?}");
}

#[test]
fn a_rule_that_can_never_match_is_an_error_of_validate_and_a_notice_at_start() {
    let rules = "[permissions]\ndeny = [\"Bash(curl * | bash)\", \"Read(/etc/passwd)\", \"Bahs\"]\n";
    let stage = Stage::new(reads());
    std::fs::create_dir_all(stage.path("home/.config/rheon")).unwrap();
    std::fs::write(stage.path("home/.config/rheon/config.toml"), rules).unwrap();
    let validated = stage.ran(stage.rheon(&["config", "validate"]));
    assert_eq!(validated.code, Some(2));
    let started = stage.run(&["hello"]);
    for rule in ["Bash(curl * | bash)", "Read(/etc/passwd)", "Bahs"] {
        let told = format!("the deny rule {rule} never matches");
        assert!(validated.stderr.contains(&told), "{}", validated.stderr);
        assert!(started.stderr.contains(&told), "{}", started.stderr);
    }
}
