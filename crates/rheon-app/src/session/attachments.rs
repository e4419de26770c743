//! Attaches the files that a prompt mentions, as the tools of the session read them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_tools::file_tools;
use rheon_types::{Content, Gate as _, GateRequest, ToolCall, ToolContext, Verdict};
use serde_json::{Value, json};

use super::open::OpenSession;
use super::typed_text::{MENTIONS_MAX, Mention, mentions};

/// A prompt with its files.
#[derive(Debug, Default)]
pub(super) struct AttachedPrompt {
    pub(super) content: Vec<Content>,
    /// What could not be attached, for the user.
    pub(super) notes: Vec<String>,
}

/// The prompt with the files that it mentions.
pub(super) async fn attach(session: &OpenSession, text: String) -> AttachedPrompt {
    let base = session.working_dir().to_owned();
    let home = session.home();
    let place = move |path: &str| place_of(path, &base, home.as_deref());
    let (typed, located) = (text.clone(), place.clone());
    // Looking at files may block.
    let found = tokio::task::spawn_blocking(move || mentions(&typed, |path| located(path).exists())).await;
    let found = found.unwrap_or_default();
    let resources: Vec<(&str, &str)> = resources(session, &text);
    let is_resource =
        |path: &&String| resources.iter().any(|(server, uri)| **path == format!("{server}:{uri}"));
    let missing = found
        .missing
        .iter()
        .filter(|path| !is_resource(path))
        .map(|path| format!("no such file: {path}; it was sent as text"));
    let content = vec![Content::text(text.as_str())];
    let mut prompt = AttachedPrompt { content, notes: missing.collect() };
    for (server, uri) in &resources {
        match resource(session, server, uri).await {
            Ok(content) => prompt.content.extend(content),
            Err(problem) => prompt.notes.push(format!("{server}:{uri} was not attached: {problem}")),
        }
    }
    for mention in found.found {
        let path = place(&mention.path);
        match read(session, &mention, &path).await {
            Ok(content) => prompt.content.extend(content),
            Err(problem) => prompt.notes.push(format!("{} was not attached: {problem}", mention.path)),
        }
    }
    prompt
}

/// The resources of MCP servers that a prompt mentions as `@server:uri`.
fn resources<'a>(session: &OpenSession, text: &'a str) -> Vec<(&'a str, &'a str)> {
    let Some(servers) = &session.setup.servers else { return Vec::new() };
    let mentioned = text.split_whitespace().filter_map(|word| word.strip_prefix('@'));
    mentioned.filter_map(|mention| servers.resource_of(mention)).take(MENTIONS_MAX).collect()
}

async fn resource(session: &OpenSession, server: &str, uri: &str) -> Result<Vec<Content>, String> {
    let Some(servers) = &session.setup.servers else { return Err("there are no servers".to_owned()) };
    let content = servers.resource(server, uri).await?;
    let framed = content.into_iter().map(|content| match content {
        Content::Text { text } => Content::text(format!(
            "<attached server={server:?} uri={uri:?}>\n{}\n</attached>",
            text.trim_end()
        )),
        other => other,
    });
    Ok(framed.collect())
}

fn place_of(path: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    match (path.strip_prefix("~/"), home) {
        (Some(beneath), Some(home)) => home.join(beneath),
        _ => base.join(path),
    }
}

/// Reads a file or lists a directory, if the rules allow it. What they ask about is allowed where a person typed it.
async fn read(session: &OpenSession, mention: &Mention, path: &Path) -> Result<Vec<Content>, String> {
    let wanted = if path.is_dir() { "list" } else { "read" };
    let mut arguments = json!({ "path": path.to_str().ok_or("its path is not UTF-8")? });
    if let (Some((first, last)), Value::Object(fields)) = (mention.lines, &mut arguments) {
        fields.insert("offset".into(), first.into());
        fields.insert("limit".into(), (last - first + 1).into());
    }
    let tools = file_tools(session.toolkit.file_context());
    let tool = tools.into_iter().find(|tool| tool.name() == wanted).ok_or("there is no tool to read it")?;
    let call = ToolCall {
        id: "attached".into(),
        name: wanted.into(),
        arguments: Arc::new(arguments),
        malformed: None,
        key_order: None,
    };
    let gate = session.toolkit.gate();
    let request = GateRequest { call: &call, tool: &*tool, effect: tool.effect() };
    match gate.check(request).get().await.verdict {
        Verdict::Allow => {}
        Verdict::Ask { .. } if session.agent.has_approver() => {}
        Verdict::Ask { reason, .. } | Verdict::Deny { reason } => return Err(reason),
        Verdict::Queue { change } => return Err(change.summary),
    }
    let context = ToolContext::new(call.id.clone(), call.name.clone())
        .in_run(session.hub.session_id().clone(), "attached");
    let result = tool.execute(call.arguments, context).await.map_err(|error| error.to_string())?;
    let lines = mention.lines.map_or_else(String::new, |(first, last)| format!(" lines=\"{first}-{last}\""));
    let path = &mention.path;
    let framed = result.content.into_iter().map(|content| match content {
        Content::Text { text } => {
            Content::text(format!("<attached path={path:?}{lines}>\n{}\n</attached>", text.trim_end()))
        }
        other => other,
    });
    Ok(framed.collect())
}
