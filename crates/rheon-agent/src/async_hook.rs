//! Hooks made of async functions: one function for one point of a run.

use std::future::Future;

use rheon_types::{AgentOutput, Amendment, Answer, Flow, History, Hook, ToolCall, ToolResult, Usage};

macro_rules! async_hook {
    (
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $given:ty),+) -> $answer:ty,
        $point:ident($($parameter:ident: $type:ty),+)
    ) => {
        $(#[$doc])*
        pub fn $name<F, A>(function: F) -> impl Hook + 'static
        where
            F: Fn($($given),+) -> A + Send + Sync + 'static,
            A: Future<Output: Into<$answer>> + Send + 'static,
        {
            struct Function<F>(F);

            impl<F, A> Hook for Function<F>
            where
                F: Fn($($given),+) -> A + Send + Sync,
                A: Future<Output: Into<$answer>> + Send + 'static,
            {
                fn name(&self) -> &str {
                    stringify!($name)
                }

                fn $point<'a>(&'a self, $($parameter: $type),+) -> Answer<'a, $answer> {
                    let answer = (self.0)($($argument.clone()),+);
                    Answer::later(async move { answer.await.into() })
                }
            }

            Function(function)
        }
    };
}

async_hook! {
    /// Before a run begins: the conversation so far and how many runs the session had. A veto, or `false`, ends the run.
    before_run(history: History, run_index: usize) -> Flow,
    before_run(history: &'a History, run_index: usize)
}

async_hook! {
    /// After a run has ended.
    after_run(output: AgentOutput) -> (),
    after_run(output: &'a AgentOutput)
}

async_hook! {
    /// Before each turn: the conversation so far and the index of the turn. A veto, or `false`, ends the run.
    before_turn(history: History, turn_index: u32) -> Flow,
    before_turn(history: &'a History, turn_index: u32)
}

async_hook! {
    /// After each turn: the conversation so far and the tokens of the turn.
    after_turn(history: History, usage: Usage) -> (),
    after_turn(history: &'a History, usage: &'a Usage)
}

async_hook! {
    /// Before a tool runs, after all approvals. A veto, or `false`, skips the call; the model reads why.
    before_tool(call: ToolCall) -> Flow,
    before_tool(call: &'a ToolCall)
}

async_hook! {
    /// After a tool has run: the call, its result, and whether it failed. The amendment changes what the model reads.
    after_tool(call: ToolCall, result: ToolResult, is_error: bool) -> Amendment,
    after_tool(call: &'a ToolCall, result: &'a ToolResult, is_error: bool)
}

async_hook! {
    /// When the model has nothing more to do: the conversation, and how often the run was kept from stopping. The text of a veto is
    /// said to the model, and the run continues.
    before_stop(history: History, vetoes: u32) -> Flow,
    before_stop(history: &'a History, vetoes: u32)
}
