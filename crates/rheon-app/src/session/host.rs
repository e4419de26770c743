//! `LocalHost`: the sessions of this machine, as this process opens them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rheon_types::protocol::{
    ConfigInfo, HostCommand, HostQuery, HostReply, ModelSummary, OpenRequest, SearchHit, SessionChoice,
    SessionOrigin, SessionScope, SessionSummary,
};
use rheon_types::{BoxFuture, Client, ClientError, Host, SessionId};

use super::client::LocalClient;
use super::error::OpenError;
use super::hooks::registered;
use super::hub::SessionLoad;
use super::notices::Notices;
use super::open::{HostExtensions, OpenSession, Opening, SessionOverrides, manager};
use super::services::registry;
use crate::config::Config;
use crate::models::list_models;
use crate::observe::Observability;
use crate::sessions::{ListScope, Persistence, SessionCreator, SessionError, SessionManager};
use crate::system::{NoticeSink, SystemContext};

/// The sessions of this process. A session that is already open is joined.
pub struct LocalHost {
    parts: HostParts,
    open: Mutex<HashMap<SessionId, Weak<OpenSession>>>,
}

/// What a host is made of: all its sessions share it.
#[derive(Clone)]
pub struct HostParts {
    /// The machine, the user and the time.
    pub system: SystemContext,
    pub config: Config,
    /// What the caller adds to all sessions.
    pub extras: HostExtensions,
    pub trace: Option<PathBuf>,
    pub version: String,
}

impl LocalHost {
    /// A host of these parts.
    pub fn new(parts: HostParts) -> Self {
        Self { parts, open: Mutex::default() }
    }

    /// The same as any interface sees it.
    pub fn shared(parts: HostParts) -> Arc<dyn Host> {
        Arc::new(Self::new(parts))
    }

    /// What the subscribers of an open session cost now; nothing where it is not open here.
    pub fn load(&self, session_id: &SessionId) -> Option<SessionLoad> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Some(open.get(session_id)?.upgrade()?.hub.load())
    }

    async fn open_session(&self, request: OpenRequest) -> Result<Arc<dyn Client>, ClientError> {
        if let SessionChoice::Named { id } = &request.session
            && let Some(client) = self.joined(&SessionId::from(id.as_str()))
        {
            if request.resume_at.is_some() {
                return Err(ClientError::invalid(
                    "the session is open, so it cannot go back to an earlier message; close it or fork it",
                ));
            }
            return Ok(client);
        }
        let HostParts { system, config, extras, trace, .. } = self.parts.clone();
        let hooks = registered(&request.hooks)?;
        let notices = Arc::new(Notices::new());
        let observing = Observability::begin(&system, &config, trace.as_deref(), &notices.tell());
        let observing = observing.map_err(ClientError::invalid)?;
        let opening = Opening {
            system,
            config: configured(config, &request),
            task: request.task,
            choice: request.session,
            resume_at: request.resume_at,
            overrides: SessionOverrides { model: request.model, mode: request.mode },
            extras: HostExtensions {
                output_schema: request.output_schema.or(extras.output_schema),
                ..extras
            },
            hooks,
            client_servers: request.mcp_servers,
        };
        match OpenSession::open(opening, Arc::clone(&notices), observing).await {
            Ok(session) => Ok(self.opened(Arc::new(session))),
            Err(error) => {
                let joined = match &error {
                    OpenError::Keeping(SessionError::InUse { session_id, .. }) => self.joined(session_id),
                    _ => None,
                };
                joined.ok_or_else(|| failure(&error, &notices))
            }
        }
    }

    fn opened(&self, session: Arc<OpenSession>) -> Arc<dyn Client> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, session| session.strong_count() > 0);
        open.insert(session.hub.session_id().clone(), Arc::downgrade(&session));
        Arc::new(LocalClient::new(session))
    }

    /// Another client of a session that is open here.
    fn joined(&self, session_id: &SessionId) -> Option<Arc<dyn Client>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let session = open.get(session_id)?.upgrade().filter(|session| !session.is_closed())?;
        Some(Arc::new(LocalClient::new(session)))
    }

    async fn answer(&self, query: HostQuery) -> Result<HostReply, ClientError> {
        match query {
            HostQuery::Sessions { scope, limit } => {
                let listed = self.manager()?.list(scope_of(scope), limit as usize).await;
                let sessions = listed.map_err(not_kept)?.into_iter().map(line).collect();
                Ok(HostReply::Sessions { sessions })
            }
            HostQuery::Search { text, scope, limit } => {
                let found = self.manager()?.search(&text, scope_of(scope), limit as usize).await;
                let hits = found.map_err(not_kept)?.into_iter().map(|hit| SearchHit {
                    session_id: hit.session_id,
                    seq: hit.seq,
                    excerpt: hit.snippet,
                });
                Ok(HostReply::Hits { hits: hits.collect() })
            }
            HostQuery::Models { filter } => self.models(filter.as_deref()),
            HostQuery::Config => Ok(HostReply::Config { config: self.facts() }),
            _ => Err(ClientError::invalid("this version does not know the query")),
        }
    }

    async fn carry_out(&self, command: HostCommand) -> Result<HostReply, ClientError> {
        match command {
            HostCommand::Fork { session, seq } => {
                let at = seq.map_or(crate::sessions::ForkAt::End, crate::sessions::ForkAt::Event);
                let forked = self.manager()?.fork(&session, at).await.map_err(not_kept)?;
                let session_id = forked.session_id().clone();
                forked.close().await;
                Ok(HostReply::Forked { session_id })
            }
            HostCommand::Delete { session } => {
                let deleted = self.manager()?.delete(&session).await.map_err(not_kept)?;
                Ok(HostReply::Deleted { session_id: deleted.session_id })
            }
            _ => Err(ClientError::invalid("this version does not know the command")),
        }
    }

    fn models(&self, filter: Option<&str>) -> Result<HostReply, ClientError> {
        let HostParts { system, config, .. } = &self.parts;
        let registry = registry(&config.settings.services, system).map_err(ClientError::from)?;
        let lines = list_models(&registry, filter.unwrap_or_default()).into_iter();
        let models = lines.map(|line| ModelSummary {
            name: line.name,
            context_window: line.context_tokens,
            is_ready: line.ready,
        });
        Ok(HostReply::Models { models: models.collect() })
    }

    fn facts(&self) -> ConfigInfo {
        let HostParts { system, config, version, .. } = &self.parts;
        let limits = config.settings.limits;
        ConfigInfo {
            version: version.clone(),
            working_directory: system.working_dir.clone(),
            budget: limits.budget,
            tokens_max: limits.tokens_max,
            is_saved: config.settings.sessions.persistence == Persistence::On,
        }
    }

    fn manager(&self) -> Result<SessionManager, ClientError> {
        let quiet: NoticeSink = Arc::new(|_| {});
        Ok(manager(&self.parts.system, &self.parts.config, &quiet)?)
    }
}

