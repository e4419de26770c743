//! The program `rheon-fake-model` from the outside.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

use crate::support::client;

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_rheon-fake-model"))
}

#[tokio::test]
async fn program_prints_its_urls_answers_logs_and_stops_with_stdin() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log.jsonl");
    let mut child = program()
        .args(["--tool-turns", "1", "--until-stdin-closes", "--log"])
        .arg(&log)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first = lines.next_line().await.unwrap().unwrap();
    let base = first.split(' ').find_map(|word| word.strip_prefix("OPENAI_BASE_URL=")).unwrap();
    let ask = async |tools: serde_json::Value| {
        let mut body = serde_json::json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
        if !tools.is_null() {
            body["tools"] = tools;
        }
        let request = client().post(format!("{base}/chat/completions")).json(&body);
        request.send().await.unwrap().json::<serde_json::Value>().await.unwrap()
    };
    let shell = serde_json::json!([{"type": "function", "function": {"name": "shell", "parameters":
        {"type": "object", "required": ["command"], "properties": {"command": {"type": "string"}}}}}]);
    let title = ask(serde_json::Value::Null).await;
    let turn = ask(shell.clone()).await;
    let last = ask(shell).await;
    assert_eq!(title["choices"][0]["message"]["content"], "All done.");
    let call = &turn["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(call, &serde_json::json!({"name": "shell", "arguments": "{\"command\":\"echo ok\"}"}));
    assert_eq!(last["choices"][0]["message"]["content"], "All done.");
    for expected in ["default", "reply 1", "default"] {
        let line = lines.next_line().await.unwrap().unwrap();
        assert_eq!(line, format!("POST /v1/chat/completions -> {expected}"));
    }
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"ignored").await.unwrap();
    drop(stdin);
    assert!(child.wait().await.unwrap().success());
    let logged = std::fs::read_to_string(log).unwrap();
    let logged: Vec<serde_json::Value> =
        logged.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(logged.len(), 3);
    assert_eq!(logged[1]["body"]["tools"][0]["function"]["name"], "shell");
}

#[tokio::test]
async fn program_reports_an_invalid_script() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script.toml");
    std::fs::write(&script, "[[reply]]\ntxet = \"a\"\n").unwrap();
    let output = program().arg("--script").arg(&script).output().await.unwrap();
    let stderr_text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success());
    assert!(stderr_text.contains("script.toml: line 2: unknown field `txet`"), "{stderr_text}");
    let missing = program().args(["--script", "/nowhere.toml"]).output().await.unwrap();
    assert!(
        String::from_utf8(missing.stderr)
            .unwrap()
            .starts_with("rheon-fake-model: cannot read /nowhere.toml: ")
    );
}

#[tokio::test]
async fn program_prints_a_valid_example() {
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script.toml");
    std::fs::write(&script, program().arg("--example").output().await.unwrap().stdout).unwrap();
    let output =
        program().arg("--script").arg(&script).arg("--until-stdin-closes").stdin(Stdio::null()).output();
    assert!(output.await.unwrap().status.success());
}
