//! A turn of a run after a short and after a long conversation: the window is looked after, the request assembled, what is new
//! counted.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use rheon::Agent;
use rheon::agent::ExecutionLimits;
use rheon::context::{Recitation, TokenCounter, WindowSettings};
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
use rheon::types::{
    AllowAll, BoxFuture, ContinuationKind, Effect, History, RunEnd, Tool, ToolContext, ToolError, ToolResult,
};
use serde_json::{Value, json};

use crate::conversation::{TOOL, conversation};
use crate::race::{race, way, whole};
use crate::report;

const LENGTHS: [usize; 3] = [101, 1_001, 10_001];
const RESULT_BYTES: usize = 200;
const TURNS: u32 = 200;
const ROUNDS: usize = 20;
/// Nothing is ever made shorter here, but it is asked every time whether it must be.
const WINDOW_TOKENS: u64 = 1_000_000_000;

pub(crate) fn measure() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime of one thread");
    let histories = LENGTHS.map(|length| conversation(length, RESULT_BYTES));
    let run = |history: &History, turns: u32| {
        let agent = agent(history, turns);
        let start = Instant::now();
        let output = runtime.block_on(async {
            let stream = agent.continue_run(ContinuationKind::Default).expect("the run begins");
            stream.finish().await.expect("the run ends in order")
        });
        let time = start.elapsed();
        assert!(matches!(output.end, RunEnd::Limit { .. }) && output.turns == turns, "all turns are taken");
        time
    };
    let run = &run;
    let runs = histories.iter().flat_map(|history| {
        [1, 1 + TURNS].map(|turns| way(name(history.len(), turns), move || run(history, turns)))
    });
    let longest = histories.last().expect("there is one");
    let counter = TokenCounter::default();
    let others = [
        whole("first", || drop(black_box(agent(longest, 1)))),
        whole("again", || {
            let tokens: u64 = longest.iter().map(|message| counter.entry(message)).sum();
            assert!(black_box(tokens) > 0, "something is counted");
        }),
    ];
    let times = race(ROUNDS, runs.chain(others));
    for length in LENGTHS {
        let beyond = times.best(&name(length, 1 + TURNS)) - times.best(&name(length, 1));
        report(&format!("turn/{}", length - 1), beyond / f64::from(TURNS));
    }
    report("turn/first", times.best("first"));
    report("turn/again", times.best("again"));
}

fn name(messages: usize, turns: u32) -> String {
    format!("{messages}/{turns}")
}

/// An agent with this conversation, which shares no buffer with any other.
fn agent(history: &History, turns: u32) -> Agent {
    let scenario = Scenario::new().turn(Turn::call(TOOL, json!({ "path": "src/lib.rs" })).repeat());
    let window = WindowSettings { tokens_max: Some(WINDOW_TOKENS), ..WindowSettings::default() };
    let builder = Agent::builder().provider(ScriptedProvider::new(scenario)).model("scripted").tool(Look);
    let limits = ExecutionLimits { turns_max: Some(turns), tokens_max: None, duration_max: None };
    let builder = builder.permission_policy(AllowAll).limits(limits).window(window);
    let builder =
        builder.reminder(Arc::new(Recitation::default())).history(history.iter().cloned().collect());
    builder.build().expect("the agent of a benchmark can be built")
}

/// A tool with a result worth counting.
struct Look;

impl Tool for Look {
    fn name(&self) -> &str {
        TOOL
    }

    fn description(&self) -> &str {
        "Looks at a file."
    }

    fn parameters_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
    }

    fn effect(&self) -> Effect {
        Effect::Pure
    }

    fn execute<'a>(
        &'a self,
        _arguments: Arc<Value>,
        _context: ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("    1  let parcel = Parcel::new(weight);\n".repeat(5))) })
    }
}
