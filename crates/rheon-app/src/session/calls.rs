//! `ClientCalls`: functions of the client that the session calls, for instance as hooks. A call is a live event; its answer is a
//! command.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_agent::Agent;
use rheon_tools::hooks::HookCallbacks;
use rheon_types::protocol::ClientCallOutcome;
use rheon_types::{BoxFuture, ClientCallId, ClientError, SessionEvent};
use serde_json::Value;
use tokio::sync::oneshot;

/// The calls of a session to functions of its clients. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct ClientCalls {
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    asked: u64,
    open: HashMap<ClientCallId, oneshot::Sender<ClientCallOutcome>>,
    agent: Option<Agent>,
}

impl ClientCalls {
    /// Calls go through the log of this agent from now on.
    pub(super) fn open(&self, agent: &Agent) {
        self.lock().agent = Some(agent.clone());
    }

    /// The agent, while the session is open.
    pub(super) fn agent(&self) -> Option<Agent> {
        self.lock().agent.clone()
    }

    /// There will be no more answers.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.agent = None;
        state.open.clear();
    }

    /// Takes the answer of a client. The first one counts.
    pub(super) fn answer(
        &self,
        call_id: &ClientCallId,
        outcome: ClientCallOutcome,
    ) -> Result<(), ClientError> {
        let waiting = self.lock().open.remove(call_id);
        let unknown = || ClientError::NotFound { message: format!("call {call_id} is not open") };
        waiting.ok_or_else(unknown)?.send(outcome).map_err(|_| unknown())
    }

    fn ask(
        &self,
        callback: &str,
        input: Value,
    ) -> Option<(ClientCallId, oneshot::Receiver<ClientCallOutcome>)> {
        let (sender, receiver) = oneshot::channel();
        let (agent, call_id) = {
            let mut state = self.lock();
            let agent = state.agent.clone()?;
            state.asked += 1;
            let call_id = ClientCallId::from(format!("call_{}", state.asked));
            // The call is open before it is seen, so that an answer cannot come too early.
            state.open.insert(call_id.clone(), sender);
            (agent, call_id)
        };
        let (callback, input) = (callback.to_owned(), Arc::new(input));
        agent.record_fact(SessionEvent::ClientCall { call_id: call_id.clone(), callback, input });
        Some((call_id, receiver))
    }

    fn withdraw(&self, call_id: &ClientCallId) {
        let agent = {
            let mut state = self.lock();
            if state.open.remove(call_id).is_none() {
                return;
            }
            state.agent.clone()
        };
        if let Some(agent) = agent {
            agent.record_fact(SessionEvent::ClientCallWithdrawn { call_id: call_id.clone() });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HookCallbacks for ClientCalls {
    fn call<'a>(&'a self, id: &'a str, input: Value) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let gone = || "the client closed the connection".to_owned();
            let (call_id, answer) = self.ask(id, input).ok_or_else(gone)?;
            let _withdrawal = Withdrawal { calls: self, call_id };
            match answer.await {
                Ok(ClientCallOutcome::Output(output)) => Ok(Arc::unwrap_or_clone(output)),
                Ok(ClientCallOutcome::Error(problem)) => Err(problem),
                Err(_) => Err(gone()),
            }
        })
    }
}

/// Withdraws a call when its waiter is dropped.
struct Withdrawal<'a> {
    calls: &'a ClientCalls,
    call_id: ClientCallId,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.calls.withdraw(&self.call_id);
    }
}
