//! `McpCaller`: the program that made a request, to report to and to ask.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, CustomNotification, CustomRequest, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, ServerNotification, ServerRequest,
};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::refusal::McpRefusal;

const LOG: &str = "notifications/message";

/// A question to the other program: `elicitation/create` asks its user.
#[derive(Debug, Clone, PartialEq)]
pub struct McpQuestion {
    pub method: &'static str,
    pub params: Value,
}

impl McpQuestion {
    /// A form for the user.
    pub fn form(message: &str, schema: &Value) -> Self {
        let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
        Self { method: "elicitation/create", params }
    }

    /// The capability of a client that can answer it.
    fn capability(&self) -> &'static str {
        match self.method {
            "sampling/createMessage" => "sampling",
            "roots/list" => "roots",
            _ => "elicitation",
        }
    }

    /// Whether this can be its answer.
    fn accepts(&self, answer: &Value) -> bool {
        match self.capability() {
            "sampling" => answer.get("content").is_some(),
            "roots" => answer.get("roots").is_some_and(Value::is_array),
            _ => answer.get("action").is_some_and(Value::is_string),
        }
    }
}

/// Questions by the names that their answers have.
pub(super) type Questions = BTreeMap<String, McpQuestion>;
pub(super) type Answers = BTreeMap<String, Value>;

/// Questions that the answer of a request carries to the other program.
pub(super) struct OpenQuestions {
    pub(super) questions: Questions,
    answers: Answers,
    reply: oneshot::Sender<Answers>,
}

impl OpenQuestions {
    /// Adds the answers that fit. Gives back the questions if some are still open.
    pub(super) fn answer(mut self, given: Answers) -> Option<Self> {
        for (name, answer) in given {
            if self.questions.get(&name).is_some_and(|question| question.accepts(&answer)) {
                self.questions.remove(&name);
                self.answers.insert(name, answer);
            }
        }
        if !self.questions.is_empty() {
            return Some(self);
        }
        // A call that has ended waits no more.
        drop(self.reply.send(self.answers));
        None
    }
}

/// The program that made a request.
#[derive(Clone)]
pub struct McpCaller(Arc<CallerState>);

struct CallerState {
    /// The request that is being answered; a call that waited for input goes on in another one.
    link: Mutex<Link>,
    /// Where questions go that are part of an answer.
    questions: mpsc::Sender<OpenQuestions>,
    /// Answers that came before they were asked for.
    early: Mutex<Answers>,
}

/// How the other program is reached.
#[derive(Clone)]
pub(super) struct Link {
    peer: Peer<RoleServer>,
    cancel: CancellationToken,
    progress_token: Option<ProgressToken>,
    capabilities: Value,
    /// Questions are answers of requests, and there are no sessions: 2026-07-28 and later.
    is_stateless: bool,
    wants_log: bool,
}

impl Link {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let newest = ProtocolVersion::V_2026_07_28;
        let is_stateless =
            context.protocol_version().is_some_and(|version| version.as_str() >= newest.as_str());
        let capabilities = context.client_capabilities().and_then(|it| serde_json::to_value(it).ok());
        Self {
            peer: context.peer.clone(),
            cancel: context.ct.clone(),
            progress_token: context.meta.get_progress_token(),
            capabilities: capabilities.unwrap_or_default(),
            is_stateless,
            wants_log: !is_stateless || context.meta.log_level().is_some(),
        }
    }
}

impl McpCaller {
    pub(super) fn new(link: Link, early: Answers, questions: mpsc::Sender<OpenQuestions>) -> Self {
        Self(Arc::new(CallerState { link: Mutex::new(link), questions, early: Mutex::new(early) }))
    }

    pub(super) fn set_link(&self, link: Link) {
        *lock(&self.0.link) = link;
    }

    fn link(&self) -> Link {
        lock(&self.0.link).clone()
    }

    /// Whether the other program can answer questions of this method's kind: `elicitation`, `sampling` or `roots`.
    pub fn has_capability(&self, name: &str) -> bool {
        self.link().capabilities.get(name).is_some_and(Value::is_object)
    }

    /// Canceled when the other program gives up the request that is being answered.
    pub fn cancellation(&self) -> CancellationToken {
        self.link().cancel
    }

    /// Whether the other program wants to hear of progress.
    pub fn wants_progress(&self) -> bool {
        self.link().progress_token.is_some()
    }

    /// Reports progress, if the other program wants it.
    pub async fn progress(&self, done: f64, total: Option<f64>, message: Option<&str>) {
        let link = self.link();
        let Some(token) = link.progress_token else { return };
        let mut params = ProgressNotificationParam::new(token, done);
        (params.total, params.message) = (total, message.map(str::to_owned));
        // A program that has gone needs no report.
        drop(link.peer.notify_progress(params).await);
    }

    /// Sends a notification. Log messages only if the other program wants them.
    pub async fn notify(&self, method: &str, params: Value) {
        let link = self.link();
        if method == LOG && !link.wants_log {
            return;
        }
        let notification = CustomNotification::new(method.to_owned(), Some(params));
        // A program that has gone needs no news.
        drop(link.peer.send_notification(ServerNotification::CustomNotification(notification)).await);
    }

    /// Asks the other program, and waits for all answers. Refused if it cannot answer such questions.
    pub async fn ask(&self, questions: Questions) -> Result<Answers, McpRefusal> {
        let lacking = questions.values().find(|question| !self.has_capability(question.capability()));
        if let Some(question) = lacking {
            return Err(McpRefusal::lacks(question.capability()));
        }
        let link = self.link();
        if link.is_stateless {
            return self.ask_in_answer(questions).await;
        }
        let mut answers = Answers::new();
        for (name, question) in questions {
            answers.insert(name, request(&link.peer, question).await?);
        }
        Ok(answers)
    }

    async fn ask_in_answer(&self, questions: Questions) -> Result<Answers, McpRefusal> {
        let (reply, answers) = oneshot::channel();
        let open = OpenQuestions { questions, answers: Answers::new(), reply };
        let early = std::mem::take(&mut *lock(&self.0.early));
        let unable = || McpRefusal::failed("questions are not possible here");
        if let Some(open) = open.answer(early) {
            self.0.questions.send(open).await.map_err(|_| unable())?;
        }
        answers.await.map_err(|_| unable())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn request(peer: &Peer<RoleServer>, question: McpQuestion) -> Result<Value, McpRefusal> {
    let request = CustomRequest::new(question.method.to_owned(), Some(question.params));
    let answered = peer.send_request(ServerRequest::CustomRequest(request)).await;
    let answer: ClientResult = answered.map_err(|error| McpRefusal::failed(error.to_string()))?;
    serde_json::to_value(answer).map_err(|error| McpRefusal::failed(error.to_string()))
}
