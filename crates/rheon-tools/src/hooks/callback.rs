//! `HookCallbacks`: hooks that are functions of another program, asked in the same JSON as commands are.

use std::time::Duration;

use rheon_types::BoxFuture;
use serde_json::Value;

use crate::hooks::run::HookExit;

/// Reaches the functions of another program that serve as hooks.
pub trait HookCallbacks: Send + Sync {
    /// Calls the function that is known as `id` with what a command would read; gives what a command would print, or why
    /// the function did not do its work. Dropped when nobody waits for the answer any more.
    fn call<'a>(&'a self, id: &'a str, input: Value) -> BoxFuture<'a, Result<Value, String>>;
}

/// Calls one function, as if it were a command.
pub(crate) async fn call_as_hook(
    callbacks: &dyn HookCallbacks,
    id: &str,
    input: &[u8],
    timeout: Duration,
) -> HookExit {
    let input = match serde_json::from_slice(input) {
        Ok(input) => input,
        Err(error) => return HookExit::NotRun(format!("was not asked: {error}")),
    };
    match tokio::time::timeout(timeout, callbacks.call(id, input)).await {
        Err(_) => HookExit::TimedOut(timeout),
        Ok(Err(problem)) => HookExit::NotRun(format!("failed: {problem}")),
        Ok(Ok(Value::Null)) => exited_with(String::new()),
        Ok(Ok(output @ Value::Object(_))) => exited_with(output.to_string()),
        Ok(Ok(other)) => HookExit::NotRun(format!("answered {other} instead of an object")),
    }
}

fn exited_with(text: String) -> HookExit {
    HookExit::Exited { code: Some(0), stdout: text.into(), stderr: String::new().into() }
}
