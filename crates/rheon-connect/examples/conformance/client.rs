//! The client: connects, logs in where that is wanted, and uses everything that the server has.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use rheon_connect::{
    HttpEndpoint, LoginAttempt, LoginRequest, McpClient, McpConnection, McpError, McpProtocol, McpServerSpec,
    McpTimeouts, McpTool, MemoryLogin,
};
use rheon_types::event::{PermissionDecision, PermissionResponse, Subject};
use rheon_types::{Answer, ToolContext, ToolReporter, ToolResult};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Outcome;

/// Where the suite's authorization servers send the user back to.
const REDIRECT: &str = "http://localhost:3000/callback";

/// The document that describes the client, for scenarios that want one.
const METADATA_URL: &str = "https://conformance-test.local/client-metadata.json";

/// How often the user logs in for one connection.
const LOGINS_MAX: usize = 3;

/// What a scenario tells the client.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Context {
    tool_calls: Vec<ToolCall>,
    #[serde(rename = "client_id")]
    client_id: Option<String>,
    #[serde(rename = "client_secret")]
    client_secret: Option<String>,
}

#[derive(Deserialize)]
struct ToolCall {
    name: String,
    #[serde(default)]
    arguments: Value,
}

/// Plays one scenario.
pub(crate) async fn play(address: &str) -> Outcome {
    let text = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Context = serde_json::from_str(&text).unwrap_or_default();
    let version = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION").unwrap_or_default();
    let endpoint = HttpEndpoint {
        url: address.to_owned(),
        headers: BTreeMap::new(),
        login: Some(Arc::new(MemoryLogin::default())),
    };
    let mut spec = McpServerSpec::new("conformance", McpConnection::Http(endpoint.clone()));
    if version != "2026-07-28" {
        spec.protocol = McpProtocol::Initialize;
    }
    spec.timeouts = McpTimeouts { call: Duration::from_secs(20), ..spec.timeouts };
    let (mut scopes, mut seen) = (Vec::new(), None);
    for _ in 0..=LOGINS_MAX {
        match visit(&spec, &context).await {
            Err(McpError::AuthorizationRequired { challenge }) => seen = Some(challenge),
            Err(McpError::ScopeRequired { scope }) => {
                scopes.extend(scope.split_whitespace().map(str::to_owned));
            }
            Err(error) => return Err(error.into()),
            Ok(()) => return Ok(()),
        }
        log_in(
            &endpoint,
            &context,
            LoginRequest { scopes: scopes.clone(), challenge: seen.clone(), ..LoginRequest::default() },
        )
        .await?;
    }
    Err("the server wants ever more logins".into())
}

/// Uses everything that the server has.
async fn visit(spec: &McpServerSpec, context: &Context) -> Result<(), McpError> {
    let client = McpClient::connect(spec).await?;
    let tools = client.tools().await?;
    let user = ToolContext::new("call", "tool").in_run("session", "run").with_reporter(Arc::new(Compliant));
    let calls: Vec<(String, Value)> = if context.tool_calls.is_empty() {
        tools.iter().map(|tool| (tool.remote_name.clone(), arguments(tool))).collect()
    } else {
        context.tool_calls.iter().map(|call| (call.name.clone(), call.arguments.clone())).collect()
    };
    for (name, arguments) in calls {
        match client.call_tool(&name, &arguments, Some(&user)).await {
            Ok(content) => println!("{name}: {content:?}"),
            Err(error @ (McpError::AuthorizationRequired { .. } | McpError::ScopeRequired { .. })) => {
                return Err(error);
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
    for resource in client.resources().await? {
        println!("{}: {:?}", resource.uri, client.read_resource(&resource.uri).await.map_err(text));
    }
    for prompt in client.prompts().await? {
        println!(
            "{}: {:?}",
            prompt.command,
            client.get_prompt(&prompt.remote_name, BTreeMap::new()).await.map_err(text)
        );
    }
    client.close().await;
    Ok(())
}

fn text(error: McpError) -> String {
    error.to_string()
}

/// Arguments that fit the schema of a tool.
fn arguments(tool: &McpTool) -> Value {
    let properties = tool.schema.get("properties").and_then(Value::as_object);
    let required = tool.schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.into_iter().flatten().any(|required| required.as_str() == Some(name));
    let mut arguments = Map::new();
    for (name, property) in properties.into_iter().flatten().filter(|(name, _)| is_required(name)) {
        let value = match property.get("type").and_then(Value::as_str) {
            Some("number" | "integer") => json!(1),
            Some("boolean") => json!(true),
            Some("object") => json!({}),
            Some("array") => json!([]),
            _ => json!("text"),
        };
        arguments.insert(name.clone(), value);
    }
    Value::Object(arguments)
}

/// Logs in as a user with a browser would: the suite's authorization servers agree at once.
async fn log_in(endpoint: &HttpEndpoint, context: &Context, request: LoginRequest) -> Outcome {
    let request = LoginRequest {
        redirect: REDIRECT.to_owned(),
        client_id: context.client_id.clone(),
        client_secret: context.client_secret.clone().map(Into::into),
        client_metadata_url: Some(METADATA_URL.to_owned()),
        ..request
    };
    let attempt = LoginAttempt::start(endpoint, request).await?;
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let page = browser.get(attempt.address()).send().await?;
    let location = page.headers().get("location").ok_or("the authorization server does not redirect")?;
    let location = location.to_str()?.to_owned();
    attempt.finish(&location).await?;
    Ok(())
}

/// A user who confirms every form as it is.
struct Compliant;

impl ToolReporter for Compliant {
    fn update(&self, _partial: ToolResult) {}

    fn progress(&self, text: &str) {
        println!("progress: {text}");
    }

    fn ask<'a>(&'a self, subject: Subject, reason: String) -> Answer<'a, Option<PermissionResponse>> {
        println!("asked: {reason}: {subject:?}");
        let Subject::Questions { questions } = subject else { return Answer::Now(None) };
        // Fields with a default are left alone.
        let answer = |question: &rheon_types::event::UserQuestion| match question.choices.first() {
            _ if question.text.contains("(default: ") => Vec::new(),
            Some(choice) => vec![choice.label.clone()],
            None => vec!["text".to_owned()],
        };
        let answers = questions.iter().map(answer).collect();
        Answer::Now(Some(PermissionResponse { answers, ..PermissionDecision::Allow.into() }))
    }
}
