//! Slash commands of a session: those of the session itself, of the project, of the user, and skills.

mod diff;
mod export;
mod mcp;
mod memory;
mod outcome;
mod permissions;
mod rewind;
mod sandbox;
mod settings;

use std::sync::Arc;

use rheon_text::did_you_mean;
use rheon_text::units::{count, money};
use rheon_tools::builtin::skill_text;
use rheon_tools::commands::PromptPart;
use rheon_types::event::{Notice, NoticeTopic, RuleAction, RuleList};
use rheon_types::protocol::{Ack, Command, CostReport};
use rheon_types::{ClientError, Content, SessionEvent};

use super::attachments::{AttachedPrompt, attach};
use super::command_list::commands;
use super::open::OpenSession;
use super::queries;
use crate::memory::GoalAnswer;

pub(super) use outcome::Slash;

/// Reads a typed slash command, and carries it out where no run is needed for that.
pub(super) async fn read(session: &OpenSession, seq: u64, line: &str) -> Result<Slash, ClientError> {
    let typed = line.trim();
    let (name, arguments) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let arguments = arguments.trim();
    let shown = match name.strip_prefix('/').unwrap_or(name) {
        "compact" => {
            let instructions = Some(arguments.to_owned()).filter(|instructions| !instructions.is_empty());
            return Ok(Slash::Command(Command::Compact { instructions }));
        }
        "goal" => return goal(session, seq, arguments).await.map(Slash::Done),
        "permissions" => return permissions::answer(session, arguments),
        "sandbox" => return sandbox::sandbox(session, arguments),
        "network" => return sandbox::network(session, arguments),
        "publish" => return sandbox::publish(session, arguments),
        "rewind" => return rewind::rewind(session, arguments).await,
        "undo" => return rewind::undo(session, arguments).await,
        "rename" if arguments.is_empty() => {
            return Err(ClientError::invalid("use /rename TITLE, as in /rename Nested lists"));
        }
        "rename" => return Ok(Slash::Command(Command::SetTitle { title: arguments.to_owned() })),
        "init" => return Ok(Slash::Prompt(init(arguments))),
        "config" => settings::config(session, arguments)?,
        "context" => queries::context(session).await.text,
        "cost" => cost(&queries::cost(session)),
        "mcp" => mcp::show(session, arguments)?,
        "memory" => memory::show(session, arguments).await?,
        "diff" => diff::show(session, arguments).await?,
        "export" => export::export(session, arguments).await?,
        _ => return expand(session, typed).await,
    };
    Ok(Slash::Done(Ack { seq, notes: vec![shown], ..Ack::default() }))
}

/// Expands a command of the project or the user, or a skill. Commands for the shell that a text mentions are mentioned in the
/// prompt, for the model to run them through the gate.
async fn expand(session: &OpenSession, typed: &str) -> Result<Slash, ClientError> {
    let part = |part: &PromptPart| match part {
        PromptPart::Text(text) => text.clone(),
        PromptPart::File(path) => format!("@{}", path.display()),
        PromptPart::Command(command) => format!("(run this command and use its output: `{command}`)"),
    };
    if let Some(expanded) = session.extensions.get().expand(typed) {
        let expanded = expanded.map_err(|error| ClientError::invalid(error.to_string()))?;
        return Ok(Slash::Prompt(attach(session, expanded.prompt(part)).await));
    }
    let (name, arguments) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    if let Some(servers) = &session.setup.servers
        && let Some(prompt) = servers.prompt(name.trim_start_matches('/'), arguments.trim()).await
    {
        let content = prompt.map_err(ClientError::invalid)?;
        return Ok(Slash::Prompt(AttachedPrompt { content, notes: Vec::new() }));
    }
    let Some(skill) = session.loaded.skills.get(name.trim_start_matches('/')) else {
        return Err(unknown(session, name));
    };
    let (skill, arguments) = (skill.clone(), arguments.trim().to_owned());
    let text = tokio::task::spawn_blocking(move || skill_text(&skill, &arguments)).await;
    let text = text.map_err(ClientError::failed)?.map_err(|error| ClientError::invalid(error.to_string()))?;
    let mut prompt = attach(session, typed.to_owned()).await;
    prompt.content.push(Content::Text { text });
    Ok(Slash::Prompt(prompt))
}

/// What is said once a command is carried out.
pub(super) fn note_of(command: &Command) -> Option<String> {
    let change = match command {
        Command::SetRules { change } => change,
        Command::SetTitle { title } => return Some(format!("this session is now called {title:?}")),
        _ => return None,
    };
    let list = match change.list {
        RuleList::Allow => "allow",
        RuleList::Ask => "ask",
        RuleList::Deny => "deny",
    };
    let rules = change.rules.join(", ");
    Some(match change.action {
        RuleAction::Add | RuleAction::Replace => format!("{list} {rules} in this session"),
        RuleAction::Remove => format!("no longer {list} {rules} in this session"),
    })
}

fn cost(report: &CostReport) -> String {
    let unknown = if report.has_unknown { " (some calls have no known price)" } else { "" };
    format!("{} in {}{unknown}", money(report.cost.0), count(report.tokens, "token"))
}

fn init(arguments: &str) -> AttachedPrompt {
    let mut text = include_str!("init.md").trim_end().to_owned();
    if !arguments.is_empty() {
        text.push_str(&format!("\n\nThe user adds: {arguments}"));
    }
    AttachedPrompt { content: vec![Content::Text { text }], notes: Vec::new() }
}

fn unknown(session: &OpenSession, name: &str) -> ClientError {
    let commands = commands(session);
    let known: Vec<&str> = commands.iter().map(|command| command.name.as_str()).collect();
    let did_you_mean = did_you_mean(name.trim_start_matches('/'), &known);
    ClientError::NotFound { message: format!("unknown command {name}; {did_you_mean}") }
}

/// Shows, sets or closes the goal. A change is a notice, so that all clients of the session see it.
async fn goal(session: &OpenSession, seq: u64, arguments: &str) -> Result<Ack, ClientError> {
    match session.loaded.goal.command(arguments).await? {
        GoalAnswer::Shown(text) => Ok(Ack { seq, notes: vec![text], ..Ack::default() }),
        GoalAnswer::Changed(text) => {
            let notice = Arc::new(Notice::info(NoticeTopic::Context, text));
            session.agent.record_fact(SessionEvent::Notice { notice });
            Ok(Ack { seq, ..Ack::default() })
        }
    }
}
