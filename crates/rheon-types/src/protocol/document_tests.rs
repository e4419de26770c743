//! `docs/PROTOCOL.md`, made from the types: every command, query, reply, error and event with its own words and an example. An
//! item without an example, and a document that is not current, fail.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::*;
use crate::event::*;
use crate::*;

/// Examples by the names that their JSON has in `type`.
type Examples = BTreeMap<String, Value>;

fn examples<T: Serialize>(values: impl IntoIterator<Item = T>) -> Examples {
    let named = |value: T| {
        let value = serde_json::to_value(value).unwrap();
        (value["type"].as_str().unwrap().to_owned(), value)
    };
    values.into_iter().map(named).collect()
}

/// What the source says of each variant of an enum: its name as in JSON, and its first sentence.
fn variants(source: &str, name: &str) -> Vec<(String, String)> {
    let body = source.split_once(&format!("pub enum {name} {{\n")).unwrap().1;
    let body = body.split_once("\n}\n").unwrap().0;
    let (mut found, mut words, mut renamed) = (Vec::new(), Vec::new(), None);
    for line in body.lines() {
        if let Some(word) = line.strip_prefix("    /// ") {
            words.push(word);
        } else if let Some(rest) = line.strip_prefix("    #[serde(rename = \"") {
            renamed = rest.split('"').next().map(str::to_owned);
        } else if let Some(variant) =
            line.strip_prefix("    ").filter(|rest| rest.starts_with(char::is_uppercase))
        {
            let variant: String = variant.chars().take_while(|c| c.is_alphanumeric()).collect();
            let mut letters = variant.chars();
            let camel = letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect();
            found.push((renamed.take().unwrap_or(camel), std::mem::take(&mut words).join(" ")));
        }
    }
    found.retain(|(name, _)| name != "unknown");
    found
}

/// The same for the groups of events: their dotted names.
fn events(source: &str, group: &str) -> Vec<(String, String)> {
    let body = source.split_once(&format!("    {group} {{\n")).unwrap().1;
    let body = body.split_once("\n    }\n}").unwrap().0;
    let (mut found, mut words) = (Vec::new(), Vec::new());
    for line in body.lines() {
        if let Some(word) = line.strip_prefix("        /// ") {
            words.push(word);
        } else if let Some(rest) = line.strip_prefix("        \"") {
            let name = rest.split('"').next().unwrap().to_owned();
            found.push((name, std::mem::take(&mut words).join(" ")));
        }
    }
    found
}

fn section(out: &mut String, title: &str, items: &[(String, String)], examples: &Examples) {
    writeln!(out, "\n## {title}").unwrap();
    for (name, words) in items {
        let example = examples.get(name).unwrap_or_else(|| panic!("{title}: no example of {name}"));
        writeln!(out, "\n### `{name}`\n\n{words}\n\n```json\n{example}\n```").unwrap();
    }
    let known: Vec<&String> = items.iter().map(|(name, _)| name).collect();
    let surplus: Vec<&String> = examples.keys().filter(|name| !known.contains(name)).collect();
    assert!(surplus.is_empty(), "{title}: examples of nothing: {surplus:?}");
}

fn commands() -> Examples {
    let content = || vec![Content::text("Make the tests pass")];
    let rules = RulesChange {
        action: RuleAction::Add,
        list: RuleList::Allow,
        rules: vec!["Bash(cargo test *)".into()],
        scope: Scope::Session,
    };
    let response = PermissionResponse::from(PermissionDecision::Allow);
    examples([
        Command::Prompt { content: content() },
        Command::PromptWithSchema {
            content: content(),
            output_schema: OutputSchema {
                name: "plan".into(),
                schema: json!({ "type": "object", "properties": { "steps": { "type": "array" } } }),
            },
        },
        Command::Continue { kind: ContinuationKind::Default },
        Command::Steer { content: content(), child: Some("019a".into()) },
        Command::FollowUp { content: content(), child: None },
        Command::Cancel { child: None },
        Command::RespondPermission { request_id: "approval_1".into(), response },
        Command::AnswerCall {
            call_id: "call_1".into(),
            outcome: ClientCallOutcome::Output(Arc::new(json!({ "continue": true }))),
        },
        Command::SetModel { model: Some("anthropic/claude-sonnet-4-5".into()) },
        Command::SetThinking { thinking: Some(Thinking::Level(ThinkingLevel::High)) },
        Command::SetMode { mode: PermissionMode::AcceptEdits },
        Command::SetRules { change: rules },
        Command::SetTitle { title: "Parser".into() },
        Command::Compact { instructions: Some("keep the API".into()) },
        Command::Rewind { seq: 12, what: RewindScope::Both, mode: RewindMode::Apply },
        Command::Submit { text: "explain @src/main.rs".into() },
        Command::Slash { line: "/review src".into() },
        Command::ExtendBudget { tokens: None, cost: Some(MicroUsd(1_000_000)) },
        Command::Close { reason: CloseReason::Exit },
    ])
}

fn queries() -> Examples {
    examples([
        Query::Snapshot { messages_max: Some(50) },
        Query::Facts,
        Query::Context,
        Query::Cost,
        Query::Commands,
        Query::Rules,
        Query::Checkpoints,
        Query::McpServers,
    ])
}

fn facts() -> SessionInfo {
    SessionInfo {
        session_id: "0199".into(),
        opened_at: 0,
        working_directory: "/home/me/shop".into(),
        is_saved: true,
        model: SessionModel {
            name: "anthropic/claude-sonnet-4-5".into(),
            context_window: 200_000,
            output_tokens_max: 64_000,
            key_source: "ANTHROPIC_API_KEY".into(),
        },
        tools: vec!["read".into(), "bash".into()],
        ..SessionInfo::default()
    }
}

