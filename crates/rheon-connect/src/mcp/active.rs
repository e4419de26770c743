//! `ActiveCalls`: the calls that wait for a server's answer, so that its progress and questions reach them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rheon_types::ToolContext;
use rmcp::model::ProgressToken;
use tokio::sync::{Mutex, MutexGuard, Notify};

use super::clean::short_line;

/// The calls of one connection that wait for an answer.
#[derive(Default)]
pub(super) struct ActiveCalls(Mutex<Vec<ActiveCall>>);

/// A call that waits for its answer.
#[derive(Clone)]
pub(super) struct ActiveCall {
    pub(super) token: ProgressToken,
    pub(super) context: Option<ToolContext>,
    pub(super) activity: Arc<CallActivity>,
}

/// Whether something happens in a call.
#[derive(Default)]
pub(super) struct CallActivity {
    /// Called at every sign of progress.
    pub(super) news: Notify,
    /// How many questions of it wait for a person.
    questions: AtomicUsize,
}

impl CallActivity {
    /// Whether a person is asked at the moment.
    pub(super) fn waits_for_person(&self) -> bool {
        self.questions.load(Ordering::SeqCst) > 0
    }

    /// Counts as a question until the guard is dropped.
    pub(super) fn question(self: &Arc<Self>) -> QuestionGuard {
        self.questions.fetch_add(1, Ordering::SeqCst);
        QuestionGuard(Arc::clone(self))
    }
}

/// A person is being asked while this exists.
pub(super) struct QuestionGuard(Arc<CallActivity>);

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::SeqCst);
        self.0.news.notify_one();
    }
}

impl ActiveCalls {
    /// Lets a caller send a request and add its call before any news of it is looked up.
    pub(super) async fn lock(&self) -> MutexGuard<'_, Vec<ActiveCall>> {
        self.0.lock().await
    }

    pub(super) async fn remove(&self, token: &ProgressToken) {
        self.0.lock().await.retain(|call| call.token != *token);
    }

    /// A server reports progress.
    pub(super) async fn progress(&self, token: &ProgressToken, text: &str) {
        let calls = self.0.lock().await;
        let Some(call) = calls.iter().find(|call| call.token == *token) else { return };
        if let Some(context) = &call.context {
            context.progress(&short_line(text));
        }
        call.activity.news.notify_one();
    }

    /// The call that a question of the server is about. Servers do not say, so it is the one that started last.
    pub(super) async fn asking(&self) -> Option<ActiveCall> {
        self.0.lock().await.iter().rev().find(|call| call.context.is_some()).cloned()
    }
}
