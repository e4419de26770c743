//! A tool is something the model can do: a name, a description, a schema of its arguments, and what happens.
//!
//! # A struct is a tool
//!
//! The struct is the arguments, its doc comments are what the model reads, and `run` is what happens.
//!
//! ```
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//!
//! /// Says how warm it is in a city.
//! #[derive(Deserialize, JsonSchema, Tool)]
//! #[tool(effect = "pure")]
//! struct Weather {
//!     /// The city, in English.
//!     city: String,
//! }
//!
//! impl Weather {
//!     async fn run(self, _context: ToolContext) -> Result<String, ToolError> {
//!         match self.city.as_str() {
//!             "Oslo" => Ok("4 degrees".into()),
//!             other => Err(ToolError::Failed(format!("no weather is known for {other:?}"))),
//!         }
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let scenario = Scenario::new()
//!         .turn(Turn::call("weather", json!({ "city": "Oslo" })))
//!         .turn("It has {{last_tool_result}}.");
//!     let agent =
//!         Agent::builder().provider(ScriptedProvider::new(scenario)).tool(Weather::tool()).build()?;
//!
//!     assert_eq!(agent.run("How warm is it in Oslo?").await?.text, "It has 4 degrees.");
//!     Ok(())
//! }
//! ```
//!
//! `serde` and `schemars` have to be dependencies, or be pointed to: `#[serde(crate = "rheon::serde")]` and
//! `#[schemars(crate = "rheon::schemars")]` on the struct. What else `#[tool(...)]` takes, for instance what all calls share, is
//! said at [`derive@crate::Tool`]; `cargo run -p rheon --example derive_tool` shows it.
//!
//! # By hand
//!
//! The trait does the same for tools whose names or schemas are not known before the program runs.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};
//!
//! /// Says how many of something are in stock.
//! struct Stock {
//!     items: BTreeMap<String, u32>,
//! }
//!
//! impl Tool for Stock {
//!     fn name(&self) -> &str {
//!         "stock"
//!     }
//!
//!     fn description(&self) -> &str {
//!         "Says how many of an item are in stock. Items are named in the singular, for instance \"bolt\"."
//!     }
//!
//!     // Arguments that do not fit are answered for you; the model sees what is wrong with them.
//!     fn parameters_schema(&self) -> Value {
//!         json!({
//!             "type": "object",
//!             "properties": { "item": { "type": "string" } },
//!             "required": ["item"],
//!         })
//!     }
//!
//!     // It only looks, so it may run without a question. The default is `Unsafe`: it needs approval.
//!     fn effect(&self) -> Effect {
//!         Effect::Pure
//!     }
//!
//!     fn execute<'a>(
//!         &'a self,
//!         arguments: Arc<Value>,
//!         context: ToolContext,
//!     ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
//!         Box::pin(async move {
//!             context.progress("counting");
//!             let item = arguments["item"].as_str().unwrap_or_default();
//!             match self.items.get(item) {
//!                 Some(count) => Ok(ToolResult::text(format!("{count} in stock"))),
//!                 // Told to the model, which can try something else. `ToolError::Fatal` would end the run.
//!                 None => Err(ToolError::Failed(format!("there is no item {item:?}; there are: bolt"))),
//!             }
//!         })
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let scenario = Scenario::new()
//!         .turn(Turn::call("stock", json!({ "item": "bolts" })))
//!         .turn(Turn::call("stock", json!({ "item": "bolt" })).when_tool_result_is_error())
//!         .turn("We have {{last_tool_result}}.");
//!     let agent = Agent::builder()
//!         .provider(ScriptedProvider::new(scenario))
//!         .tool(Stock { items: BTreeMap::from([("bolt".into(), 42)]) })
//!         .build()?;
//!
//!     let output = agent.run("How many bolts do we have?").await?;
//!     assert_eq!(output.text, "We have 42 in stock.");
//!     Ok(())
//! }
//! ```
//!
//! The tools of one turn run at the same time, each as a task of its own: one that panics or blocks harms no other. See
//! [`ToolExecution`](crate::agent::ToolExecution) to run them in turn, and [`Gate`](crate::types::Gate) to decide which may run.
