//! What is done, and who can do it.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;

/// Work that is ready to be measured; its result is what it leaves behind.
pub(crate) type Running = Pin<Box<dyn Future<Output = Box<dyn Any>>>>;

/// A system that is compared.
pub(crate) trait System {
    /// Its name and version.
    fn name(&self) -> &'static str;

    /// Builds what a run needs; not measured.
    fn prepare(&self, job: Job) -> Running;
}

/// What a run does.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Job {
    /// So many turns with one call each of a tool that does nothing, then one turn with a text.
    ToolTurns(u32),
    /// One turn whose text comes in so many pieces of five bytes.
    Deltas(u32),
    /// [`RUNS`] runs of one turn with a short text, in a conversation that has so many messages already.
    TextAfter(u32),
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Work {
    /// What one unit is.
    pub(crate) title: &'static str,
    /// The run that is timed.
    pub(crate) job: Job,
    /// By how much its time is divided.
    pub(crate) units: u32,
}

const fn work(title: &'static str, job: Job, units: u32) -> Work {
    Work { title, job, units }
}

/// Every line.
pub(crate) const WORK: &[Work] = &[
    work("tool turn, in a run of 50", Job::ToolTurns(50), 50),
    work("tool turn, in a run of 200", Job::ToolTurns(200), 200),
    work("delta, in an answer of 10,000", Job::Deltas(10_000), 10_000),
    work("text run, after 10 messages", Job::TextAfter(10), RUNS),
    work("text run, after 1,000 messages", Job::TextAfter(1_000), RUNS),
    work("text run, after 10,000 messages", Job::TextAfter(10_000), RUNS),
];

/// How many runs share one preparation, so that the caches are warm for most of them.
const RUNS: u32 = 20;

/// One piece of streamed text: about one token.
pub(crate) const DELTA: &str = "abcd ";

/// What the user says.
pub(crate) const PROMPT: &str = "What does this function do?";

/// A short answer.
pub(crate) const ANSWER: &str = "It adds two numbers and returns the sum of both.";

/// The name of the tool that does nothing.
pub(crate) const NOOP: &str = "noop";

/// What the model is told of it.
pub(crate) const NOOP_DESCRIPTION: &str = "Does nothing.";

/// Its arguments, as the model writes them.
pub(crate) const ARGUMENTS: &str = r#"{"path":"src/lib.rs"}"#;

/// The schema of its arguments.
pub(crate) fn schema() -> serde_json::Value {
    serde_json::json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "additionalProperties": false,
    })
}

/// The text of an earlier message.
pub(crate) fn earlier(index: u32) -> String {
    format!("This is message {index} of a conversation that goes on for a while.")
}

/// What the model answers to its `request`th request, from 0.
pub(crate) enum Reply {
    /// A call of the tool that does nothing.
    Call,
    /// A text in pieces.
    Text(Vec<&'static str>),
}

impl Job {
    pub(crate) fn reply(self, request: u32) -> Reply {
        match self {
            Self::ToolTurns(turns) if request < turns => Reply::Call,
            Self::ToolTurns(_) | Self::TextAfter(_) => Reply::Text(vec![ANSWER]),
            Self::Deltas(deltas) => Reply::Text(vec![DELTA; deltas as usize]),
        }
    }

    /// How many messages the conversation has before the prompt.
    pub(crate) fn messages(self) -> u32 {
        match self {
            Self::TextAfter(messages) => messages,
            Self::ToolTurns(_) | Self::Deltas(_) => 0,
        }
    }

    /// How many runs there are, one after the other in the same conversation.
    pub(crate) fn runs(self) -> u32 {
        match self {
            Self::TextAfter(_) => RUNS,
            Self::ToolTurns(_) | Self::Deltas(_) => 1,
        }
    }

    /// How many turns each run has.
    pub(crate) fn turns(self) -> u32 {
        match self {
            Self::ToolTurns(turns) => turns + 1,
            Self::Deltas(_) | Self::TextAfter(_) => 1,
        }
    }

    /// How long the last answer is.
    pub(crate) fn text_len(self) -> usize {
        match self {
            Self::ToolTurns(_) | Self::TextAfter(_) => ANSWER.len(),
            Self::Deltas(deltas) => DELTA.len() * deltas as usize,
        }
    }
}
