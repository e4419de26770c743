//! `Script`: the state of a scenario: which turns are used up, and which requests came in.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rheon_types::{ProviderError, ProviderErrorKind, Request};

use super::choose::{Condition, NoMatchingTurn, UnusedEntry, last_text, last_tool_result};
use super::compile::{Op, QuotedRequest, compile, quotes_request};
use super::scenario::{Entry, Respond, Scenario, Turn};

/// How many requests a provider remembers.
pub const REQUEST_LOG_MAX: usize = 1_000;

/// The state of a scenario, shared by the provider and its streams. No lock is held while a closure of the scenario
/// runs.
pub(super) struct Script {
    name: Option<String>,
    model: String,
    entries: Vec<PreparedEntry>,
    log: Mutex<Log>,
}

/// An entry, compiled as far as possible without a request.
enum PreparedEntry {
    Turn { when: Condition, repeat: bool, used: AtomicBool, answer: PreparedTurn },
    Respond(Arc<Respond>),
}

enum PreparedTurn {
    /// The same for every request.
    Fixed(Arc<[Op]>),
    /// Quotes the request.
    Quoting(Box<Turn>),
}

#[derive(Default)]
struct Log {
    count: u64,
    requests: VecDeque<Request>,
}

/// The number of a request and the operations of its stream.
pub(super) struct StartedTurn {
    /// Starting at 1.
    pub(super) number: u64,
    pub(super) ops: Arc<[Op]>,
}

impl Script {
    pub(super) fn new(scenario: Scenario) -> Self {
        let model = scenario.model.unwrap_or_else(|| "scripted".to_owned());
        let entries = scenario.entries.into_iter().map(|entry| PreparedEntry::new(&model, entry)).collect();
        Self { name: scenario.name, model, entries, log: Mutex::default() }
    }

    /// Records `request` and chooses the turn to play.
    pub(super) fn begin(&self, request: Request) -> Result<StartedTurn, ProviderError> {
        let number = self.log().record(request.clone());
        for entry in &self.entries {
            if let Some(ops) = self.try_entry(entry, number, &request) {
                return Ok(StartedTurn { number, ops });
            }
        }
        let message = self.no_turn(number, &request).to_string();
        Err(ProviderError::new(ProviderErrorKind::InvalidRequest, message))
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.log().requests.iter().cloned().collect()
    }

    pub(super) fn request_count(&self) -> u64 {
        self.log().count
    }

    fn try_entry(&self, entry: &PreparedEntry, number: u64, request: &Request) -> Option<Arc<[Op]>> {
        match entry {
            PreparedEntry::Turn { when, repeat, used, answer } => {
                if !when.holds(number, &request.messages) {
                    return None;
                }
                // Two streams may want the same turn at once: the first one to mark it gets it.
                if used.swap(true, Ordering::Relaxed) && !repeat {
                    return None;
                }
                Some(match answer {
                    PreparedTurn::Fixed(ops) => Arc::clone(ops),
                    PreparedTurn::Quoting(turn) => compile(&self.model, turn, &quoted_request(request)),
                })
            }
            PreparedEntry::Respond(respond) => {
                respond(request).map(|turn| compile(&self.model, &turn, &quoted_request(request)))
            }
        }
    }

    fn no_turn<'a>(&'a self, number: u64, request: &Request) -> NoMatchingTurn<'a> {
        let unused = self.entries.iter().enumerate().filter_map(|(index, entry)| match entry {
            PreparedEntry::Turn { used, repeat, .. } if used.load(Ordering::Relaxed) && !repeat => None,
            PreparedEntry::Turn { when, .. } => Some((index + 1, UnusedEntry::Turn(when))),
            PreparedEntry::Respond(_) => Some((index + 1, UnusedEntry::Closure)),
        });
        NoMatchingTurn {
            scenario: self.name.as_deref(),
            number,
            entries: self.entries.len(),
            unused: unused.collect(),
            last_text: last_text(&request.messages),
        }
    }

    /// The log is consistent after every statement that holds the lock, so a panic elsewhere cannot have corrupted it.
    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PreparedEntry {
    fn new(model: &str, entry: Entry) -> Self {
        match entry {
            Entry::Respond(respond) => Self::Respond(respond),
            Entry::Turn(turn) => {
                let (when, repeat) = (turn.when.clone(), turn.repeat);
                let answer = if quotes_request(&turn) {
                    PreparedTurn::Quoting(Box::new(turn))
                } else {
                    PreparedTurn::Fixed(compile(model, &turn, &QuotedRequest::default()))
                };
                Self::Turn { when, repeat, used: AtomicBool::new(false), answer }
            }
        }
    }
}

impl Log {
    /// Returns the number of the request, starting at 1.
    fn record(&mut self, request: Request) -> u64 {
        if self.requests.len() == REQUEST_LOG_MAX {
            self.requests.pop_front();
        }
        self.requests.push_back(request);
        self.count += 1;
        self.count
    }
}

fn quoted_request(request: &Request) -> QuotedRequest {
    QuotedRequest {
        last_tool_result: last_tool_result(&request.messages),
        last_text: last_text(&request.messages),
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.len();
        f.debug_struct("Script").field("name", &self.name).field("entries", &entries).finish_non_exhaustive()
    }
}
