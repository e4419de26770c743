//! Tools made from closures, and tools that misbehave.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::{
    BoxFuture, Effect, Task, Tool, ToolContext, ToolError, ToolResult, ToolSet, ToolSource, Worker, run_child,
};
use serde_json::{Value, json};

type Outcome = Result<ToolResult, ToolError>;
type Body = Box<dyn Fn(Arc<Value>, ToolContext) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// A tool made from a closure. Accepts any object and is read-only by default.
pub struct FnTool {
    name: String,
    schema: Value,
    effect: Effect,
    body: Body,
}

impl FnTool {
    /// A tool with this name and body.
    pub fn new<F>(
        name: impl Into<String>,
        body: impl Fn(Arc<Value>, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let body: Body = Box::new(move |arguments, context| Box::pin(body(arguments, context)));
        Self { name: name.into(), schema: json!({ "type": "object" }), effect: Effect::Pure, body }
    }

    /// Sets the schema.
    pub fn schema(mut self, schema: Value) -> Self {
        self.schema = schema;
        self
    }

    /// Sets the effect.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = effect;
        self
    }
}

impl Tool for FnTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        "a tool for tests"
    }

    fn parameters_schema(&self) -> Value {
        self.schema.clone()
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn execute<'a>(&'a self, arguments: Arc<Value>, context: ToolContext) -> BoxFuture<'a, Outcome> {
        (self.body)(arguments, context)
    }
}

/// `echo`: returns its required argument `text`.
pub fn echo() -> FnTool {
    FnTool::new("echo", |arguments, _| async move {
        let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(ToolResult::text(text))
    })
    .schema(json!({
        "type": "object",
        "properties": { "text": { "type": "string" } },
        "required": ["text"],
        "additionalProperties": false
    }))
}

/// `fails`: always returns an error.
pub fn fails() -> FnTool {
    FnTool::new("fails", |_, _| async { Err(ToolError::Failed("it does not work".into())) })
}

/// `fatal`: ends the run.
pub fn fatal() -> FnTool {
    FnTool::new("fatal", |_, _| async { Err(ToolError::Fatal("the disk is on fire".into())) })
}

/// `panics`: panics.
#[allow(clippy::panic, reason = "this is its purpose")]
pub fn panics() -> FnTool {
    FnTool::new("panics", |_, _| async { panic!("a bug in the tool") })
}

/// `hangs`: never returns and ignores cancellation.
pub fn hangs() -> FnTool {
    FnTool::new("hangs", |_, _| std::future::pending())
}

/// `delegate`: lets `worker` run the task in the argument `task`, as the agent `helper`.
pub fn delegate(worker: Arc<dyn Worker>) -> FnTool {
    FnTool::new("delegate", move |arguments, context| {
        let worker = Arc::clone(&worker);
        async move {
            let text = arguments.get("task").and_then(Value::as_str).unwrap_or_default();
            let done = run_child(&*worker, Task::new("helper", text), &context).await;
            let done = done.map_err(|error| ToolError::Failed(error.to_string()))?;
            let child_run_id = Some(done.child.run_id.clone());
            Ok(ToolResult { child_run_id, ..ToolResult::text(done.output.text.clone()) })
        }
    })
}

/// A source whose tools a test sets.
pub struct ChangingTools {
    name: String,
    set: Mutex<Arc<ToolSet>>,
}

impl ChangingTools {
    /// A source without tools.
    pub fn new(name: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), set: Mutex::default() })
    }

    /// Replaces the tools; the instructions stay.
    pub fn set(&self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) {
        self.change(|set| set.tools = tools.into_iter().collect());
    }

    /// Replaces the instructions; the tools stay.
    pub fn set_instructions(&self, instructions: &str) {
        self.change(|set| set.instructions = Some(instructions.into()));
    }

    fn change(&self, change: impl FnOnce(&mut ToolSet)) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = ToolSet::clone(&set);
        change(&mut changed);
        changed.version += 1;
        *set = Arc::new(changed);
    }
}

impl ToolSource for ChangingTools {
    fn name(&self) -> &str {
        &self.name
    }

    fn snapshot(&self) -> Arc<ToolSet> {
        Arc::clone(&self.set.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
