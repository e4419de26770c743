//! MCP servers in the program: configured, trusted, called, and inside a driving program.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use expect_test::expect;
use rheon_testkit::MCP_SERVER_SCRIPT;
use rheon_testkit::server::{FakeReply, Script};
use serde_json::{Value, json};

use crate::stage::{MODEL, Stage, write};
use crate::support::Ran;

/// A stage with the scripted server, and a model that calls one of its tools.
fn stage(script: impl Into<Script>) -> Stage {
    let stage = Stage::new(script);
    write(&stage.path("server.sh"), MCP_SERVER_SCRIPT);
    stage
}

fn echo() -> [FakeReply; 2] {
    [FakeReply::call("mcp__s__echo", &json!({ "word": "hello" })), FakeReply::text("It says hello.")]
}

/// The server `s`, as `.mcp.json` has it. Runs wait for it.
fn configured(stage: &Stage, start: &str) -> String {
    let script = stage.path("server.sh").display().to_string();
    let server =
        json!({ "command": "bash", "args": [script, start], "required": true, "startup_timeout_sec": 3600 });
    json!({ "mcpServers": { "s": server } }).to_string()
}

fn rheon(stage: &Stage, arguments: &[&str]) -> Command {
    let mut command = stage.rheon(arguments);
    command.env("PATH", std::env::var_os("PATH").unwrap());
    command
}

fn run(stage: &Stage, arguments: &[&str]) -> Ran {
    stage.ran(rheon(stage, &[&["-p", "--model", MODEL], arguments].concat()))
}

/// What the model got back from its first call.
fn result(stage: &Stage) -> String {
    let requests = stage.server.requests();
    let messages = requests.last().unwrap().json["messages"].as_array().unwrap().clone();
    let result = &messages.iter().rev().find(|message| message["role"] == "user").unwrap()["content"][0];
    result["content"][0]["text"].as_str().or(result["content"].as_str()).unwrap_or_default().to_owned()
}

