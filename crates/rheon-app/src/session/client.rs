//! `LocalClient`: a session of this process, reached as any other would be.

use std::path::Path;
use std::sync::Arc;

use rheon_agent::{AgentError, ChildError, Prompt, UserCall};
use rheon_policy::PolicyGate;
use rheon_types::event::Scope;
use rheon_types::protocol::{Ack, Command, Query, Reply, RewindMode, RewindScope, Subscription, Thinking};
use rheon_types::{
    AgentEvent, Answer, BoxFuture, BudgetEvent, Caps, Client, ClientError, Content, EventStream, Gate,
    GateDecision, GateRequest, RunId, SessionEvent, ThinkingLevel, Verdict,
};
use serde_json::json;

use super::attachments::{AttachedPrompt, attach};
use super::changes::{apply_rules, thinking_level};
use super::feed::feed;
use super::hub::closed;
use super::open::OpenSession;
use super::typed_text::TypedText;
use super::{queries, rewinding, slash};

/// A session of this process. Clones are the same one.
#[derive(Clone)]
pub(crate) struct LocalClient {
    session: Arc<OpenSession>,
}

impl LocalClient {
    pub(crate) fn new(session: Arc<OpenSession>) -> Self {
        Self { session }
    }

    async fn take(&self, command: Command) -> Result<Ack, ClientError> {
        let session = &self.session;
        if session.is_closed() {
            return Err(closed());
        }
        let seq = session.hub.seq();
        match command {
            Command::Prompt { content } => started(seq, session.agent.launch(prompt(content))),
            Command::PromptWithSchema { content, output_schema } => {
                started(seq, session.agent.launch_with_schema(prompt(content), output_schema))
            }
            Command::Continue { kind } => started(seq, session.agent.launch_continued(kind)),
            Command::Compact { instructions } => {
                started(seq, session.agent.launch_compaction(instructions.unwrap_or_default()))
            }
            Command::Steer { content, child: None } => {
                session.agent.steer(prompt(content));
                done(seq)
            }
            Command::Steer { content, child: Some(child) } => {
                session.agent.steer_child(&child, prompt(content)).map_err(no_child)?;
                done(seq)
            }
            Command::FollowUp { content, child: None } => {
                session.agent.follow_up(prompt(content));
                done(seq)
            }
            Command::FollowUp { content, child: Some(child) } => {
                session.agent.follow_up_child(&child, prompt(content)).map_err(no_child)?;
                done(seq)
            }
            Command::Cancel { child: None } => {
                session.agent.abort();
                done(seq)
            }
            Command::Cancel { child: Some(child) } => {
                session.agent.abort_child(&child).map_err(no_child)?;
                done(seq)
            }
            Command::RespondPermission { request_id, response } => {
                let answered = session.agent.attach_approver().respond(&request_id, response);
                answered.map_err(|error| ClientError::UnknownApproval { request_id: error.request_id })?;
                done(seq)
            }
            Command::AnswerCall { call_id, outcome } => {
                session.calls.answer(&call_id, outcome)?;
                done(seq)
            }
            Command::Submit { text } => self.submit(seq, text).await,
            Command::Slash { line } => self.slash(seq, &line).await,
            Command::Rewind { seq: to, what, mode } => self.rewind(seq, to, what, mode).await,
            Command::Close { reason } => {
                session.close(reason).await?;
                done(seq)
            }
            other => self.change(seq, other).await,
        }
    }

    /// Changes what the session is.
    async fn change(&self, seq: u64, command: Command) -> Result<Ack, ClientError> {
        let session = &self.session;
        match command {
            Command::SetModel { model } => {
                let name = session.set_model(model.as_deref()).await?;
                Ok(Ack { seq, notes: vec![name], ..Ack::default() })
            }
            Command::SetThinking { thinking } => {
                let level = session.set_thinking(thinking).await;
                Ok(Ack { seq, notes: vec![level_name(level)], ..Ack::default() })
            }
            Command::SetMode { mode } => {
                session.toolkit.gate().set_mode(mode).map_err(not_allowed)?;
                session.agent.record_fact(SessionEvent::Mode { mode });
                done(seq)
            }
            Command::SetRules { change } => {
                let notes = apply_rules(&session.toolkit.gate(), &change).map_err(ClientError::invalid)?;
                if change.scope != Scope::Once {
                    session.agent.record_fact(SessionEvent::Rules { change: Arc::new(change) });
                }
                Ok(Ack { seq, notes, ..Ack::default() })
            }
            Command::SetTitle { title } => {
                session.agent.record_fact(SessionEvent::Title { title: title.trim().to_owned() });
                done(seq)
            }
            Command::ExtendBudget { tokens, cost } => {
                let budget = session.budget.as_ref().ok_or_else(|| {
                    ClientError::invalid("this session has no budget, so there is nothing to extend")
                })?;
                budget.extend(Caps { tokens, cost, wall: None });
                session.agent.record_fact(BudgetEvent::Changed { ledger: Arc::new(budget.ledger()) });
                done(seq)
            }
            _ => Err(ClientError::invalid("this version does not know the command")),
        }
    }

    /// Runs a slash command.
    async fn slash(&self, seq: u64, line: &str) -> Result<Ack, ClientError> {
        match slash::read(&self.session, seq, line).await? {
            slash::Slash::Prompt(prompt) => self.attached(seq, prompt),
            slash::Slash::Command(command) => {
                let note = slash::note_of(&command);
                let mut ack = Box::pin(self.take(command)).await?;
                ack.notes.extend(note);
                Ok(ack)
            }
            slash::Slash::Done(ack) => Ok(Ack { seq, ..ack }),
        }
    }

