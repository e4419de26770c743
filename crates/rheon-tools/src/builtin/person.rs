//! For tests of tools that talk to the user: a person who answers as told, and what they hear.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use rheon_types::event::{PermissionDecision, PermissionResponse, Subject};
use rheon_types::{Answer, Tool, ToolContext, ToolError, ToolFact, ToolReporter, ToolResult};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

type WhileAsked = Box<dyn Fn() + Send + Sync>;

/// Somebody who hears news and answers questions, first come first served.
#[derive(Default)]
pub(crate) struct Person {
    heard: Arc<Heard>,
    pub(crate) cancel: CancellationToken,
}

#[derive(Default)]
struct Heard {
    news: Mutex<Vec<ToolFact>>,
    asked: Mutex<Vec<(Subject, String)>>,
    answers: Mutex<VecDeque<PermissionResponse>>,
    while_asked: Mutex<Option<WhileAsked>>,
    never_answers: bool,
}

impl Person {
    /// Nobody is there.
    pub(crate) fn away() -> Self {
        Self::default()
    }

    /// Gives these answers, then goes away.
    pub(crate) fn answering(answers: impl IntoIterator<Item = PermissionResponse>) -> Self {
        let answers = Mutex::new(answers.into_iter().collect());
        Self { heard: Arc::new(Heard { answers, ..Heard::default() }), cancel: CancellationToken::new() }
    }

    /// Is there and says nothing.
    pub(crate) fn silent() -> Self {
        let heard = Heard { never_answers: true, ..Heard::default() };
        Self { heard: Arc::new(heard), cancel: CancellationToken::new() }
    }

    /// The same; while a question is open, this happens.
    pub(crate) fn meanwhile(self, happens: impl Fn() + Send + Sync + 'static) -> Self {
        *self.heard.while_asked.lock().unwrap() = Some(Box::new(happens));
        self
    }

    pub(crate) fn news(&self) -> Vec<ToolFact> {
        self.heard.news.lock().unwrap().clone()
    }

    pub(crate) fn asked(&self) -> Vec<(Subject, String)> {
        self.heard.asked.lock().unwrap().clone()
    }

    pub(crate) async fn call(&self, tool: &dyn Tool, arguments: Value) -> Result<ToolResult, ToolError> {
        let context = ToolContext::new(
            ("call".into(), tool.name().into()),
            ("session".into(), "run".into()),
            self.cancel.clone(),
            Some(Arc::clone(&self.heard) as Arc<dyn ToolReporter>),
        );
        tool.execute(Arc::new(arguments), context).await
    }

    /// What the model reads, whether it is a result or an error.
    pub(crate) async fn told(&self, tool: &dyn Tool, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Ok(result) => result.as_text(),
            Err(error) => format!("{}: {error}", error.kind()),
        }
    }
}

impl ToolReporter for Heard {
    fn update(&self, _partial: ToolResult) {}

    fn progress(&self, _text: &str) {}

    fn record(&self, news: ToolFact) {
        self.news.lock().unwrap().push(news);
    }

    fn ask<'a>(&'a self, subject: Subject, reason: String) -> Answer<'a, Option<PermissionResponse>> {
        self.asked.lock().unwrap().push((subject, reason));
        if let Some(happens) = &*self.while_asked.lock().unwrap() {
            happens();
        }
        if self.never_answers {
            return Answer::later(std::future::pending());
        }
        Answer::Now(self.answers.lock().unwrap().pop_front())
    }
}

/// Yes.
pub(crate) fn yes() -> PermissionResponse {
    PermissionDecision::Allow.into()
}
