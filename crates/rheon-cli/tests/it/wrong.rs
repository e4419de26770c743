//! What was typed, piped or configured and cannot be used: one clear line, the next step, and the exit code.

use std::io::Write as _;
use std::process::Stdio;

use expect_test::expect;
use rheon_testkit::server::{FakeReply, Script};

use crate::stage::{MODEL, Stage, write};
use crate::support::Ran;

fn stage() -> Stage {
    Stage::new(Script::always(FakeReply::text("Hello.")))
}

/// What is said of a run that cannot begin, in which nobody is asked anything.
fn refused(stage: &Stage, ran: &Ran) -> String {
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(2)), "{}", ran.stderr);
    assert_eq!(stage.server.requests().len(), 0);
    ran.stderr.clone()
}

/// A run whose standard input is these bytes.
fn piped(stage: &Stage, arguments: &[&str], bytes: &[u8]) -> Ran {
    let mut command = stage.rheon(&[&["-p", "--model", MODEL], arguments].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // Whoever has read enough does not read the rest.
        scope.spawn(move || stdin.write_all(bytes).ok());
        stage.plain(Ran::from(child.wait_with_output().unwrap()))
    })
}

#[test]
fn piped_text_belongs_to_the_prompt() {
    let stage = stage();
    let ran = piped(&stage, &["review this"], b"+ a line\n");
    assert_eq!((ran.stdout.as_str(), ran.code), ("Hello.\n", Some(0)), "{}", ran.stderr);
    let body = stage.server.requests()[0].json.to_string();
    assert!(body.contains(r#""review this\n\n+ a line\n""#), "{body}");
}

#[test]
fn ten_megabytes_of_standard_input_are_read_and_one_byte_more_is_not() {
    let (stage, most) = (stage(), 10 << 20);
    let ran = piped(&stage, &[], &vec![b'x'; most + 1]);
    expect![[r#"
        error: standard input has more than 10 MiB; save it to a file and name the file in the prompt
    "#]]
    .assert_eq(&refused(&stage, &ran));
    let ran = piped(&stage, &["--no-session-persistence"], &vec![b'x'; most]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Hello.\n", Some(0)), "{}", ran.stderr);
}

#[test]
fn standard_input_that_is_no_text() {
    let stage = stage();
    let ran = piped(&stage, &[], b"caf\xe9");
    expect![[r#"
        error: standard input is not valid UTF-8 (at byte 3); save it to a file and name the file in the prompt
    "#]]
    .assert_eq(&refused(&stage, &ran));
}

#[test]
fn no_prompt() {
    let stage = stage();
    expect![[r#"
        error: no prompt: pass one, as in rheon -p "explain this", or pipe it in
    "#]]
    .assert_eq(&refused(&stage, &stage.run(&[])));
}

#[test]
fn a_command_with_a_slip_of_the_finger_is_no_prompt() {
    let stage = stage();
    expect![[r#"
        error: unknown command "sesions"; did you mean "sessions"? To send it to the model, use rheon -p sesions
    "#]]
    .assert_eq(&refused(&stage, &stage.ran(stage.rheon(&["sesions"]))));
    for arguments in [&["-p", "sesions"][..], &["test"], &["sesions are lost"]] {
        let mut command = stage.rheon(arguments);
        command.args(["--model", MODEL]);
        assert_eq!(stage.ran(command).stdout, "Hello.\n", "{arguments:?}");
    }
}

#[test]
fn a_session_id_that_is_a_path() {
    let stage = stage();
    let ran = stage.run(&["hi", "--session-id", "../../etc/passwd"]);
    expect![[r#"
        error: invalid UUID "../../etc/passwd" for --session-id; use one such as 01890a5d-ac96-774b-bcce-b302099a8057
    "#]].assert_eq(&refused(&stage, &ran));
    for wanted in ["../../etc/passwd", "/etc/passwd", "..", "", "*"] {
        let ran = stage.run(&["hi", "--resume", wanted]);
        assert_eq!(ran.stdout, "", "{wanted}");
        assert!(matches!(ran.code, Some(1 | 2)), "{wanted}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
    assert_eq!(stage.server.requests().len(), 0);
}

#[test]
fn a_model_that_is_unknown() {
    let stage = stage();
    let mut said = String::new();
    for model in ["nobody/x", "sonet", "gtp-5", "antropic/claude-opus-5", "claud-opus-5", "", "/", "openai/"]
    {
        let mut command = stage.rheon(&["-p", "hi", "--model", model]);
        command.env_remove("ANTHROPIC_API_KEY");
        said += &refused(&stage, &stage.ran(command));
    }
    expect![[r#"
        error: no known vendor has a model "nobody/x"; write vendor/model (anthropic, azure, azure-chat, bedrock ...); run `rheon models --all` to list known models
        error: no known vendor has a model "sonet"; did you mean anthropic/claude-sonnet-5-5? run `rheon models --all` to list known models
        error: no known vendor has a model "gtp-5"; did you mean openai/gpt-5? run `rheon models --all` to list known models
        error: no known vendor has a model "antropic/claude-opus-5"; did you mean anthropic/claude-opus-5? run `rheon models --all` to list known models
        error: no known vendor has a model "claud-opus-5"; did you mean anthropic/claude-opus-5? run `rheon models --all` to list known models
        error: cannot read --model: "model": the text is empty; set it or remove the key
        error: no known vendor has a model "/"; write vendor/model (anthropic, azure, azure-chat, bedrock ...); run `rheon models --all` to list known models
        error: "openai/" is not a model name: write vendor/model
    "#]].assert_eq(&said);
}

#[test]
fn a_config_file_that_is_malformed() {
    let stage = stage();
    write(&stage.path("home/.config/rheon/config.toml"), "model = \"a/b\"\n[limits\n");
    expect![[r#"
        error: cannot read STAGE/home/.config/rheon/config.toml: line 2: unclosed table, expected `]`
    "#]]
    .assert_eq(&refused(&stage, &stage.run(&["hi"])));
    write(&stage.path("home/.config/rheon/config.toml"), "modle = \"a/b\"\n[limits]\nturns_max = \"many\"\n");
    expect![[r#"
        error: cannot read STAGE/home/.config/rheon/config.toml: line 1: unknown key "modle", did you mean "model"?
        cannot read STAGE/home/.config/rheon/config.toml: line 3: "limits.turns_max" is a string; it must be a whole number from 1 to 4294967295
    "#]].assert_eq(&refused(&stage, &stage.run(&["hi"])));
}

#[test]
fn a_system_prompt_file_that_cannot_be_read() {
    let stage = stage();
    let mut said = String::new();
    std::fs::write(stage.path("workspace/latin.txt"), b"caf\xe9").unwrap();
    for file in ["missing.md", ".", "latin.txt"] {
        said += &refused(&stage, &stage.run(&["hi", "--system-prompt-file", file]));
    }
    expect![[r#"
        error: cannot read the system prompt missing.md: No such file or directory (os error 2)
        error: cannot read the system prompt .: Is a directory (os error 21)
        error: cannot read the system prompt latin.txt: stream did not contain valid UTF-8
    "#]]
    .assert_eq(&said);
}

#[test]
fn settings_and_schemas_that_cannot_be_read() {
    let stage = stage();
    let mut said = String::new();
    for arguments in [
        ["--settings", "missing.json"],
        ["--settings", "{"],
        ["--json-schema", "missing.json"],
        ["--json-schema", "{]"],
        ["--json-schema", "true"],
        ["--json-schema", "[1, 2]"],
        ["--json-schema", "3"],
        ["--json-schema", "\"object\""],
        ["--json-schema", r#"{"type": "objct"}"#],
        ["--json-schema", r#"{"properties": {"age": {"minimum": "low"}}}"#],
        ["--json-schema", r##"{"properties": {"age": {"$ref": "#/nowhere"}}}"##],
        ["--mcp-config", "missing.json"],
        ["--setting-sources", "users"],
        ["--max-budget-usd", "much"],
        ["--cd", "missing"],
    ] {
        said += &refused(&stage, &stage.run(&[&["hi"][..], &arguments].concat()));
    }
    expect![[r#"
        error: cannot read STAGE/workspace/missing.json: no such file; check the path
        error: cannot read --settings: line 1: EOF while parsing an object
        error: cannot read the schema missing.json: no such file; pass a file or the schema itself: {...}
        error: --json-schema is not a valid JSON schema: key must be a string at line 1 column 2
        error: --json-schema is not a valid JSON schema: it must be an object, for example {"type": "object", "properties": {}}
        error: --json-schema is not a valid JSON schema: it must be an object, for example {"type": "object", "properties": {}}
        error: --json-schema is not a valid JSON schema: it must be an object, for example {"type": "object", "properties": {}}
        error: --json-schema is not a valid JSON schema: it must be an object, for example {"type": "object", "properties": {}}
        error: --json-schema is not a valid JSON schema: at /type: "objct" is not valid under any of the schemas listed in the 'anyOf' keyword; types are object, array, string, number, integer, boolean and null
        error: --json-schema is not a valid JSON schema: at /properties/age/minimum: "low" is not of type "number"
        error: --json-schema is not a valid JSON schema: Pointer '/nowhere' does not exist
        error: cannot read STAGE/workspace/missing.json: no such file; check the path
        error: invalid value "users" for --setting-sources: use user, project or local
        error: cannot read --max-budget-usd: "limits.budget_usd": much is not an amount in dollars; write it like 2.50
        error: cannot work in missing: no such directory
    "#]].assert_eq(&said);
}

#[test]
fn flags_that_make_no_sense_together() {
    let stage = stage();
    let mut said = String::new();
    for arguments in [&["--fork-session"][..], &["--input-format", "stream-json"], &["-c", "-r", "x"]] {
        said += &refused(&stage, &stage.run(&[&["hi"], arguments].concat()));
    }
    expect![[r#"
        error: --fork-session needs a session: add -c or -r ID
        error: --input-format stream-json needs --output-format stream-json
        error: the argument '--continue' cannot be used with '--resume [<ID>]'

        Usage: rheon --print --model <MODEL> --continue <PROMPT>

        For more information, try '--help'.
    "#]]
    .assert_eq(&said);
}

#[test]
fn no_variable_names_a_home() {
    let stage = stage();
    let mut command = stage.rheon(&["-p", "--model", MODEL, "hi"]);
    command.env_remove("HOME");
    // The home that the system knows is that of whoever runs this test: nothing is to be kept there.
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "CLAUDE_CONFIG_DIR"]
    {
        command.env(name, stage.path(name));
    }
    let ran = stage.ran(command);
    assert_eq!((ran.stdout.as_str(), ran.code), ("Hello.\n", Some(0)), "{}", ran.stderr);
    assert!(stage.path("XDG_DATA_HOME/rheon/sessions").is_dir());
}

#[test]
fn a_home_that_is_no_whole_path() {
    let stage = stage();
    let mut command = stage.rheon(&["-p", "--model", MODEL, "hi"]);
    command.env("HOME", "somewhere");
    let ran = stage.ran(command);
    assert_eq!(ran.stdout, "");
    expect![[r#"
        Some(1) error: cannot find the data directory: set XDG_DATA_HOME or HOME to an absolute path
        note: STAGE/workspace: the project's own content is ignored: cannot find the state directory: set XDG_STATE_HOME or HOME to an absolute path
    "#]].assert_eq(&format!("{:?} {}", ran.code, ran.stderr));
}

#[cfg(unix)]
#[test]
fn a_home_that_cannot_be_written() {
    let stage = stage();
    // A file where a directory is needed stops everybody, the superuser too.
    std::fs::write(stage.path("home/.local"), "").unwrap();
    let ran = stage.run(&["hi"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("", Some(1)));
    expect![[r#"
        error: cannot save sessions: cannot create the directory STAGE/home/.local/share/rheon: Not a directory (os error 20); a file is in the way of a directory: move it, or use another directory
        note: STAGE/workspace: the project's own content is ignored: cannot read trusted projects from "STAGE/home/.local/state/rheon/trust.json": Not a directory (os error 20); delete the file to reset trust
    "#]].assert_eq(&ran.stderr);
}
