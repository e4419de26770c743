//! Queries: what a session answers about itself. They read, and never wait for a run.

use std::sync::Arc;

use rheon_agent::{BudgetPool, TokenCounter};
use rheon_types::protocol::{
    Checkpoint, ContextReport, ContextSection, CostReport, McpServerSummary, Query, Reply, RuleSummary,
    SessionInfo, SessionModel, Snapshot,
};
use rheon_types::{ClientError, Tool};

use super::command_list::commands;
use super::hub::View;
use super::open::OpenSession;
use super::tool_tokens::tool_tokens;

/// Answers a query.
pub(super) async fn answer(session: &OpenSession, query: Query) -> Result<Reply, ClientError> {
    match query {
        Query::Snapshot { messages_max } => {
            let snapshot = Box::new(snapshot(session, messages_max).await);
            Ok(Reply::Snapshot { snapshot })
        }
        Query::Facts => Ok(Reply::Facts { facts: Box::new(facts(session).await) }),
        Query::Context => Ok(Reply::Context { report: context(session).await }),
        Query::Cost => Ok(Reply::Cost { report: cost(session) }),
        Query::Commands => Ok(Reply::Commands { commands: commands(session) }),
        Query::Rules => Ok(Reply::Rules { rules: rules(session) }),
        Query::McpServers => Ok(Reply::McpServers { servers: mcp_servers(session) }),
        Query::Checkpoints => Ok(Reply::Checkpoints { checkpoints: checkpoints(session).await? }),
        _ => Err(ClientError::invalid("this version does not know the query")),
    }
}

async fn snapshot(session: &OpenSession, messages_max: Option<u32>) -> Snapshot {
    let facts = facts(session).await;
    let View { cursor, folded, run, spent } = session.hub.view();
    let mut messages = folded.messages();
    let messages_total = messages.len() as u64;
    if let Some(most) = messages_max.and_then(|most| usize::try_from(most).ok()) {
        messages = messages.split_off(messages.len().saturating_sub(most));
    }
    Snapshot {
        cursor,
        facts,
        messages,
        messages_total,
        run,
        approvals: folded.pending_approvals(),
        tasks: folded.tasks.clone(),
        plan: folded.plan.clone(),
        cost: CostReport { ledger: session.budget.as_ref().map(BudgetPool::ledger), ..spent },
    }
}

pub(super) fn cost(session: &OpenSession) -> CostReport {
    CostReport { ledger: session.budget.as_ref().map(BudgetPool::ledger), ..session.hub.spent() }
}

/// What the session is.
pub(super) async fn facts(session: &OpenSession) -> SessionInfo {
    let answering = session.answering.lock().await;
    let info = &answering.current.model.info;
    let served = served_tools(session);
    SessionInfo {
        session_id: session.hub.session_id().clone(),
        opened_at: session.handle.state().seq,
        working_directory: session.working_dir().to_owned(),
        title: session.hub.title(),
        is_saved: session.handle.is_saved(),
        model: SessionModel {
            name: answering.current.choice.name.clone(),
            context_window: info.context_tokens,
            output_tokens_max: info.output_tokens_max.into(),
            key_source: answering.key_source(),
        },
        thinking: session.agent.thinking(),
        mode: session.toolkit.gate().mode(),
        tools: session.toolkit.tools().iter().chain(&served).map(|tool| tool.name().to_owned()).collect(),
        skills: session.loaded.skills.for_model().map(|skill| skill.name.clone()).collect(),
    }
}

/// What takes how much of the model's window.
pub(super) async fn context(session: &OpenSession) -> ContextReport {
    let answering = session.answering.lock().await;
    let counter = TokenCounter::for_model(&answering.current.model.model);
    let tools = tool_tokens(counter, &session.toolkit.tools()) + tool_tokens(counter, &served_tools(session));
    let messages = session.agent.messages();
    let messages =
        messages.iter().filter_map(|message| message.as_llm()).map(|message| counter.message(message));
    let window = answering.current.model.info.context_tokens;
    let report = session.loaded.assembled.report(tools, messages.sum(), window);
    let sections = report.sections.iter();
    ContextReport {
        sections: sections
            .map(|section| ContextSection { name: section.name.to_string(), tokens: section.tokens })
            .collect(),
        tools: report.tools,
        messages: report.messages,
        window: report.window,
        text: report.to_string() + &mcp_lines(session),
    }
}

/// What each MCP server costs.
fn mcp_lines(session: &OpenSession) -> String {
    mcp_servers(session).iter().map(|server| format!("MCP {}\n", super::mcp_text::mcp_line(server))).collect()
}

/// The tools of MCP servers that are offered now.
fn served_tools(session: &OpenSession) -> Vec<Arc<dyn Tool>> {
    session.setup.servers.as_ref().map(|servers| servers.tools()).unwrap_or_default()
}

pub(super) fn mcp_servers(session: &OpenSession) -> Vec<McpServerSummary> {
    session.setup.servers.as_ref().map(|servers| servers.summaries()).unwrap_or_default()
}

fn rules(session: &OpenSession) -> Vec<RuleSummary> {
    let line = |rule: rheon_policy::ActiveRule| RuleSummary {
        list: rule.list,
        rule: rule.rule,
        source: rule.source,
    };
    session.toolkit.gate().rules().into_iter().map(line).collect()
}

pub(super) async fn checkpoints(session: &OpenSession) -> Result<Vec<Checkpoint>, ClientError> {
    if session.agent.messages().is_empty() {
        // Before the first prompt there may be no log.
        return Ok(Vec::new());
    }
    let points = session.manager.points_of(&session.handle).await.map_err(ClientError::failed)?;
    let checkpoint = |point: crate::sessions::RewindPoint| Checkpoint {
        seq: point.seq,
        at: point.at,
        text: point.text,
        has_files: point.files != crate::sessions::PointFiles::Pruned,
    };
    Ok(points.into_iter().map(checkpoint).collect())
}
