//! The servers of the protocol's authors, from npm. Run by `cargo xtask e2e-mcp`, which installs them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rheon_connect::{McpConnection, McpServerSpec, McpServers, McpStatus, StdioProgram};
use rheon_types::ToolSource as _;
use rheon_types::event::{PermissionDecision, PermissionResponse};
use serde_json::{Value, json};

use crate::fixture::{TestUser, call, servers, shown, until};

/// The directory with `node_modules`.
fn dir() -> PathBuf {
    PathBuf::from(std::env::var_os("RHEON_MCP_SERVERS").expect("run this with cargo xtask e2e-mcp"))
}

fn spec(name: &str, arguments: &[&str]) -> McpServerSpec {
    let program = dir().join("node_modules/.bin").join(format!("mcp-server-{name}"));
    let arguments = arguments.iter().map(|argument| (*argument).to_owned());
    let path = std::env::var("PATH").unwrap();
    let program = StdioProgram {
        command: "node".into(),
        arguments: std::iter::once(program.display().to_string()).chain(arguments).collect(),
        environment: BTreeMap::from([
            ("PATH".to_owned(), path.into()),
            ("MEMORY_FILE_PATH".to_owned(), dir().join("stage/memory.json").display().to_string().into()),
        ]),
        directory: None,
        log: None,
    };
    McpServerSpec::new(name, McpConnection::Stdio(program))
}

async fn three() -> McpServers {
    let stage = dir().join("stage");
    drop(std::fs::remove_dir_all(&stage));
    std::fs::create_dir_all(&stage).unwrap();
    let stage = stage.canonicalize().unwrap().display().to_string();
    let (servers, _) =
        servers(vec![spec("everything", &[]), spec("filesystem", &[&stage]), spec("memory", &[])]);
    servers.settled(&["everything".into(), "filesystem".into(), "memory".into()]).await;
    for view in servers.views() {
        assert_eq!(view.status, McpStatus::Connected, "{view:?}");
        println!(
            "{}: {} tools, {} prompts, {:?}",
            view.name,
            view.tools.len(),
            view.prompts.len(),
            view.info
        );
    }
    servers
}

/// Arguments for the tools that need some.
fn arguments(tool: &str) -> Value {
    let file = |name: &str| dir().canonicalize().unwrap().join("stage").join(name).display().to_string();
    match tool {
        "mcp__everything__echo" => json!({ "message": "hello" }),
        "mcp__everything__get-sum" => json!({ "a": 2, "b": 3 }),
        "mcp__everything__get-annotated-message" => json!({ "messageType": "success" }),
        "mcp__everything__get-structured-content" => json!({ "location": "New York" }),
        "mcp__everything__trigger-long-running-operation" => json!({ "duration": 1, "steps": 2 }),
        "mcp__everything__trigger-url-elicitation" => {
            json!({ "url": "https://example.com/form", "message": "Open it", "elicitationId": "1" })
        }
        "mcp__everything__simulate-research-query" => json!({ "topic": "x" }),
        "mcp__everything__gzip-file-as-resource" => {
            json!({ "name": "a.gz", "data": "data:text/plain,hello" })
        }
        "mcp__filesystem__write_file" => json!({ "path": file("new.txt"), "content": "written\n" }),
        "mcp__filesystem__edit_file" => {
            json!({ "path": file("new.txt"), "edits": [{ "oldText": "written", "newText": "edited" }] })
        }
        "mcp__filesystem__create_directory" => json!({ "path": file("sub") }),
        "mcp__filesystem__move_file" => {
            json!({ "source": file("new.txt"), "destination": file("moved.txt") })
        }
        "mcp__filesystem__read_multiple_files" => json!({ "paths": [file("a.txt")] }),
        "mcp__filesystem__search_files" => json!({ "path": file(""), "pattern": "*.txt" }),
        "mcp__filesystem__read_file"
        | "mcp__filesystem__read_text_file"
        | "mcp__filesystem__get_file_info"
        | "mcp__filesystem__read_media_file" => json!({ "path": file("a.txt") }),
        "mcp__memory__create_entities" => {
            json!({ "entities": [{ "name": "Ann", "entityType": "person", "observations": ["is here"] }] })
        }
        "mcp__memory__create_relations" => {
            json!({ "relations": [{ "from": "Ann", "to": "Ann", "relationType": "is" }] })
        }
        "mcp__memory__add_observations" => {
            json!({ "observations": [{ "entityName": "Ann", "contents": ["likes tea"] }] })
        }
        "mcp__memory__delete_entities" => json!({ "entityNames": ["Ann"] }),
        "mcp__memory__delete_observations" => {
            json!({ "deletions": [{ "entityName": "Ann", "observations": ["likes tea"] }] })
        }
        "mcp__memory__delete_relations" => {
            json!({ "relations": [{ "from": "Ann", "to": "Ann", "relationType": "is" }] })
        }
        "mcp__memory__search_nodes" => json!({ "query": "Ann" }),
        "mcp__memory__open_nodes" => json!({ "names": ["Ann"] }),
        name if name.starts_with("mcp__filesystem__") => json!({ "path": file("") }),
        _ => json!({}),
    }
}

