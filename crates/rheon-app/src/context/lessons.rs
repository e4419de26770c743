//! `Lessons`: proposes learnings after a run, and gives evidence to those that helped.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_store::sqlite::{DatabaseError, Evidence, Learning, LearningId, Proposal};
use rheon_tools::loop_guard::{Lesson, LessonRedactor, LessonSource, LoopGuard, corrections};
use rheon_types::{AgentOutput, Answer, Clock, Flow, History, Hook, RunEnd, Timestamp};

use super::warning::ContextWarning;
use crate::memory::{MemoryStore, redacted};

/// A hook that proposes learnings of a run: how repeated failures were fixed, and what the user corrected. Each is proposed once
/// in a session, without secrets. What was in the prompt of a run that ended well gains evidence. What the user contradicts loses
/// what it gained in the session, and has evidence against it.
pub struct Lessons {
    store: MemoryStore,
    watch: Arc<LoopGuard>,
    clock: Arc<dyn Clock>,
    used: Vec<Learning>,
    redact: LessonRedactor,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    before: History,
    proposed: HashSet<String>,
    /// The learnings that the user spoke against in this session.
    contradicted: HashSet<LearningId>,
    /// How often a learning seemed to help in this session.
    helped: HashMap<LearningId, usize>,
    problems: Vec<ContextWarning>,
}

/// How many problems wait to be taken.
const PROBLEMS_MAX: usize = 16;

impl Lessons {
    /// Lessons for `store`, with these learnings in the prompt.
    pub fn new(
        store: MemoryStore,
        watch: Arc<LoopGuard>,
        clock: Arc<dyn Clock>,
        used: Vec<Learning>,
    ) -> Self {
        Self { store, watch, clock, used, redact: LessonRedactor::new(redacted), state: Mutex::default() }
    }

    /// Problems since the last call.
    pub fn take_problems(&self) -> Vec<ContextWarning> {
        std::mem::take(&mut self.state().problems)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this run taught.
    fn learnt(&self, output: &AgentOutput) -> Learnt {
        let mut state = self.state();
        let mut conversation = state.before.clone();
        conversation.extend(output.messages.iter().cloned());
        let found = self.watch.take_lessons().into_iter().chain(corrections(&conversation, &self.redact));
        let mut learnt = Learnt::default();
        for lesson in found {
            if !state.proposed.insert(lesson.text.clone()) {
                continue;
            }
            let misled = self.used.iter().filter(|learning| contradicts(&lesson, learning));
            for id in misled.map(|learning| learning.id) {
                if state.contradicted.insert(id) {
                    // What looked like help was none: the user had not seen it yet.
                    let withdrawn = state.helped.remove(&id).unwrap_or_default();
                    learnt.misled.push((id, withdrawn));
                }
            }
            learnt.texts.push(lesson.text);
        }
        if ended_well(output) {
            let ids = self.used.iter().map(|learning| learning.id);
            learnt.helped = ids.filter(|id| !state.contradicted.contains(id)).collect();
            for id in &learnt.helped {
                *state.helped.entry(*id).or_default() += 1;
            }
        }
        learnt
    }
}

/// What a run taught.
#[derive(Default)]
struct Learnt {
    texts: Vec<String>,
    helped: Vec<LearningId>,
    /// With how often each seemed to help before.
    misled: Vec<(LearningId, usize)>,
}

impl Learnt {
    fn keep(self, store: &MemoryStore, now: Timestamp) -> Result<(), DatabaseError> {
        let learnings = store.memory.learnings();
        for text in self.texts {
            let (project, session_id) = (Some(store.project.clone()), store.session_id.clone());
            learnings.propose(&Proposal { project, text, session_id }, now)?;
        }
        for id in self.helped {
            learnings.add_evidence(id, Evidence::For, now)?;
        }
        for (id, withdrawn) in self.misled {
            for _ in 0..withdrawn {
                learnings.withdraw_evidence(id, Evidence::For, now)?;
            }
            learnings.add_evidence(id, Evidence::Against, now)?;
        }
        Ok(())
    }
}

/// Whether a lesson is a correction of what a learning made the model do.
fn contradicts(lesson: &Lesson, learning: &Learning) -> bool {
    match &lesson.source {
        LessonSource::Correction(correction) => correction.contradicts(&learning.proposal.text),
        LessonSource::Failure => false,
    }
}

impl Hook for Lessons {
    fn name(&self) -> &str {
        "lessons"
    }

    fn before_run<'a>(&'a self, history: &'a History, _run_index: usize) -> Answer<'a, Flow> {
        let mut state = self.state();
        // Earlier runs of this session or its parent have already proposed these.
        state.proposed.extend(corrections(history, &self.redact).into_iter().map(|lesson| lesson.text));
        state.before = history.clone();
        Answer::Now(Flow::Continue)
    }

    fn after_run<'a>(&'a self, output: &'a AgentOutput) -> Answer<'a, ()> {
        let learnt = self.learnt(output);
        if learnt.texts.is_empty() && learnt.helped.is_empty() {
            return Answer::Now(());
        }
        let (store, now) = (self.store.clone(), self.clock.now());
        Answer::later(async move {
            let kept = tokio::task::spawn_blocking(move || learnt.keep(&store, now)).await;
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

/// Whether the run probably succeeded.
fn ended_well(output: &AgentOutput) -> bool {
    let is_whole = match output.end {
        RunEnd::Completed => true,
        RunEnd::Truncated
        | RunEnd::Limit { .. }
        | RunEnd::Rejected { .. }
        | RunEnd::Vetoed { .. }
        | RunEnd::Stuck { .. }
        | RunEnd::Aborted
        | RunEnd::Failed { .. } => false,
    };
    is_whole && output.unfinished.is_none()
}
