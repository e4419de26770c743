//! Logins at MCP servers, and the program as a server at an address.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use expect_test::expect;
use rheon_testkit::server::{FakeReply, Script};
use rheon_testkit::{LoginServer, LoginServerOptions};
use serde_json::json;

use crate::stage::{MODEL, Stage};
use crate::support::Ran;

fn stage() -> Stage {
    Stage::new(Script::always(FakeReply::text("Done.")))
}

fn ran(stage: &Stage, arguments: &[&str]) -> Ran {
    stage.ran(stage.rheon(arguments))
}

/// What an HTTP server answers: all of it, as text.
fn answered(method: &str, address: &str, headers: &str, body: &str) -> String {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, target) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} /{target} HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Where a browser is sent that opens `address`.
fn opened(address: &str) -> String {
    let answer = answered("GET", address, "", "");
    answer.lines().find_map(|line| line.strip_prefix("location: ")).unwrap().to_owned()
}

/// Starts a login; the process, and the address that it shows.
fn login(mut command: Command) -> (Child, String) {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut address = String::new();
    while !address.starts_with("http") {
        address.clear();
        assert_ne!(output.read_line(&mut address).unwrap(), 0);
    }
    child.stdout = Some(output.into_inner());
    (child, address.trim().to_owned())
}

#[test]
fn a_login_by_browser_or_by_hand_lets_the_server_be_used_until_the_logout() {
    let stage = stage();
    let server = stage.runtime.block_on(LoginServer::start(LoginServerOptions::default())).unwrap();
    let url = format!("{}/mcp", server.address());
    ran(&stage, &["mcp", "add", "far", &url]);
    let tested = ran(&stage, &["mcp", "test", "far"]);
    expect!["error: far: needs a login (`rheon mcp login far`): the server requires authorization; log in, or set its Authorization header\n"]
        .assert_eq(&tested.stderr);
    for by_hand in [false, true] {
        let (mut child, address) = login(stage.rheon(&["mcp", "login", "far"]));
        let back = opened(&address);
        if by_hand {
            writeln!(child.stdin.take().unwrap(), "{back}").unwrap();
        } else {
            let page = answered("GET", &back, "", "");
            assert!(page.contains("close this page"), "{page}");
        }
        let ended = Ran::from(child.wait_with_output().unwrap());
        assert_eq!((ended.stderr.as_str(), ended.code), ("", Some(0)), "{}", ended.stdout);
        assert!(!ended.stdout.contains("token-"), "{}", ended.stdout);
        let tested = ran(&stage, &["mcp", "test", "far"]);
        assert!(tested.stdout.starts_with("far: connected, 1 tool"), "{}{}", tested.stdout, tested.stderr);
        let out = ran(&stage, &["mcp", "logout", "far"]);
        assert_eq!(out.stdout, "Logged out of far.\n");
        assert_eq!(ran(&stage, &["mcp", "test", "far"]).code, Some(1));
    }
    expect!["error: there is no login at \"far\"\n"]
        .assert_eq(&ran(&stage, &["mcp", "logout", "far"]).stderr);
}

#[test]
fn logins_that_are_not_possible_say_why() {
    let stage = stage();
    ran(&stage, &["mcp", "add", "program", "true"]);
    expect!["error: the MCP server \"program\" is not an address, so there is no login\n"]
        .assert_eq(&ran(&stage, &["mcp", "login", "program"]).stderr);
    expect!["error: no MCP server named \"gone\"\n"]
        .assert_eq(&ran(&stage, &["mcp", "login", "gone"]).stderr);
    let ran = ran(&stage, &["mcp", "login", "gone", "--client-id", "me", "--client-secret-env", "NOT_SET"]);
    expect!["error: the environment variable NOT_SET is not set\n"].assert_eq(&ran.stderr);
}

#[test]
fn programs_with_the_token_run_agents_at_an_address() {
    let stage = stage();
    expect![
        "error: set RHEON_MCP_TOKEN to a secret of your choice; programs that call this server must send it\n"
    ]
    .assert_eq(&ran(&stage, &["mcp", "serve", "--port", "0"]).stderr);
    let mut command = stage.rheon(&["mcp", "serve", "--port", "0", "--model", MODEL]);
    let mut child = command.env("RHEON_MCP_TOKEN", "secret").spawn().unwrap();
    let mut line = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    let url = line.trim().strip_prefix("serving at ").unwrap().to_owned();
    let call = |token: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "run_agent", "arguments": { "prompt": "Hello" }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let headers = format!(
            "authorization: Bearer {token}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: run_agent\r\n"
        );
        answered("POST", &url, &headers, &body.to_string())
    };
    assert!(call("guessed").starts_with("HTTP/1.1 401 "));
    let answer = call("secret");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains(r#""text":"Done.""#), "{answer}");
    child.kill().unwrap();
    child.wait().unwrap();
}