    /// Takes what a person typed. Commands for the shell are run only where a person can answer: elsewhere the text of a prompt may
    /// come from anywhere.
    async fn submit(&self, seq: u64, text: String) -> Result<Ack, ClientError> {
        let agent = &self.session.agent;
        match TypedText::of(&text) {
            TypedText::Shell(command) if agent.has_approver() => {
                let call = UserCall {
                    tool_name: "bash".into(),
                    arguments: Arc::new(json!({ "command": command })),
                    gate: Arc::new(UserGate(self.session.toolkit.gate())),
                };
                started(seq, agent.launch_call(format!("!{command}"), call))
            }
            TypedText::Slash(line) => match self.slash(seq, line).await {
                // A sentence may begin with a path such as /tmp.
                Err(ClientError::NotFound { .. }) if begins_with_path(line) => {
                    self.attached(seq, attach(&self.session, text).await)
                }
                done => done,
            },
            TypedText::Shell(_) | TypedText::Prompt(_) => {
                self.attached(seq, attach(&self.session, text).await)
            }
        }
    }

    fn attached(&self, seq: u64, prompt: AttachedPrompt) -> Result<Ack, ClientError> {
        let started = started(seq, self.session.agent.launch(prompt.content))?;
        Ok(Ack { notes: prompt.notes, ..started })
    }

    async fn rewind(
        &self,
        seq: u64,
        to: u64,
        what: RewindScope,
        mode: RewindMode,
    ) -> Result<Ack, ClientError> {
        if self.session.agent.is_running() {
            return Err(busy("rewind"));
        }
        // Only then is it known what the last run itself has changed.
        self.session.agent.wait_until_settled().await;
        let rewound = rewinding::rewind(&self.session, to, what, mode).await?;
        Ok(Ack { seq, rewound: Some(rewound), ..Ack::default() })
    }
}

impl OpenSession {
    /// Asks another model from the next run on; without a name, the one that the session began with. Returns its whole name.
    async fn set_model(&self, said: Option<&str>) -> Result<String, ClientError> {
        let mut answering = self.answering.lock().await;
        answering.change(said).await.map_err(ClientError::from)?;
        let model = &answering.current.model;
        self.agent.set_model(Arc::clone(&model.provider), Arc::clone(&model.model));
        let name = answering.current.choice.name.clone();
        let thinking = self.hub.view().folded.chosen.thinking;
        self.agent.record_fact(SessionEvent::Model { model: name.as_str().into(), thinking });
        Ok(name)
    }

    /// Sets the thinking level from the next run on; none restores the initial one.
    async fn set_thinking(&self, thinking: Option<Thinking>) -> ThinkingLevel {
        let answering = self.answering.lock().await;
        let level = match thinking {
            None => answering.thinking,
            Some(Thinking::Level(level)) => level,
            Some(Thinking::Tokens(tokens)) => thinking_level(tokens),
        };
        self.agent.set_thinking(level);
        let model = self.hub.view().folded.chosen.model.unwrap_or_else(|| "".into());
        self.agent.record_fact(AgentEvent::from(SessionEvent::Model { model, thinking: Some(level) }));
        level
    }
}

impl Client for LocalClient {
    fn send(&self, command: Command) -> BoxFuture<'_, Result<Ack, ClientError>> {
        Box::pin(self.take(command))
    }

    fn query(&self, query: Query) -> BoxFuture<'_, Result<Reply, ClientError>> {
        Box::pin(queries::answer(&self.session, query))
    }

    fn events(&self, subscription: Subscription) -> EventStream {
        let answerer = subscription.answers.then(|| self.session.agent.attach_approver());
        feed(&self.session.hub, subscription, answerer)
    }
}

/// Decides as the session's gate does about commands that the user types: what that would ask, typing it has answered.
struct UserGate(Arc<PolicyGate>);

impl Gate for UserGate {
    fn check<'a>(&'a self, request: GateRequest<'a>) -> Answer<'a, GateDecision> {
        Answer::later(async move {
            let mut decision = self.0.check(request).get().await;
            if let Verdict::Ask { offers, .. } = &decision.verdict {
                if let Some(offer) = offers.first() {
                    decision.grant = decision.grant.joined(&offer.grant);
                }
                decision.verdict = Verdict::Allow;
            }
            decision
        })
    }
}

fn begins_with_path(line: &str) -> bool {
    line.split_whitespace().next().is_some_and(|word| Path::new(word).exists())
}

fn prompt(content: Vec<Content>) -> Prompt {
    content.into()
}

fn done(seq: u64) -> Result<Ack, ClientError> {
    Ok(Ack { seq, ..Ack::default() })
}

fn started(seq: u64, run: Result<RunId, AgentError>) -> Result<Ack, ClientError> {
    match run {
        Ok(run_id) => Ok(Ack { seq, run_id: Some(run_id), ..Ack::default() }),
        Err(AgentError::Busy) => Err(busy("start another")),
        Err(error @ (AgentError::EmptyPrompt | AgentError::NoRuntime)) => Err(ClientError::invalid(error)),
        Err(error) => Err(ClientError::failed(error)),
    }
}

fn no_child(error: ChildError) -> ClientError {
    match error {
        ChildError::Unknown { session_id } => ClientError::UnknownChild { session_id },
        ChildError::Full { .. } => ClientError::Busy { message: error.to_string() },
    }
}

fn busy(what: &str) -> ClientError {
    ClientError::Busy { message: format!("a run is in progress; cancel it or wait for its end to {what}") }
}

fn not_allowed(error: impl std::fmt::Display) -> ClientError {
    ClientError::NotAllowed { message: error.to_string() }
}

fn level_name(level: ThinkingLevel) -> String {
    serde_json::to_value(level).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
