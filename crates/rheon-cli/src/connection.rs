//! `Connection`: a client of one session, with typed queries.

use std::sync::Arc;

use rheon_app::session::OpenError;
use rheon_types::event::{Meter, NoticeLevel};
use rheon_types::protocol::{
    Ack, CloseReason, ConfigInfo, HostQuery, HostReply, McpServerSummary, OpenRequest, Query, Reply,
    SessionInfo, SessionScope, SessionSummary, SlashCommand, Snapshot,
};
use rheon_types::{
    AgentEvent, Client, ClientError, Command, Event, EventStream, Host, SessionEvent, Subscription,
};

use crate::failure::Failure;
use crate::output::print_note;

/// An open session.
#[derive(Clone)]
pub(crate) struct Connection {
    client: Arc<dyn Client>,
}

impl Connection {
    pub(crate) async fn open(host: &dyn Host, request: OpenRequest) -> Result<Self, Failure> {
        Ok(Self { client: host.open(request).await.map_err(failure)? })
    }

    pub(crate) async fn send(&self, command: Command) -> Result<Ack, ClientError> {
        self.client.send(command).await
    }

    pub(crate) fn events(&self, subscription: Subscription) -> EventStream {
        self.client.events(subscription)
    }

    pub(crate) async fn facts(&self) -> Result<SessionInfo, ClientError> {
        match self.client.query(Query::Facts).await? {
            Reply::Facts { facts } => Ok(*facts),
            _ => Err(unexpected()),
        }
    }

    /// The money that the session may spend, with what it has spent so far; `None` without a limit.
    pub(crate) async fn budget(&self) -> Result<Option<Meter>, ClientError> {
        match self.client.query(Query::Cost).await? {
            Reply::Cost { report } => {
                Ok(report.ledger.map(|ledger| ledger.micro_usd).filter(|meter| meter.cap.is_some()))
            }
            _ => Err(unexpected()),
        }
    }

    /// The state of the session with its newest messages.
    pub(crate) async fn snapshot(&self, messages_max: u32) -> Result<Snapshot, ClientError> {
        match self.client.query(Query::Snapshot { messages_max: Some(messages_max) }).await? {
            Reply::Snapshot { snapshot } => Ok(*snapshot),
            _ => Err(unexpected()),
        }
    }

    pub(crate) async fn commands(&self) -> Result<Vec<SlashCommand>, ClientError> {
        match self.client.query(Query::Commands).await? {
            Reply::Commands { commands } => Ok(commands),
            _ => Err(unexpected()),
        }
    }

    /// The event numbers of the user's prompts.
    pub(crate) async fn prompts(&self) -> Result<Vec<u64>, ClientError> {
        match self.client.query(Query::Checkpoints).await? {
            Reply::Checkpoints { checkpoints } => Ok(checkpoints.iter().map(|one| one.seq).collect()),
            _ => Err(unexpected()),
        }
    }

    pub(crate) async fn mcp_servers(&self) -> Result<Vec<McpServerSummary>, ClientError> {
        match self.client.query(Query::McpServers).await? {
            Reply::McpServers { servers } => Ok(servers),
            _ => Err(unexpected()),
        }
    }

    pub(crate) async fn close(&self, reason: CloseReason) -> Result<(), Failure> {
        match self.client.send(Command::Close { reason }).await {
            Ok(_) | Err(ClientError::Closed { .. }) => Ok(()),
            Err(error) => Err(Failure::error(error)),
        }
    }
}

/// The sessions of the working directory, newest first.
pub(crate) async fn sessions(host: &dyn Host, limit: u32) -> Result<Vec<SessionSummary>, ClientError> {
    match host.query(HostQuery::Sessions { scope: SessionScope::Project, limit }).await? {
        HostReply::Sessions { sessions } => Ok(sessions),
        _ => Err(unexpected()),
    }
}

pub(crate) async fn config(host: &dyn Host) -> Result<ConfigInfo, Failure> {
    match host.query(HostQuery::Config).await.map_err(failure)? {
        HostReply::Config { config } => Ok(config),
        _ => Err(failure(unexpected())),
    }
}

/// Prints the event to standard error if it is a notice.
pub(crate) fn print_notice(event: &Event) {
    if let AgentEvent::Session(SessionEvent::Notice { notice }) = &event.kind {
        let word = match notice.level {
            NoticeLevel::Info | NoticeLevel::Warning => "note",
            NoticeLevel::Error => "error",
        };
        print_note(&format!("{word}: {}", notice.message));
    }
}

/// Invalid input is a usage error; everything else is a failure.
pub(crate) fn failure(error: ClientError) -> Failure {
    match error {
        ClientError::Invalid { .. } => Failure::usage(error),
        _ => Failure::error(error),
    }
}

pub(crate) fn open_failure(error: OpenError) -> Failure {
    failure(error.into())
}

fn unexpected() -> ClientError {
    ClientError::failed("the session sent an unexpected reply")
}
