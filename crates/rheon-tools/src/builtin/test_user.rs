//! Fixture for tests of tools that ask the user: a user with scripted answers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use rheon_types::event::{PermissionDecision, PermissionResponse, Subject};
use rheon_types::{Answer, Tool, ToolContext, ToolError, ToolFact, ToolReporter, ToolResult};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

type WhileAsking = Box<dyn Fn() + Send + Sync>;

/// A user who records tool events and answers questions in order.
#[derive(Default)]
pub(crate) struct TestUser {
    recorder: Arc<Recorder>,
    pub(crate) cancel: CancellationToken,
}

#[derive(Default)]
struct Recorder {
    news: Mutex<Vec<ToolFact>>,
    asked: Mutex<Vec<(Subject, String)>>,
    answers: Mutex<VecDeque<PermissionResponse>>,
    while_asking: Mutex<Option<WhileAsking>>,
    never_answers: bool,
}

impl TestUser {
    /// A user who cannot answer.
    pub(crate) fn absent() -> Self {
        Self::default()
    }

    /// Gives these answers and then no more.
    pub(crate) fn answering(answers: impl IntoIterator<Item = PermissionResponse>) -> Self {
        let answers = Mutex::new(answers.into_iter().collect());
        Self {
            recorder: Arc::new(Recorder { answers, ..Recorder::default() }),
            cancel: CancellationToken::new(),
        }
    }

    /// Never answers.
    pub(crate) fn silent() -> Self {
        let recorder = Recorder { never_answers: true, ..Recorder::default() };
        Self { recorder: Arc::new(recorder), cancel: CancellationToken::new() }
    }

    /// Runs `happens` while a question is open.
    pub(crate) fn while_asking(self, happens: impl Fn() + Send + Sync + 'static) -> Self {
        *self.recorder.while_asking.lock().unwrap() = Some(Box::new(happens));
        self
    }

    pub(crate) fn news(&self) -> Vec<ToolFact> {
        self.recorder.news.lock().unwrap().clone()
    }

    pub(crate) fn asked(&self) -> Vec<(Subject, String)> {
        self.recorder.asked.lock().unwrap().clone()
    }

    pub(crate) async fn call(&self, tool: &dyn Tool, arguments: Value) -> Result<ToolResult, ToolError> {
        let context = ToolContext::new("call", tool.name())
            .in_run("session", "run")
            .with_cancel(self.cancel.clone())
            .with_reporter(Arc::clone(&self.recorder) as Arc<dyn ToolReporter>);
        tool.execute(Arc::new(arguments), context).await
    }

    /// What the model reads, for a result or an error.
    pub(crate) async fn output_of(&self, tool: &dyn Tool, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Ok(result) => result.as_text(),
            Err(error) => format!("{}: {error}", error.kind()),
        }
    }
}

impl ToolReporter for Recorder {
    fn update(&self, _partial: ToolResult) {}

    fn progress(&self, _text: &str) {}

    fn record(&self, news: ToolFact) {
        self.news.lock().unwrap().push(news);
    }

    fn ask<'a>(&'a self, subject: Subject, reason: String) -> Answer<'a, Option<PermissionResponse>> {
        self.asked.lock().unwrap().push((subject, reason));
        if let Some(happens) = &*self.while_asking.lock().unwrap() {
            happens();
        }
        if self.never_answers {
            return Answer::later(std::future::pending());
        }
        Answer::Now(self.answers.lock().unwrap().pop_front())
    }
}

pub(crate) fn yes() -> PermissionResponse {
    PermissionDecision::Allow.into()
}
