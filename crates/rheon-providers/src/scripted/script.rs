//! `Script`: a scenario in use: which turns are used up, and which requests came.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{ProviderError, ProviderErrorKind, Request};

use super::choose::{Condition, Left, NoTurn, last_text, last_tool_result};
use super::compile::{Op, Sent, compile, quotes_request};
use super::scenario::{Entry, Respond, Scenario, Turn};

/// How many requests a provider remembers.
pub const REQUESTS_KEPT_MAX: usize = 1_000;

/// A scenario in use. Shared by the provider and its streams; no lock is held while a closure of the scenario runs.
pub(super) struct Script {
    name: Option<String>,
    model: String,
    entries: Vec<Ready>,
    log: Mutex<Log>,
}

/// An entry, prepared as far as it can be before there is a request.
enum Ready {
    Turn { when: Condition, repeat: bool, used: AtomicBool, answer: Prepared },
    Respond(Arc<Respond>),
}

enum Prepared {
    /// The same for every request.
    Fixed(Arc<[Op]>),
    /// Quotes the request.
    Quoting(Box<Turn>),
}

#[derive(Default)]
struct Log {
    count: u64,
    kept: VecDeque<Request>,
}

/// A request that has been counted, and what its stream does.
pub(super) struct Begun {
    /// From 1.
    pub(super) number: u64,
    pub(super) ops: Arc<[Op]>,
}

impl Script {
    pub(super) fn new(scenario: Scenario) -> Self {
        let model = scenario.model.unwrap_or_else(|| "scripted".to_owned());
        let entries = scenario.entries.into_iter().map(|entry| Ready::new(&model, entry)).collect();
        Self { name: scenario.name, model, entries, log: Mutex::default() }
    }

    /// Counts and records `request`, and chooses the turn to play for it.
    pub(super) fn begin(&self, request: Request) -> Result<Begun, ProviderError> {
        let number = self.log().record(request.clone());
        for entry in &self.entries {
            if let Some(ops) = self.try_entry(entry, number, &request) {
                return Ok(Begun { number, ops });
            }
        }
        let message = self.no_turn(number, &request).to_string();
        Err(ProviderError::new(ProviderErrorKind::InvalidRequest, message))
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.log().kept.iter().cloned().collect()
    }

    pub(super) fn request_count(&self) -> u64 {
        self.log().count
    }

    fn try_entry(&self, entry: &Ready, number: u64, request: &Request) -> Option<Arc<[Op]>> {
        match entry {
            Ready::Turn { when, repeat, used, answer } => {
                if !when.holds(number, &request.messages) {
                    return None;
                }
                // Two streams may want the same turn at once: the first to mark it has it.
                if used.swap(true, Ordering::Relaxed) && !repeat {
                    return None;
                }
                Some(match answer {
                    Prepared::Fixed(ops) => Arc::clone(ops),
                    Prepared::Quoting(turn) => compile(&self.model, turn, &sent(request)),
                })
            }
            Ready::Respond(respond) => {
                respond(request).map(|turn| compile(&self.model, &turn, &sent(request)))
            }
        }
    }

    fn no_turn<'a>(&'a self, number: u64, request: &Request) -> NoTurn<'a> {
        let left = self.entries.iter().enumerate().filter_map(|(index, entry)| match entry {
            Ready::Turn { used, repeat, .. } if used.load(Ordering::Relaxed) && !repeat => None,
            Ready::Turn { when, .. } => Some((index + 1, Left::Turn(when))),
            Ready::Respond(_) => Some((index + 1, Left::Closure)),
        });
        NoTurn {
            scenario: self.name.as_deref(),
            number,
            entries: self.entries.len(),
            left: left.collect(),
            last_text: last_text(&request.messages),
        }
    }

    /// The log is whole after every statement that holds the lock, so a panic elsewhere cannot have broken it.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ready {
    fn new(model: &str, entry: Entry) -> Self {
        match entry {
            Entry::Respond(respond) => Self::Respond(respond),
            Entry::Turn(turn) => {
                let (when, repeat) = (turn.when.clone(), turn.repeat);
                let answer = if quotes_request(&turn) {
                    Prepared::Quoting(Box::new(turn))
                } else {
                    Prepared::Fixed(compile(model, &turn, &Sent::default()))
                };
                Self::Turn { when, repeat, used: AtomicBool::new(false), answer }
            }
        }
    }
}

impl Log {
    /// Returns the number of the request, from 1.
    fn record(&mut self, request: Request) -> u64 {
        if self.kept.len() == REQUESTS_KEPT_MAX {
            self.kept.pop_front();
        }
        self.kept.push_back(request);
        self.count += 1;
        self.count
    }
}

fn sent(request: &Request) -> Sent {
    Sent { last_tool_result: last_tool_result(&request.messages), last_text: last_text(&request.messages) }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.len();
        f.debug_struct("Script").field("name", &self.name).field("entries", &entries).finish_non_exhaustive()
    }
}
