//! `Notices`: the way of what the user should know into the log of the session.

use std::sync::{Arc, Mutex, PoisonError};

use rheon_agent::Agent;
use rheon_types::SessionEvent;
use rheon_types::event::Notice;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::system::NoticeSink;

/// Takes what the user should know and writes it into the log. Before there is a log it waits.
///
/// Notices come from everywhere, from stores and observers too, which work while the log is locked. So a task of its own writes
/// them.
pub(crate) struct Notices {
    sender: mpsc::UnboundedSender<Notice>,
    waiting: Mutex<Option<mpsc::UnboundedReceiver<Notice>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Notices {
    pub(crate) fn new() -> Self {
        let (sender, receiver) = mpsc::unbounded_channel();
        Self { sender, waiting: Mutex::new(Some(receiver)), writer: Mutex::default() }
    }

    /// A way to tell, for those who have something to say.
    pub(crate) fn tell(&self) -> NoticeSink {
        let sender = self.sender.clone();
        // After the end there are no clients to notify.
        Arc::new(move |notice| drop(sender.send(notice)))
    }

    /// Sets the log: it has all earlier notices when this returns, and later ones follow.
    pub(crate) fn open(&self, agent: &Agent) {
        let Some(mut receiver) = take(&self.waiting) else { return };
        let write =
            |agent: &Agent, notice| agent.record_fact(SessionEvent::Notice { notice: Arc::new(notice) });
        while let Ok(notice) = receiver.try_recv() {
            write(agent, notice);
        }
        let agent = agent.clone();
        let writer = tokio::spawn(async move {
            while let Some(notice) = receiver.recv().await {
                write(&agent, notice);
            }
        });
        *self.writer.lock().unwrap_or_else(PoisonError::into_inner) = Some(writer);
    }

    /// What waits for a log that never came.
    pub(crate) fn unsaid(&self) -> Vec<Notice> {
        let Some(mut receiver) = take(&self.waiting) else { return Vec::new() };
        std::iter::from_fn(|| receiver.try_recv().ok()).collect()
    }

    /// The session is closed: the log is let go.
    pub(crate) fn close(&self) {
        if let Some(writer) = take(&self.writer) {
            writer.abort();
        }
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.close();
    }
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}
