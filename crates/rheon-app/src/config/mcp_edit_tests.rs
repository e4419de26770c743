//! Servers are added to and removed from files of settings.

use expect_test::expect;
use serde_json::{Map, Value, json};

use super::McpFile;

fn server(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn servers_come_and_go_in_the_users_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = McpFile::of_user(dir.path());
    let before = "# mine\nmodel = \"x/y\"\n\n[limits]\nmax_turns = 3\n";
    std::fs::write(file.path(), before).unwrap();
    let files =
        json!({ "command": "npx", "args": ["-y", "a \"b\"\n"], "env": { "A KEY": "v" }, "enabled": true });
    file.add("files", &server(files)).unwrap();
    file.add("far", &server(json!({ "type": "http", "url": "https://x/mcp" }))).unwrap();
    expect![[r##"
        # mine
        model = "x/y"

        [limits]
        max_turns = 3

        [mcp_servers.files]
        args = ["-y", """
        a "b"
        """]
        command = "npx"
        enabled = true
        env = { "A KEY" = "v" }

        [mcp_servers.far]
        type = "http"
        url = "https://x/mcp"
    "##]]
    .assert_eq(&std::fs::read_to_string(file.path()).unwrap());
    expect!["\"far\" exists already in DIR/config.toml; remove it first"]
        .assert_eq(&problem(&file.add("far", &Map::new()).unwrap_err(), dir.path()));
    file.remove("files").unwrap();
    file.remove("far").unwrap();
    assert_eq!(std::fs::read_to_string(file.path()).unwrap().trim_end(), before.trim_end());
    expect!["no MCP server named \"far\" in DIR/config.toml"]
        .assert_eq(&problem(&file.remove("far").unwrap_err(), dir.path()));
    std::fs::write(file.path(), "mcp_servers.x = { command = \"x\" }\n").unwrap();
    expect![
        "cannot remove \"x\" from DIR/config.toml: it is not a table of its own; run `rheon config edit`"
    ]
    .assert_eq(&problem(&file.remove("x").unwrap_err(), dir.path()));
    expect!["server names have at most 64 letters, digits, - and _; \"a b\" is not one"]
        .assert_eq(&problem(&file.add("a b", &Map::new()).unwrap_err(), dir.path()));
}

#[test]
fn servers_come_and_go_in_the_projects_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = McpFile::of_project(dir.path());
    file.add("x", &server(json!({ "command": "x" }))).unwrap();
    expect![[r#"
        {
          "mcpServers": {
            "x": {
              "command": "x"
            }
          }
        }
    "#]]
    .assert_eq(&std::fs::read_to_string(file.path()).unwrap());
    file.remove("x").unwrap();
    assert_eq!(std::fs::read_to_string(file.path()).unwrap(), "{\n  \"mcpServers\": {}\n}\n");
    std::fs::write(file.path(), "{").unwrap();
    expect!["cannot read DIR/.mcp.json: EOF while parsing an object at line 1 column 1"]
        .assert_eq(&problem(&file.remove("x").unwrap_err(), dir.path()));
}

fn problem(error: &super::McpEditError, dir: &std::path::Path) -> String {
    error.to_string().replace(&dir.display().to_string(), "DIR")
}
