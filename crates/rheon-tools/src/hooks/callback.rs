//! `HookCallbacks`: hooks that are functions of another program and use the same JSON as commands.

use std::time::Duration;

use rheon_types::BoxFuture;
use serde_json::Value;

use crate::hooks::run::HookExit;

/// Calls hook functions of another program.
pub trait HookCallbacks: Send + Sync {
    /// Calls the function `id` with the input a command would read. Returns what a command would print, or why the
    /// function failed. The future is dropped when the answer is no longer needed.
    fn call<'a>(&'a self, id: &'a str, input: Value) -> BoxFuture<'a, Result<Value, String>>;
}

/// Calls a function as if it were a command.
pub(crate) async fn call_as_hook(
    callbacks: &dyn HookCallbacks,
    id: &str,
    input: &[u8],
    timeout: Duration,
) -> HookExit {
    let input = match serde_json::from_slice(input) {
        Ok(input) => input,
        Err(error) => return HookExit::NotRun(format!("was not called: {error}")),
    };
    match tokio::time::timeout(timeout, callbacks.call(id, input)).await {
        Err(_) => HookExit::TimedOut(timeout),
        Ok(Err(problem)) => HookExit::NotRun(format!("failed: {problem}")),
        Ok(Ok(Value::Null)) => exited_with(String::new()),
        Ok(Ok(output @ Value::Object(_))) => exited_with(output.to_string()),
        Ok(Ok(other)) => HookExit::NotRun(format!("returned {other} instead of an object")),
    }
}

fn exited_with(text: String) -> HookExit {
    HookExit::Exited { code: Some(0), stdout: text.into(), stderr: String::new().into() }
}