fn replies() -> Examples {
    let snapshot = Snapshot {
        cursor: Cursor { seq: 7, text_bytes: 11, thinking_bytes: 0 },
        facts: facts(),
        messages: Vec::new(),
        messages_total: 4,
        run: Some(ActiveRun {
            run_id: Some("0199.c.2".into()),
            text: "I'll run the".into(),
            ..ActiveRun::default()
        }),
        approvals: Vec::new(),
        tasks: Vec::new(),
        plan: Vec::new(),
        cost: CostReport { tokens: 1_200, cost: MicroUsd(4_100), ..CostReport::default() },
    };
    let section = ContextSection { name: "rules".into(), tokens: 812 };
    let report = ContextReport {
        sections: vec![section],
        tools: 2_300,
        messages: 940,
        window: 200_000,
        text: String::new(),
    };
    let rule = RuleSummary {
        list: RuleList::Allow,
        rule: "Bash(cargo test *)".into(),
        source: "this session".into(),
    };
    let command = SlashCommand {
        name: "review".into(),
        description: "Review a path".into(),
        argument_hint: String::new(),
    };
    let point =
        Checkpoint { seq: 12, text: "fix the parser".into(), has_files: true, ..Checkpoint::default() };
    let server = McpServerSummary {
        name: "github".into(),
        status: "connected".into(),
        program: "github-mcp-server 1.2.0".into(),
        protocol: "2025-11-25".into(),
        tools: vec!["mcp__github__search".into()],
        tokens: 320,
        ..McpServerSummary::default()
    };
    examples([
        Reply::Snapshot { snapshot: Box::new(snapshot) },
        Reply::Facts { facts: Box::new(facts()) },
        Reply::Context { report },
        Reply::Cost { report: CostReport { tokens: 1_200, cost: MicroUsd(4_100), ..CostReport::default() } },
        Reply::Commands { commands: vec![command] },
        Reply::Rules { rules: vec![rule] },
        Reply::Checkpoints { checkpoints: vec![point] },
        Reply::McpServers { servers: vec![server] },
    ])
}

fn host_queries() -> Examples {
    examples([
        HostQuery::Sessions { scope: SessionScope::Project, limit: 10 },
        HostQuery::Search { text: "parser".into(), scope: SessionScope::All, limit: 10 },
        HostQuery::Models { filter: Some("sonnet".into()) },
        HostQuery::Config,
    ])
}

fn host_commands() -> Examples {
    examples([
        HostCommand::Fork { session: "0199".into(), seq: Some(12) },
        HostCommand::Delete { session: "0199".into() },
    ])
}

fn host_replies() -> Examples {
    let line = protocol::SessionSummary {
        session_id: "0199".into(),
        title: "fix the parser".into(),
        first_prompt: "the parser fails on nested lists".into(),
        turns: Some(6),
        ..Default::default()
    };
    let hit = SearchHit { session_id: "0199".into(), seq: 9, excerpt: "the «parser» fails".into() };
    let model = ModelSummary { name: "openai/gpt-5".into(), context_window: 400_000, is_ready: true };
    let config = ConfigInfo {
        version: "0.1.0".into(),
        working_directory: "/home/me/shop".into(),
        is_saved: true,
        ..Default::default()
    };
    examples([
        HostReply::Sessions { sessions: vec![line] },
        HostReply::Hits { hits: vec![hit] },
        HostReply::Models { models: vec![model] },
        HostReply::Config { config },
        HostReply::Forked { session_id: "019a".into() },
        HostReply::Deleted { session_id: "0199".into() },
    ])
}

fn errors() -> Examples {
    let message = || "what happened, and what to do".to_owned();
    examples([
        ClientError::Busy { message: message() },
        ClientError::UnknownApproval { request_id: "approval_1".into() },
        ClientError::UnknownChild { session_id: "019a".into() },
        ClientError::NotAllowed { message: message() },
        ClientError::NotFound { message: message() },
        ClientError::Closed { message: message() },
        ClientError::Invalid { message: message() },
        ClientError::CutOff { seq: 41 },
        ClientError::Lost { seq: 41 },
        ClientError::Failed { message: message() },
    ])
}

#[test]
fn the_document_is_current() {
    let (command, query, host) =
        (include_str!("command.rs"), include_str!("query.rs"), include_str!("host.rs"));
    let mut out = include_str!("PROTOCOL_HEAD.md").to_owned();
    section(&mut out, "Commands to a session", &variants(command, "Command"), &commands());
    section(&mut out, "Queries to a session", &variants(query, "Query"), &queries());
    section(&mut out, "Replies of a session", &variants(query, "Reply"), &replies());
    section(&mut out, "Queries to a host", &variants(host, "HostQuery"), &host_queries());
    section(&mut out, "Commands to a host", &variants(host, "HostCommand"), &host_commands());
    section(&mut out, "Replies of a host", &variants(host, "HostReply"), &host_replies());
    section(&mut out, "Errors", &variants(include_str!("../error.rs"), "ClientError"), &errors());
    let groups = include_str!("../event/group.rs");
    let mut examples = super::document_events_tests::all();
    for name in [
        "Run", "Turn", "Model", "Message", "Tool", "Approval", "Plan", "Child", "Context", "Budget",
        "Session",
    ] {
        let items = events(groups, &format!("{name}Event"));
        let own = items.iter().filter_map(|(name, _)| examples.remove_entry(name)).collect();
        section(&mut out, &format!("Events: {}", name.to_lowercase()), &items, &own);
    }
    assert!(examples.is_empty(), "examples of nothing: {:?}", examples.keys());
    expect_test::expect_file!["../../../../docs/PROTOCOL.md"].assert_eq(&out);
}