#[tokio::test]
#[ignore = "needs servers from npm"]
async fn every_tool_resource_and_prompt_of_the_real_servers_works() {
    let servers = three().await;
    std::fs::write(dir().join("stage/a.txt"), "the content\n").unwrap();
    let mut names: Vec<String> = servers.snapshot().tools.iter().map(|tool| tool.name().to_owned()).collect();
    // What creates comes before what edits, moves and deletes.
    names.sort_by_key(|name| {
        (
            name.contains("delete"),
            name.contains("move"),
            name.contains("edit"),
            !name.contains("create"),
            !name.contains("write"),
        )
    });
    let mut failed = Vec::new();
    for name in &names {
        let user = TestUser::default();
        let yes = || PermissionResponse {
            answers: vec![vec!["Done".into()]; 12],
            ..PermissionDecision::Allow.into()
        };
        user.answers.lock().unwrap().extend([yes(), yes(), yes()]);
        let result = call(&servers, name, arguments(name), &user).await;
        println!(
            "{name}: {}",
            shown(&result).lines().next().unwrap_or_default().chars().take(100).collect::<String>()
        );
        // Tasks are not supported.
        if result.is_err() && !shown(&result).contains("requires task augmentation") {
            failed.push(format!("{name}: {}", shown(&result)));
        }
    }
    assert_eq!(failed, Vec::<String>::new());
    for view in servers.views() {
        let client = servers.client(&view.name).await.unwrap();
        for resource in client.resources().await.unwrap() {
            let content = client.read_resource(&resource.uri).await.unwrap();
            println!("{}: {} blocks", resource.uri, content.len());
        }
        for prompt in view.prompts.iter() {
            let words = if prompt.command.contains("resource") { "Text 1" } else { "Paris France" };
            let filled = prompt.arguments_of(words).unwrap();
            let content = client.get_prompt(&prompt.remote_name, filled).await.unwrap();
            println!("/{}: {} blocks", prompt.command, content.len());
        }
    }
    servers.close().await;
}

#[tokio::test]
#[ignore = "needs servers from npm"]
async fn a_real_server_that_is_killed_in_a_call_comes_back_while_others_work() {
    let servers = three().await;
    let user = TestUser::default();
    let long = call(
        &servers,
        "mcp__everything__trigger-long-running-operation",
        json!({ "duration": 600, "steps": 600 }),
        &user,
    );
    tokio::pin!(long);
    let kill = async {
        while user.heard().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        // The only process of ours with this program among its arguments.
        let own = dir().join("node_modules/.bin/mcp-server-everything").display().to_string();
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let line = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
            if line.starts_with("node\0") && line.contains(&own) {
                let id = entry.file_name().into_string().unwrap();
                std::process::Command::new("kill").args(["-9", &id]).status().unwrap();
            }
        }
    };
    let (ended, ()) = tokio::join!(&mut long, kill);
    println!("{}", shown(&ended));
    assert!(shown(&ended).contains("may or may not have taken effect"), "{}", shown(&ended));
    let graph = call(&servers, "mcp__memory__read_graph", json!({}), &TestUser::default()).await;
    assert!(graph.is_ok(), "{graph:?}");
    let echo =
        call(&servers, "mcp__everything__echo", json!({ "message": "back" }), &TestUser::default()).await;
    assert!(shown(&echo).contains("back"), "{}", shown(&echo));
    until(&servers, |servers| servers.views().iter().all(|view| view.status == McpStatus::Connected)).await;
    servers.close().await;
}

/// The largest amount of memory that this process had, as the system says.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("unknown").to_owned()
}

#[tokio::test]
#[ignore = "needs documents from npm"]
async fn the_document_of_github_becomes_tools() {
    let file = dir().join("node_modules/@octokit/openapi/generated/api.github.com.json");
    let bytes = file.metadata().unwrap().len();
    let before = memory();
    let began = std::time::Instant::now();
    let read = rheon_connect::OpenApiAdapter::from_file(&file, Default::default(), Default::default())
        .await
        .unwrap();
    let parsed = began.elapsed();
    let names: std::collections::BTreeSet<&str> = read.tools.iter().map(|tool| tool.name()).collect();
    assert_eq!(names.len(), read.tools.len(), "names are unique");
    assert!(read.tools.len() > 1_000, "{}", read.tools.len());
    let began = std::time::Instant::now();
    let schema_bytes: usize = read.tools.iter().map(|tool| tool.parameters_schema().to_string().len()).sum();
    println!(
        "GitHub: {bytes} bytes read in {parsed:?}; {} tools with schemas of {schema_bytes} bytes in {:?}; {} left out; memory {before} -> {}",
        read.tools.len(),
        began.elapsed(),
        read.warnings.len(),
        memory()
    );
}