#[test]
fn a_tool_of_a_server_is_offered_asked_about_and_called() {
    let stage = stage(echo());
    let config = configured(&stage, "plain");
    let ran = run(&stage, &["--mcp-config", &config, "--allowedTools", "mcp__s__echo", "--", "Say hello"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("It says hello.\n", Some(0)), "{}", ran.stderr);
    assert_eq!(result(&stage), "hello");
    let request = &stage.server.requests()[0].json;
    let tools: Vec<&str> =
        request["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(tools.contains(&"mcp__s__echo"), "{tools:?}");
    assert!(request["system"].to_string().contains("# Tools of mcp"));
}

#[test]
fn without_a_rule_the_call_needs_approval_and_a_denied_tool_is_not_offered() {
    let stage = stage(echo());
    let config = configured(&stage, "plain");
    let ran = run(&stage, &["--mcp-config", &config, "--disallowedTools", "mcp__s__fail", "--", "Say hello"]);
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("call mcp__s__echo: no rule allows it; it runs on an MCP server"),
        "{}",
        ran.stderr
    );
    assert!(
        result(&stage).starts_with("permission denied: mcp__s__echo needs approval"),
        "{}",
        result(&stage)
    );
    assert!(!stage.server.requests()[0].json["tools"].to_string().contains("mcp__s__fail"));
}

#[test]
fn servers_of_a_project_start_only_where_it_is_trusted() {
    let stage = stage(echo());
    let touched = stage.path("touched");
    let script = format!(": >{}\nexec bash {} plain\n", touched.display(), stage.path("server.sh").display());
    write(&stage.path("start.sh"), &script);
    let server = json!({ "command": "bash", "args": [stage.path("start.sh").display().to_string()], "required": true });
    write(&stage.path("workspace/.mcp.json"), &json!({ "mcpServers": { "s": server } }).to_string());
    let ran = stage.ran(rheon(&stage, &["mcp", "list"]));
    assert!(ran.stdout.starts_with("No MCP servers"), "{}", ran.stdout);
    assert!(ran.stderr.contains("the project is not trusted"), "{}", ran.stderr);
    run(&stage, &["--", "Say hello"]);
    assert!(!touched.exists());
    let ran = run(&stage, &["--trust", "--allowedTools", "mcp__s", "--", "Say hello"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(touched.exists());
}

#[test]
fn a_server_whose_program_in_the_project_changes_needs_trust_again() {
    let stage = stage(echo());
    let script = stage.path("workspace/server.sh");
    write(&script, MCP_SERVER_SCRIPT);
    let server = json!({ "command": "bash", "args": ["./server.sh", "plain"], "startup_timeout_sec": 3600 });
    write(&stage.path("workspace/.mcp.json"), &json!({ "mcpServers": { "s": server } }).to_string());
    let granted = stage.ran(rheon(&stage, &["trust", "grant", "--yes"]));
    assert_eq!(granted.code, Some(0), "{}", granted.stderr);
    let ran = stage.ran(rheon(&stage, &["mcp", "list"]));
    assert!(ran.stdout.starts_with("s: connected, 17 tools"), "{}{}", ran.stdout, ran.stderr);
    write(&script, &format!("touch evil\n{MCP_SERVER_SCRIPT}"));
    let ran = stage.ran(rheon(&stage, &["mcp", "list"]));
    assert!(ran.stdout.starts_with("No MCP servers"), "{}", ran.stdout);
    assert!(ran.stderr.contains("server.sh"), "{}", ran.stderr);
    assert!(!stage.path("workspace/evil").exists());
}

#[test]
fn servers_are_added_listed_tested_and_removed() {
    let stage = stage(Script::always(FakeReply::text("Done.")));
    let script = stage.path("server.sh").display().to_string();
    let mcp = |arguments: &[&str]| stage.ran(rheon(&stage, &[&["mcp"], arguments].concat()));
    expect!["Added s to STAGE/home/.config/rheon/config.toml. Test it with `rheon mcp test s`.\n"]
        .assert_eq(&mcp(&["add", "s", "--env", "KEY=secret", "--", "bash", &script, "many"]).stdout);
    expect!["Added gone to STAGE/home/.config/rheon/config.toml. Test it with `rheon mcp test gone`.\n"]
        .assert_eq(&mcp(&["add", "gone", "no-such-program-here"]).stdout);
    let ran = mcp(&["list"]);
    expect![[r#"
        gone: failed: cannot start no-such-program-here: No such file or directory (os error 2)  (STAGE/home/.config/rheon/config.toml:6)
        s: connected, 201 tools, about 5,610 tokens  (STAGE/home/.config/rheon/config.toml:1)
    "#]]
    .assert_eq(&ran.stdout);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let ran = mcp(&["test", "gone"]);
    expect![
        "error: gone: failed: cannot start no-such-program-here: No such file or directory (os error 2)\n"
    ]
    .assert_eq(&ran.stderr);
    assert_eq!(ran.code, Some(1));
    let get = mcp(&["get", "s"]).stdout;
    let first: Vec<&str> = get.lines().take(4).collect();
    expect![[r#"
        s: connected, 201 tools, about 5,610 tokens
        program: scripted 1
        protocol: 2025-11-25
          mcp__s__tool_1"#]]
    .assert_eq(&first.join("\n"));
    let ran = mcp(&["get", "z"]);
    expect![[r#"
        error: no MCP server named "z"; expected one of gone, s
    "#]]
    .assert_eq(&ran.stderr);
    expect!["Removed gone from STAGE/home/.config/rheon/config.toml.\n"]
        .assert_eq(&mcp(&["remove", "gone"]).stdout);
    expect!["error: no MCP server named \"gone\" in STAGE/home/.config/rheon/config.toml\n"]
        .assert_eq(&mcp(&["remove", "gone"]).stderr);
}

#[test]
fn resources_are_attached_and_prompts_are_commands() {
    let stage = stage(Script::always(FakeReply::text("Done.")));
    let config = configured(&stage, "plain");
    let sent = |typed: &str| {
        let ran = run(&stage, &["--mcp-config", &config, "--", typed]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        stage.server.requests().last().unwrap().json["messages"][0]["content"].to_string()
    };
    let attached = sent("What is in @s:note://one ?");
    assert!(
        attached.contains(
            "<attached server=\\\"s\\\" uri=\\\"note://one\\\">\\n[resource note://one]\\nthe first note"
        ),
        "{attached}"
    );
    let prompt = sent("/mcp__s__review src/a.rs");
    assert!(prompt.contains("Review src/a.rs"), "{prompt}");
}

#[test]
fn the_operations_of_a_document_are_listed() {
    let stage = stage(Script::always(FakeReply::text("Done.")));
    let document = r#"{"openapi":"3.1.0","paths":{"/pets":{
        "get":{"operationId":"listPets","tags":["pets"]},"post":{"requestBody":{"content":{"text/plain":{}}}},"put":{}}}}"#;
    write(&stage.path("workspace/api.json"), document);
    let ran = stage.ran(stage.rheon(&["openapi", "list", "api.json"]));
    expect![[r#"
        listPets  GET /pets
        put_pets  PUT /pets
        2 tools
    "#]]
    .assert_eq(&ran.stdout);
    expect!["note: POST /pets is left out: its body is not JSON or a form\n"].assert_eq(&ran.stderr);
    let ran = stage.ran(stage.rheon(&["openapi", "list", "api.json", "--tag", "pets"]));
    assert_eq!(ran.stdout, "listPets  GET /pets\n1 tool\n");
    write(&stage.path("workspace/old.json"), r#"{"swagger":"2.0"}"#);
    let ran = stage.ran(stage.rheon(&["openapi", "list", "old.json"]));
    expect!["error: this is a Swagger 2.0 document; convert it to OpenAPI 3 first\n"].assert_eq(&ran.stderr);
}

/// A service that answers one request; what was sent to it.
fn service() -> (String, std::thread::JoinHandle<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = String::new();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(lines.read_line(&mut head).unwrap(), 0);
        }
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n[\"cat\"").unwrap();
        head
    });
    (address, served)
}

#[test]
fn the_operations_of_a_document_are_tools_of_the_program() {
    let call = FakeReply::call("mcp__pets__listPets", &json!({ "limit": 3 }));
    let stage = stage([call, FakeReply::text("One cat.")]);
    let document = r#"{"openapi":"3.1.0","paths":{"/pets":{"get":{"operationId":"listPets",
        "parameters":[{"name":"limit","in":"query","schema":{"type":"integer"}}]}}}}"#;
    write(&stage.path("workspace/api.json"), document);
    let (address, served) = service();
    let settings = format!(
        "[mcp_servers.pets]\ntype = \"openapi\"\ndocument = \"api.json\"\nbase_url = \"{address}/v1\"\nheaders = {{ X-Key = \"k\" }}\nrequired = true\n"
    );
    write(&stage.path("home/.config/rheon/config.toml"), &settings);
    let ran = stage.ran(rheon(&stage, &["mcp", "list"]));
    assert!(ran.stdout.starts_with("pets: connected, 1 tool, about "), "{}{}", ran.stdout, ran.stderr);
    let ran = run(&stage, &["--allowedTools", "mcp__pets__listPets", "--", "List the pets"]);
    assert_eq!((ran.stdout.as_str(), ran.code), ("One cat.\n", Some(0)), "{}", ran.stderr);
    let head = served.join().unwrap();
    assert!(head.starts_with("GET /v1/pets?limit=3 HTTP/1.1\r\n") && head.contains("x-key: k"), "{head}");
    assert_eq!(result(&stage), format!("GET {address}/v1/pets?limit=3 → 200\n\n[\"cat\""));
}

#[test]
fn other_programs_run_agents_through_the_protocol() {
    let call = FakeReply::call("write", &json!({ "path": "new.txt", "content": "x" }));
    let stage = stage([call.clone(), FakeReply::text("Denied."), call, FakeReply::text("Written.")]);
    let mut child = rheon(&stage, &["mcp", "serve", "--model", MODEL]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut say = |line: Value| writeln!(stdin, "{line}").unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let capabilities = json!({ "elicitation": {} });
    say(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": capabilities } }),
    );
    assert_eq!(next()["result"]["protocolVersion"], "2025-06-18");
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    say(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    assert_eq!(next()["result"]["tools"][0]["name"], "run_agent");
    for (id, allow, file, text) in [(3, false, false, "Denied."), (4, true, true, "Written.")] {
        let params = json!({ "name": "run_agent", "arguments": { "prompt": "Write it." }, "_meta": { "progressToken": 7 } });
        say(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
        let mut seen = Vec::new();
        loop {
            let message = next();
            match message["method"].as_str() {
                Some("elicitation/create") => {
                    let text = message["params"]["message"].as_str().unwrap().to_owned();
                    assert!(text.contains("new.txt"), "{text}");
                    let result = json!({ "action": "accept", "content": { "allow": allow } });
                    say(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
                }
                Some(method) => seen.push(method.to_owned()),
                None => {
                    assert_eq!(
                        (&message["id"], &message["result"]["content"][0]["text"]),
                        (&json!(id), &json!(text))
                    );
                    assert!(message["result"]["structuredContent"]["session_id"].is_string());
                    break;
                }
            }
        }
        assert_eq!(seen, if allow { vec!["notifications/progress"] } else { Vec::new() });
        assert_eq!(stage.path("workspace/new.txt").exists(), file);
    }
    for line in ["[]", "{", r#"{"jsonrpc":"2.0","id":9,"method":"dance"}"#] {
        writeln!(stdin, "{line}").unwrap();
    }
    assert_eq!(next()["error"]["code"], -32_600);
    assert_eq!(next()["error"]["code"], -32_700);
    assert_eq!(next()["error"]["code"], -32_601);
    drop(stdin);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
}

#[test]
fn our_client_and_our_server_understand_each_other() {
    let stage = stage(Script::always(FakeReply::text("Done.")));
    let config = json!({ "command": env!("CARGO_BIN_EXE_rheon"), "args": ["mcp", "serve"], "startup_timeout_sec": 3600 });
    write(&stage.path("workspace/.mcp.json"), &json!({ "mcpServers": { "self": config } }).to_string());
    stage.ran(rheon(&stage, &["trust", "grant", "--yes"]));
    let ran = stage.ran(rheon(&stage, &["mcp", "test", "self"]));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!(lines.last(), Some(&"  mcp__self__run_agent"), "{}{}", ran.stdout, ran.stderr);
    assert!(lines.contains(&"protocol: 2026-07-28"));
}

#[test]
fn a_required_server_that_fails_ends_the_run() {
    let stage = stage(echo());
    let config = r#"{"mcpServers":{"s":{"command":"no-such-program-here","required":true}}}"#;
    let ran = run(&stage, &["--mcp-config", config, "--", "Say hello"]);
    assert_ne!(ran.code, Some(0));
    assert!(ran.stderr.contains("the MCP server \"s\" is required and not connected"), "{}", ran.stderr);
    assert!(stage.server.requests().is_empty());
}

#[test]
fn a_slash_command_shows_the_servers() {
    let stage = stage(Script::always(FakeReply::text("Done.")));
    let ran = run(&stage, &["--", "/mcp"]);
    expect!["no MCP servers; add one with `rheon mcp add`\n"].assert_eq(&ran.stdout);
}

/// What a server inside the driving program answers.
fn calculator(message: &Value) -> Value {
    match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "calc", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" } }] }),
        "tools/call" => json!({ "content": [{ "type": "text", "text": "5" }] }),
        _ => json!({}),
    }
}

#[test]
fn a_server_inside_the_driving_program_is_called_through_its_channel() {
    let reply = [FakeReply::call("mcp__calc__add", &json!({ "a": 2, "b": 3 })), FakeReply::text("It is 5.")];
    let stage = stage(reply);
    let arguments = [
        "--output-format",
        "stream-json",
        "--verbose",
        "--model",
        MODEL,
        "--setting-sources=",
        "--input-format",
        "stream-json",
        "--allowedTools",
        "mcp__calc__add",
        "--mcp-config",
        r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#,
    ];
    let mut child = rheon(&stage, &arguments).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut say = |line: Value| writeln!(stdin, "{line}").unwrap();
    say(
        json!({ "type": "control_request", "request_id": "1", "request": { "subtype": "initialize", "hooks": null } }),
    );
    say(
        json!({ "type": "user", "session_id": "", "message": { "role": "user", "content": "2 + 3?" }, "parent_tool_use_id": null }),
    );
    let mut seen = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if line["type"] == "result" {
            seen.push(format!("result {}", line["result"]));
            // The state of the server, now that it is known.
            say(
                json!({ "type": "control_request", "request_id": "2", "request": { "subtype": "mcp_status" } }),
            );
        }
        if line["type"] == "control_response" && line["response"]["request_id"] == "2" {
            seen.push(line["response"]["response"].to_string());
            break;
        }
        if line["type"] != "control_request" {
            continue;
        }
        let message = &line["request"]["message"];
        assert_eq!(
            (&line["request"]["subtype"], &line["request"]["server_name"]),
            (&json!("mcp_message"), &json!("calc"))
        );
        let result = calculator(message);
        seen.push(format!("{} {}", message["method"], message["params"]["arguments"]));
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        let response = json!({ "mcp_response": response });
        let response =
            json!({ "subtype": "success", "request_id": line["request_id"], "response": response });
        say(json!({ "type": "control_response", "response": response }));
    }
    drop(stdin);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    expect![[r#"
        "initialize" null
        "notifications/initialized" null
        "tools/list" null
        "tools/call" {"a":2,"b":3}
        result "It is 5."
        {"mcpServers":[{"name":"calc","status":"connected","tools":[{"name":"add"}]}]}"#]]
    .assert_eq(&seen.join("\n"));
    assert_eq!(result(&stage), "5");
}
