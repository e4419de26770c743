//! The server: the tools, resources and prompts that the suite's scenarios call, behind our server layer.

use std::sync::Arc;

use rheon_connect::{HttpService, McpCaller, McpRefusal, McpRequest, McpService, McpServiceInfo, serve_http};
use rheon_types::BoxFuture;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Outcome;
use crate::fixture::{PIXEL, prompts, tools};
use crate::input;

/// Serves until the process is ended, and writes the address to `file`.
pub(crate) async fn serve(file: &str) -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    std::fs::write(file, format!("http://{}/mcp", listener.local_addr()?))?;
    let http = HttpService { listener, token: None, stop: CancellationToken::new() };
    Ok(serve_http(Arc::new(Fixture), http).await?)
}

struct Fixture;

impl McpService for Fixture {
    fn about(&self) -> McpServiceInfo {
        McpServiceInfo {
            name: "rheon-conformance".into(),
            version: "1".into(),
            instructions: None,
            capabilities: json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {} }),
        }
    }

    fn answer(
        self: Arc<Self>,
        request: McpRequest,
        caller: McpCaller,
    ) -> BoxFuture<'static, Result<Value, McpRefusal>> {
        Box::pin(async move { answer(request, &caller).await })
    }
}

async fn answer(request: McpRequest, caller: &McpCaller) -> Result<Value, McpRefusal> {
    let McpRequest { method, params } = request;
    let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    match method.as_str() {
        "tools/list" => Ok(json!({ "tools": tools() })),
        "tools/call" => {
            crate::fixture::call(&text("name"), params.get("arguments").unwrap_or(&Value::Null), caller).await
        }
        "prompts/list" => Ok(json!({ "prompts": prompts() })),
        "prompts/get" => prompt(&text("name"), params.get("arguments").unwrap_or(&Value::Null), caller).await,
        "resources/list" => Ok(json!({ "resources": [
            { "uri": "test://static-text", "name": "Static text", "description": "Text", "mimeType": "text/plain" },
            { "uri": "test://static-binary", "name": "Static image", "description": "A pixel", "mimeType": "image/png" },
        ] })),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [
            { "uriTemplate": "test://template/{id}/data", "name": "Template", "description": "Data of an id", "mimeType": "application/json" },
        ] })),
        "resources/read" => resource(&text("uri")),
        "resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" => Ok(json!({})),
        "completion/complete" => Ok(
            json!({ "completion": { "values": ["paris", "park", "party"], "total": 3, "hasMore": false } }),
        ),
        _ => Err(McpRefusal::unknown_method()),
    }
}

fn resource(uri: &str) -> Result<Value, McpRefusal> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, id) {
        ("test://static-text", _) => {
            json!({ "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource." })
        }
        ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": PIXEL }),
        (_, Some(id)) => {
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })
        }
        _ => {
            let refusal = McpRefusal::new(-32_002, "Resource not found");
            return Err(McpRefusal { data: Some(json!({ "uri": uri })), ..refusal });
        }
    };
    Ok(json!({ "contents": [content] }))
}

async fn prompt(name: &str, arguments: &Value, caller: &McpCaller) -> Result<Value, McpRefusal> {
    let argument = |key: &str| arguments.get(key).and_then(Value::as_str).unwrap_or_default();
    let user = |content: Value| json!({ "role": "user", "content": content });
    let text = |text: &str| user(json!({ "type": "text", "text": text }));
    let messages = match name {
        "test_simple_prompt" => json!([text("This is a simple prompt for testing.")]),
        "test_prompt_with_arguments" => {
            let (one, two) = (argument("arg1"), argument("arg2"));
            json!([text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))])
        }
        "test_prompt_with_embedded_resource" => {
            let resource = json!({
                "uri": argument("resourceUri"), "mimeType": "text/plain", "text": "Embedded resource content for testing.",
            });
            json!([
                user(json!({ "type": "resource", "resource": resource })),
                text("Please process the embedded resource above."),
            ])
        }
        "test_prompt_with_image" => json!([
            user(json!({ "type": "image", "data": PIXEL, "mimeType": "image/png" })),
            text("Please analyze the image above."),
        ]),
        "test_input_required_result_prompt" => {
            let given = input::context(caller).await?;
            json!([text(&format!("Use this context: {given}"))])
        }
        _ => return Err(McpRefusal::invalid(format!("there is no prompt {name:?}"))),
    };
    Ok(json!({ "messages": messages }))
}