impl Host for LocalHost {
    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>> {
        Box::pin(self.open_session(request))
    }

    fn query(&self, query: HostQuery) -> BoxFuture<'_, Result<HostReply, ClientError>> {
        Box::pin(self.answer(query))
    }

    fn send(&self, command: HostCommand) -> BoxFuture<'_, Result<HostReply, ClientError>> {
        Box::pin(self.carry_out(command))
    }
}

/// The configuration with the overrides of the request.
fn configured(mut config: Config, request: &OpenRequest) -> Config {
    let context = &mut config.settings.context;
    if let Some(text) = request.system_prompt.clone().filter(|text| !text.is_empty()) {
        context.system_prompt = Some(text);
    }
    if let Some(text) = &request.append_system_prompt {
        let before = context.append_system_prompt.take();
        context.append_system_prompt =
            Some(before.map_or_else(|| text.clone(), |before| format!("{before}\n\n{text}")));
    }
    config
}

/// Why a session cannot be opened, with what the user should know besides.
fn failure(error: &OpenError, notices: &Notices) -> ClientError {
    let mut message = error.to_string();
    for notice in notices.unsaid() {
        message.push_str(&format!("\nnote: {}", notice.message));
    }
    match error {
        OpenError::Model(_) | OpenError::Registry(_) | OpenError::Policy(_) => {
            ClientError::Invalid { message }
        }
        OpenError::Services(_) | OpenError::Keeping(_) | OpenError::Toolkit(_) | OpenError::Build(_) => {
            ClientError::Failed { message }
        }
    }
}

impl From<OpenError> for ClientError {
    fn from(error: OpenError) -> Self {
        failure(&error, &Notices::new())
    }
}

fn not_kept(error: SessionError) -> ClientError {
    ClientError::failed(error)
}

fn scope_of(scope: SessionScope) -> ListScope {
    match scope {
        SessionScope::Project => ListScope::Project,
        SessionScope::All => ListScope::Everywhere,
    }
}

fn line(line: crate::sessions::SessionEntry) -> SessionSummary {
    SessionSummary {
        session_id: line.session_id,
        maker: match line.maker {
            SessionCreator::Rheon => SessionOrigin::Rheon,
            SessionCreator::ClaudeCode => SessionOrigin::ClaudeCode,
        },
        title: line.title,
        first_prompt: line.first_prompt,
        active: line.active,
        project: line.project.map(PathBuf::from),
        turns: line.details.as_ref().map(|details| details.turns),
        cost: line.details.as_ref().map(|details| details.spend.cost),
    }
}
