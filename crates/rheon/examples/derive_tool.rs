//! Two tools, each a struct, its doc comments and an async function; one keeps something between calls. Offline.
//!
//! Run it with `cargo run -p rheon --example derive_tool`.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use rheon::prelude::*;
use rheon::providers::scripted::{Scenario, ScriptedProvider, Turn};

/// Says how warm it is in a city.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(effect = "pure")]
struct Weather {
    /// The city, in English.
    city: String,
    /// In which unit; Celsius unless given.
    #[serde(default)]
    unit: Unit,
}

#[derive(Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
enum Unit {
    #[default]
    Celsius,
    Fahrenheit,
}

impl Weather {
    async fn run(self, context: ToolContext) -> Result<String, ToolError> {
        context.progress("looking out of the window");
        let celsius = match self.city.as_str() {
            "Oslo" => 4,
            "Cairo" => 31,
            // Told to the model, which can try something else.
            other => {
                return Err(ToolError::Failed(format!(
                    "no weather is known for {other:?}; try Oslo or Cairo"
                )));
            }
        };
        Ok(match self.unit {
            Unit::Celsius => format!("{celsius} degrees Celsius in {}", self.city),
            Unit::Fahrenheit => format!("{} degrees Fahrenheit in {}", celsius * 9 / 5 + 32, self.city),
        })
    }
}

/// What all calls of `note` share.
type Notebook = Arc<Mutex<Vec<String>>>;

/// Writes a line down.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(name = "note", effect = "idempotent", state = Notebook)]
struct TakeNote {
    /// What to write.
    line: String,
}

impl TakeNote {
    async fn run(self, notebook: &Notebook, _context: ToolContext) -> ToolResult {
        let mut lines = notebook.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(self.line);
        ToolResult::text(format!("line {} is written", lines.len())).with_details(json!({ "lines": *lines }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let scenario = Scenario::new()
        .turn(Turn::call("weather", json!({ "town": "Oslo" })))
        .turn(Turn::call("weather", json!({ "city": "Atlantis" })))
        .turn(Turn::call("weather", json!({ "city": "Oslo", "unit": "fahrenheit" })))
        .turn(Turn::call("note", json!({ "line": "Oslo: 39 F" })))
        .turn("I wrote it down: {{last_tool_result}}.");
    let notebook = Notebook::default();
    let agent = Agent::builder()
        .provider(ScriptedProvider::new(scenario))
        .tool(Weather::tool())
        .tool(TakeNote::tool_with(Arc::clone(&notebook)))
        .permission_policy(AllowAll)
        .on_event(|event| match &event.kind {
            AgentEvent::Tool(ToolEvent::Blocked { reason, .. }) => println!("not run: {reason}"),
            AgentEvent::Tool(ToolEvent::End { name, result, .. }) => println!("{name}: {}", result.as_text()),
            _ => {}
        })
        .build()?;

    println!("{}", serde_json::to_string_pretty(&Weather::tool().parameters_schema())?);
    println!("{}", agent.run("How warm is it in Oslo? Write it down.").await?.text);
    println!("{:?}", notebook.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(())
}
