//! Scripted servers, and calls of their tools.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rheon_connect::{
    McpConnection, McpOptions, McpServerSpec, McpServers, McpStatus, McpTimeouts, StdioProgram,
};
use rheon_testkit::mcp_server_arguments;
use rheon_types::event::{PermissionResponse, Subject};
use rheon_types::{Answer, Content, Tool, ToolContext, ToolError, ToolReporter, ToolResult, ToolSource};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A scripted server that starts in this way.
pub(crate) fn spec(name: &str, start: &str, file: &str) -> McpServerSpec {
    let path = std::env::var("PATH").unwrap();
    let program = StdioProgram {
        command: "bash".into(),
        arguments: mcp_server_arguments(start, file),
        environment: BTreeMap::from([
            ("PATH".to_owned(), path.into()),
            ("DECLARED".to_owned(), "yes".to_owned().into()),
        ]),
        directory: None,
        log: None,
    };
    let spec = McpServerSpec::new(name, McpConnection::Stdio(program));
    // Machines may be slow.
    let startup = std::time::Duration::from_secs(3_600);
    McpServerSpec { timeouts: McpTimeouts { startup, ..spec.timeouts }, ..spec }
}

/// Servers whose definitions are all offered.
pub(crate) fn servers(specs: Vec<McpServerSpec>) -> (McpServers, Notices) {
    let notices = Notices::default();
    let told = notices.clone();
    let options = McpOptions {
        schema_tokens_max: 100_000,
        hides: Box::new(|name| name.ends_with("__last")),
        notices: Box::new(move |notice| told.0.lock().unwrap().push(notice.message)),
    };
    let servers = McpServers::start(specs, options);
    (servers, notices)
}

#[derive(Clone, Default)]
pub(crate) struct Notices(pub(crate) Arc<Mutex<Vec<String>>>);

/// One server, connected.
pub(crate) async fn connected(start: &str) -> McpServers {
    let (servers, _) = servers(vec![spec("s", start, "")]);
    servers.settled(&["s".into()]).await;
    assert_eq!(servers.views()[0].status, McpStatus::Connected, "{:?}", servers.views());
    servers
}

/// Waits until `servers` are as wanted.
pub(crate) async fn until(servers: &McpServers, is_wanted: impl Fn(&McpServers) -> bool) {
    while !is_wanted(servers) {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

pub(crate) fn tool(servers: &McpServers, name: &str) -> Arc<dyn Tool> {
    let set = servers.snapshot();
    let found = set.tools.iter().find(|tool| tool.name() == name);
    Arc::clone(found.unwrap_or_else(|| panic!("no {name} in {set:?}")))
}

/// Calls a tool.
pub(crate) async fn call(
    servers: &McpServers,
    name: &str,
    arguments: Value,
    user: &TestUser,
) -> Result<ToolResult, ToolError> {
    tool(servers, name).execute(Arc::new(arguments), user.context()).await
}

/// Calls a tool of the server `s` without arguments, as text.
pub(crate) async fn called(servers: &McpServers, name: &str) -> String {
    shown(&call(servers, &format!("mcp__s__{name}"), json!({}), &TestUser::default()).await)
}

pub(crate) fn shown(result: &Result<ToolResult, ToolError>) -> String {
    let block = |content: &Content| match content {
        Content::Text { text } => text.clone(),
        Content::Image { data, mime_type } => format!("<{mime_type} {data}>"),
        other => format!("{other:?}"),
    };
    match result {
        Ok(result) => result.content.iter().map(block).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("{}: {error}", error.kind()),
    }
}

/// What a call reports, and who answers its questions.
#[derive(Clone, Default)]
pub(crate) struct TestUser {
    pub(crate) heard: Arc<Mutex<Vec<String>>>,
    pub(crate) answers: Arc<Mutex<Vec<PermissionResponse>>>,
    pub(crate) cancel: CancellationToken,
}

impl TestUser {
    pub(crate) fn context(&self) -> ToolContext {
        ToolContext::new("call", "tool")
            .in_run("session", "run")
            .with_cancel(self.cancel.clone())
            .with_reporter(Arc::new(self.clone()))
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl ToolReporter for TestUser {
    fn update(&self, _partial: ToolResult) {}

    fn progress(&self, text: &str) {
        self.heard.lock().unwrap().push(text.to_owned());
    }

    fn ask<'a>(&'a self, subject: Subject, reason: String) -> Answer<'a, Option<PermissionResponse>> {
        let Subject::Questions { questions } = subject else { panic!("{subject:?}") };
        let asked = questions.iter().map(|question| {
            let choices: Vec<&str> = question.choices.iter().map(|choice| choice.label.as_str()).collect();
            format!("{} {choices:?}", question.text)
        });
        self.heard.lock().unwrap().push(reason);
        self.heard.lock().unwrap().extend(asked);
        let mut answers = self.answers.lock().unwrap();
        Answer::Now(if answers.is_empty() { None } else { Some(answers.remove(0)) })
    }
}
