//! Servers of further tools: what is understood, what is not.

use expect_test::expect;
use secrecy::ExposeSecret as _;

use super::fixtures::Place;
use super::load::Config;
use super::mcp_server::McpTransport;

fn servers(config: &Config) -> String {
    let lines = config.settings.mcp_servers.iter().map(|(name, server)| {
        let reach = match &server.transport {
            McpTransport::Stdio { command, args, env, directory } => {
                let env: Vec<String> =
                    env.iter().map(|(name, value)| format!("{name}={}", value.expose_secret())).collect();
                format!("{command} {args:?} {env:?} {directory:?}")
            }
            McpTransport::OpenApi { document, base_url, headers } => {
                let names: Vec<&String> = headers.keys().collect();
                format!("OpenAPI {document} {base_url:?} {names:?}")
            }
            McpTransport::Client => "in the program".to_owned(),
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
    expect![[r#"
        files: npx ["-y", "server", "a$b"] ["TOKEN=secret-token"] Some("/srv") true true Some(5s) Some(60s) Some(["read"]) ["write"]
        old: Sse http://127.0.0.1:1/sse [] true false None None None []
        remote: Http https://example.com/mcp ["Authorization: Bearer secret-token", "X-A: b", "X-Token: secret-token"] false false None None None []
        socket: WebSocket wss://example.com [] true false None None None []"#]].assert_eq(&servers(&config));
    expect![[r#"/home/.config/rheon/config.toml: line 27: the server "waiting" is left out: the environment variable NOT_SET is not set; set it or write ${NOT_SET:-default}"#]].assert_eq(&place.warnings(&config));
    let shown = place.shown(&config);
    assert!(!shown.contains("secret-token"));
    expect![[r#"
        mcp_servers.files = { command = "npx", args = ["-y", "${PACKAGE:-server}", "a$b"], env = { TOKEN = "***" }, cwd = "/srv", startup_timeout_sec = 5, tool_timeout_sec = 60, required = true, enabled_tools = ["read"], disabled_tools = ["write"] } [/home/.config/rheon/config.toml:1]
        mcp_servers.old = { type = "sse", url = "http://127.0.0.1:1/sse" } [/home/.config/rheon/config.toml:19]
        mcp_servers.remote = { url = "https://${HOST:-example.com}/mcp", http_headers = { X-A = "***" }, env_http_headers = { X-Token = "TOKEN" }, bearer_token_env_var = "TOKEN", enabled = false } [/home/.config/rheon/config.toml:12]
        mcp_servers.socket = { type = "ws", url = "wss://example.com" } [/home/.config/rheon/config.toml:23]
        mcp_servers.waiting = { command = "x", args = ["${NOT_SET}"] } [/home/.config/rheon/config.toml:27]"#]].assert_eq(&shown);
}

#[test]
fn an_openapi_document_is_a_server_among_others() {
    let text = r#"[mcp_servers.shop]
type = "openapi"
document = "${API:-shop.yaml}"
base_url = "https://shop.example.com"
bearer_token_env_var = "TOKEN"
enabled_tools = ["listOrders"]
"#;
    let config = Place::new().user(text).variable("TOKEN", "secret-token").load();
    expect![[r#"shop: OpenAPI shop.yaml Some("https://shop.example.com") ["Authorization"] true false None None Some(["listOrders"]) []"#]]
        .assert_eq(&servers(&config));
    let wrong = r#"[mcp_servers]
a = { type = "openapi" }
b = { type = "openapi", url = "https://x/api.json" }
c = { type = "openapi", document = "x", command = "y" }
d = { command = "x", document = "y" }
"#;
    expect![[r#"
        cannot read /home/.config/rheon/config.toml: line 2: "mcp_servers.a": the key "document" is missing: a file or an address
        cannot read /home/.config/rheon/config.toml: line 3: "mcp_servers.b": "url" does not apply to an OpenAPI document; remove it
        cannot read /home/.config/rheon/config.toml: line 4: "mcp_servers.c": "command" does not apply to an OpenAPI document; remove it
        cannot read /home/.config/rheon/config.toml: line 5: "mcp_servers.d": "document" does not apply to a server that is not of type openapi; remove it"#]]
    .assert_eq(&Place::new().user(wrong).problems());
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
    expect![[r#"
        cannot read /home/.config/rheon/config.toml: line 2: "mcp_servers.a" is a number; it must be a table
        cannot read /home/.config/rheon/config.toml: line 3: "mcp_servers.b": the key "command" is missing; set it or "url"
        cannot read /home/.config/rheon/config.toml: line 4: "mcp_servers.c": "command" does not apply to a remote server; remove it
        cannot read /home/.config/rheon/config.toml: line 5: "mcp_servers.d": "url" must start with https:// or http:// (wss:// or ws:// for type ws)
        cannot read /home/.config/rheon/config.toml: line 6: "mcp_servers.e": unknown type "htp", did you mean "http"?
        cannot read /home/.config/rheon/config.toml: line 7: "mcp_servers.f": unknown key "comand", did you mean "command"?
        cannot read /home/.config/rheon/config.toml: line 8: "mcp_servers.g": "args" must be a list of strings
        cannot read /home/.config/rheon/config.toml: line 9: "mcp_servers.h": "startup_timeout_sec" must be a whole number of seconds from 1 to 86400
        cannot read /home/.config/rheon/config.toml: line 10: "mcp_servers.i": "env" does not apply to a remote server; remove it
        cannot read /home/.config/rheon/config.toml: line 11: "mcp_servers.j": "env" must be a table of strings
        cannot read /home/.config/rheon/config.toml: line 13: "mcp_servers.l m": server names have at most 64 letters, digits, - and _; rename it"#]].assert_eq(&place.problems());
    let long = format!("mcp_servers.x = {{ command = \"{}\" }}", "${A}".repeat(300));
    let place = Place::new().user(&long).variable("A", &"a".repeat(1_000));
    expect![[r#"/home/.config/rheon/config.toml: line 1: the server "x" is left out: the expanded text is longer than 262144 bytes"#]].assert_eq(&place.warnings(&place.load()));
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
    expect![[r#"
        api: Http https://x/mcp ["Authorization: Bearer t"] true false None None None []
        fs: npx ["-y", "server"] ["K=none"] None true false None None None []"#]]
    .assert_eq(&servers(&config));
    expect![[r#"
        /project/.mcp.json: the server "unclear" is left out: it has a "url" and no "type"; write "type": "http" or "sse"
        /project/.mcp.json: the server "odd" is left out: "command" must be a string"#]].assert_eq(&place.warnings(&config));
    for broken in ["{", "[]", "{}", "{\"mcpServers\": 3}"] {
        let place = Place::new().file("project/.mcp.json", broken);
        assert!(place.load().settings.mcp_servers.is_empty(), "{broken}");
    }
}

#[test]
fn servers_of_the_command_line_count_at_once_and_take_the_place_of_weaker_ones() {
    let given = |place: &Place, texts: &[&str]| {
        let mut inputs = place.inputs();
        inputs.mcp_configs = texts.iter().map(|text| (*text).to_owned()).collect();
        inputs
    };
    let place = Place::new().user("mcp_servers.x.command = \"mine\"").file(
        "project/more.json",
        r#"{"mcpServers": {"x": {"command": "theirs"}, "s": {"type": "sdk", "name": "s"}}}"#,
    );
    let config = place.load_with(given(&place, &["more.json", r#"{"mcpServers": {"y": {"command": "y"}}}"#]));
    expect![[r#"
        s: in the program true false None None None []
        x: theirs [] [] None true false None None None []
        y: y [] [] None true false None None None []
    "#]]
    .assert_eq(&format!("{}\n{}", servers(&config), place.warnings(&config)));
    expect![[r#"
        cannot read --mcp-config: line 1: EOF while parsing a value
        cannot read /project/nowhere.json: no such file; check the path"#]]
    .assert_eq(&place.problems_with(given(&place, &["nowhere.json", "{\"mcpServers\": "])));
}
