//! `Lessons`: after a run, what was learnt is proposed, and what helped gains evidence.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::sqlite::{DatabaseError, Evidence, LearningId, Memory, Proposal};
use rheon_tools::memory::{Watch, corrections};
use rheon_types::{AgentOutput, Answer, Clock, Flow, History, Hook, RunEnd, SessionId};

use super::warning::ContextWarning;

/// Where learnings are kept, and whose they are.
#[derive(Debug, Clone)]
pub struct LearningStore {
    /// The memory.
    pub memory: Arc<Memory>,
    /// The project, as the memory names it.
    pub project: String,
    /// The session that learns.
    pub session_id: SessionId,
}

/// A hook that proposes what a run taught: how repeated failures were mended, and what the user corrected. Each is proposed once
/// in a session. What was in the prompt of a run that ended well gains evidence.
pub struct Lessons {
    store: LearningStore,
    watch: Arc<Watch>,
    clock: Arc<dyn Clock>,
    /// The learnings in the prompt.
    used: Vec<LearningId>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The conversation before the run.
    before: History,
    /// What is not to be proposed again.
    proposed: HashSet<String>,
    problems: Vec<ContextWarning>,
}

/// How many problems wait to be taken.
const PROBLEMS_MAX: usize = 16;

impl Lessons {
    /// Lessons for `store`, with these learnings in the prompt.
    pub fn new(
        store: LearningStore,
        watch: Arc<Watch>,
        clock: Arc<dyn Clock>,
        used: Vec<LearningId>,
    ) -> Self {
        Self { store, watch, clock, used, state: Mutex::default() }
    }

    /// What went wrong since this was asked last.
    pub fn take_problems(&self) -> Vec<ContextWarning> {
        std::mem::take(&mut self.state().problems)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this run taught.
    fn learnt(&self, output: &AgentOutput) -> Vec<String> {
        let mut state = self.state();
        let mut conversation = state.before.clone();
        conversation.extend(output.messages.iter().cloned());
        let found = self.watch.take_lessons().into_iter().chain(corrections(&conversation));
        found.map(|lesson| lesson.text).filter(|text| state.proposed.insert(text.clone())).collect()
    }
}

impl Hook for Lessons {
    fn name(&self) -> &str {
        "lessons"
    }

    fn before_loop<'a>(&'a self, history: &'a History, _loop_index: usize) -> Answer<'a, Flow> {
        let mut state = self.state();
        // Earlier runs have proposed what stands here, in this session or in the one that it goes on from.
        state.proposed.extend(corrections(history).into_iter().map(|lesson| lesson.text));
        state.before = history.clone();
        Answer::Now(Flow::Continue)
    }

    fn after_loop<'a>(&'a self, output: &'a AgentOutput) -> Answer<'a, ()> {
        let learnt = self.learnt(output);
        let helped = if ended_well(output) { self.used.clone() } else { Vec::new() };
        if learnt.is_empty() && helped.is_empty() {
            return Answer::Now(());
        }
        let (store, now) = (self.store.clone(), self.clock.now());
        Answer::later(async move {
            let keep = move || -> Result<(), DatabaseError> {
                let learnings = store.memory.learnings();
                for text in learnt {
                    let project = Some(store.project.clone());
                    let session_id = store.session_id.clone();
                    learnings.propose(&Proposal { project, text, session_id }, now)?;
                }
                for id in helped {
                    learnings.add_evidence(id, Evidence::For, now)?;
                }
                Ok(())
            };
            let kept = tokio::task::spawn_blocking(keep).await;
            let problem = match kept {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            let mut state = self.state();
            if state.problems.len() < PROBLEMS_MAX {
                state.problems.push(ContextWarning::Learnings(problem));
            }
        })
    }
}

/// Whether the model did what was asked, as far as anybody can tell.
fn ended_well(output: &AgentOutput) -> bool {
    let is_whole = match output.end {
        RunEnd::Completed => true,
        RunEnd::Truncated
        | RunEnd::Limit { .. }
        | RunEnd::Rejected { .. }
        | RunEnd::Vetoed { .. }
        | RunEnd::Aborted
        | RunEnd::Failed { .. } => false,
    };
    is_whole && output.unfinished.is_none()
}
