//! Servers of further tools: what is understood, what is not.

use expect_test::expect;
use secrecy::ExposeSecret as _;

use super::fixtures::Place;
use super::load::Config;
use super::mcp_server::McpTransport;

fn servers(config: &Config) -> String {
    let lines = config.settings.mcp_servers.iter().map(|(name, server)| {
        let reach = match &server.transport {
            McpTransport::Stdio { command, args, env, folder } => {
                let env: Vec<String> =
                    env.iter().map(|(name, value)| format!("{name}={}", value.expose_secret())).collect();
                format!("{command} {args:?} {env:?} {folder:?}")
            }
            McpTransport::Remote { kind, url, headers } => {
                let headers: Vec<String> = headers
                    .iter()
                    .map(|(name, value)| format!("{name}: {}", value.expose_secret()))
                    .collect();
                format!("{kind:?} {url} {headers:?}")
            }
        };
        let (enabled, required) = (server.enabled, server.required);
        let (startup, tool) = (server.startup_timeout, server.tool_timeout);
        let (only, without) = (&server.enabled_tools, &server.disabled_tools);
        format!("{name}: {reach} {enabled} {required} {startup:?} {tool:?} {only:?} {without:?}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn all_kinds_of_servers_are_understood_and_variables_filled_in() {
    let place = Place::new()
        .user(
            r#"[mcp_servers.files]
command = "npx"
args = ["-y", "${PACKAGE:-server}", "a$b"]
env = { TOKEN = "${TOKEN}" }
cwd = "/srv"
startup_timeout_sec = 5
tool_timeout_sec = 60
required = true
enabled_tools = ["read"]
disabled_tools = ["write"]

[mcp_servers.remote]
url = "https://${HOST:-example.com}/mcp"
http_headers = { X-A = "b" }
env_http_headers = { X-Token = "TOKEN" }
bearer_token_env_var = "TOKEN"
enabled = false

[mcp_servers.old]
type = "sse"
url = "http://127.0.0.1:1/sse"

[mcp_servers.socket]
type = "ws"
url = "wss://example.com"

[mcp_servers.waiting]
command = "x"
args = ["${NOT_SET}"]
"#,
        )
        .variable("TOKEN", "secret-token");
    let config = place.load();
    expect![[r#""#]].assert_eq(&servers(&config));
    expect![[r#""#]].assert_eq(&place.warnings(&config));
    let shown = place.shown(&config);
    assert!(!shown.contains("secret-token"));
    expect![[r#""#]].assert_eq(&shown);
}

#[test]
fn a_server_that_makes_no_sense_is_told() {
    let text = r#"[mcp_servers]
a = 1
b = {}
c = { command = "x", url = "https://x" }
d = { url = "x" }
e = { type = "htp", url = "https://x" }
f = { command = "x", comand = "y" }
g = { command = "x", args = "y" }
h = { command = "x", startup_timeout_sec = 0 }
i = { type = "http", url = "https://x", env = {} }
j = { command = "x", env = { A = 1 } }
k = { command = "x", args = ["${OPEN"] }
"l m" = { command = "x" }
"#;
    let place = Place::new().user(text);
    expect![[r#""#]].assert_eq(&place.problems());
    let long = format!("mcp_servers.x = {{ command = \"{}\" }}", "${A}".repeat(300));
    let place = Place::new().user(&long).variable("A", &"a".repeat(1_000));
    expect![[r#""#]].assert_eq(&place.warnings(&place.load()));
}

#[test]
fn the_shared_file_counts_once_it_is_trusted_and_what_is_wrong_in_it_is_left_out() {
    let text = r#"{"mcpServers": {
        "fs": {"command": "npx", "args": ["-y", "server"], "env": {"K": "${K:-none}"}},
        "api": {"type": "http", "url": "https://x/mcp", "headers": {"Authorization": "Bearer ${TOKEN:-t}"}},
        "unclear": {"url": "https://x/mcp"}, "odd": {"command": 3}}}"#;
    let place = Place::new().file("project/.mcp.json", text);
    let config = place.load();
    assert_eq!(servers(&config), "");
    config.review.unwrap().grant().unwrap();
    let config = place.load();
    expect![[r#""#]].assert_eq(&servers(&config));
    expect![[r#""#]].assert_eq(&place.warnings(&config));
    for broken in ["{", "[]", "{}", "{\"mcpServers\": 3}"] {
        let place = Place::new().file("project/.mcp.json", broken);
        assert!(place.load().settings.mcp_servers.is_empty(), "{broken}");
    }
}
