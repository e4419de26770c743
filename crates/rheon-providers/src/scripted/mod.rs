//! `ScriptedProvider`: a provider that plays a scenario, for tests and offline use.
//!
//! A scenario is a list of turns. For each request, the provider plays the first turn that is not used up and whose
//! condition matches. In TOML:
//!
//! ```toml
//! name = "look, then answer"
//!
//! [[turns]]
//! steps = [
//!     { type = "text", text = "Let me look." },
//!     { type = "tool_call", name = "read", args = { path = "a.txt" } },
//! ]
//!
//! [[turns]]
//! when = { tool = "read" }
//! usage = { input = 120, output = 9 }
//! steps = [{ type = "text", text = "It says: {{last_tool_result}}" }]
//! ```
//!
//! | key of a turn | meaning |
//! |---|---|
//! | `when` | conditions that must all match: `last_text_contains`, `tool`, `tool_result_contains`, `tool_result_is_error`, `request` |
//! | `repeat` | the turn can be used any number of times |
//! | `steps` | the streamed steps, see below |
//! | `usage`, `stop` | the token counts, and the stop reason if it does not follow from the steps |
//!
//! | step | keys | effect on the stream |
//! |---|---|---|
//! | `text` | `text`, `chunk_chars` | deltas of that many characters, or one per word |
//! | `thinking` | `text`, `signature`, `chunk_chars` | the same as thinking, then the signature |
//! | `tool_call` | `name`, `args`, `id`, `raw_args`, `partial`, `chunk_chars` | a tool call; `raw_args` is sent verbatim, `partial` omits the end of the call |
//! | `delay` | `ms` | waits |
//! | `error` | `kind`, `message`, `retry_after_ms` | fails |
//! | `cut` | | ends without a `Done` |
//! | `hang` | | sends nothing until canceled |
//!
//! In a text, in thinking and in strings of `args`, `{{last_tool_result}}` and `{{last_text}}` are replaced by the text of
//! the last tool result and of the last message of the request.

mod choose;
mod compile;
mod decode;
mod error;
mod fields;
mod locate;
mod parse;
mod play;
mod scenario;
mod script;

use std::sync::Arc;

use rheon_types::{ChunkStream, Provider, Request};
use tokio_util::sync::CancellationToken;

pub use error::{SCENARIO_BYTES_MAX, ScenarioError, ScenarioPosition};
pub(crate) use locate::position_at;
pub use scenario::{Scenario, Turn};
pub use script::REQUEST_LOG_MAX;

use play::Play;
use script::Script;

/// A provider that plays a [`Scenario`]. Clones share its state.
#[derive(Debug, Clone)]
pub struct ScriptedProvider {
    script: Arc<Script>,
}

impl ScriptedProvider {
    /// Creates a provider that plays `scenario` from the start.
    pub fn new(scenario: Scenario) -> Self {
        Self { script: Arc::new(Script::new(scenario)) }
    }

    /// The most recent requests, oldest first: at most [`REQUEST_LOG_MAX`].
    pub fn requests(&self) -> Vec<Request> {
        self.script.requests()
    }

    /// The total number of requests.
    pub fn request_count(&self) -> u64 {
        self.script.request_count()
    }
}

impl Provider for ScriptedProvider {
    fn id(&self) -> &str {
        "scripted"
    }

    /// Delays need a tokio runtime with the timer enabled. The request is counted when the stream is first polled.
    fn stream(&self, request: Request, cancel: CancellationToken) -> ChunkStream {
        Box::pin(Play::new(Arc::clone(&self.script), request, cancel))
    }
}

#[cfg(test)]
mod choose_tests;
#[cfg(test)]
mod compile_tests;
#[cfg(test)]
mod locate_tests;
#[cfg(test)]
mod parse_tests;
