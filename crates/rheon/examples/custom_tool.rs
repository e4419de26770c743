//! A tool of your own beside the standard ones: a struct is its arguments, doc comments are what the model reads.
//!
//! `ANTHROPIC_API_KEY=... cargo run -p rheon --example custom_tool`

use rheon::prelude::*;

/// Look up the current weather in a city.
#[derive(Deserialize, JsonSchema, Tool)]
#[tool(read_only)]
struct Weather {
    /// The city, in English.
    city: String,
}

impl Weather {
    async fn run(self, _context: ToolContext) -> Result<String, ToolError> {
        match self.city.as_str() {
            "Oslo" => Ok("4 degrees, rain".into()),
            // The model reads this and can try something else.
            other => Err(ToolError::Failed(format!("no weather station in {other}"))),
        }
    }
}

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let session =
        Session::builder(".").model("anthropic/claude-sonnet-4-5").tool(Weather::tool()).open().await?;
    println!("{}", session.run("Do I need an umbrella in Oslo?").await?);
    Ok(())
}
