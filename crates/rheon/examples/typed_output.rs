//! Answers as values of your own types. An answer that does not fit is sent back to the model.
//!
//! `ANTHROPIC_API_KEY=... cargo run -p rheon --example typed_output`

use rheon::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Plan {
    /// What to do, in order.
    steps: Vec<Step>,
}

#[derive(Deserialize, JsonSchema)]
struct Step {
    title: String,
    /// How long it takes a person who knows the code.
    hours: f32,
}

#[tokio::main]
async fn main() -> rheon::Result<()> {
    let session = Session::builder(".").model("anthropic/claude-sonnet-4-5").open().await?;
    let plan: Plan = session.run_as("Plan the next release of this project.").await?;
    for step in &plan.steps {
        println!("{:>3} h  {}", step.hours, step.title);
    }
    println!("{:>3} h  in all", plan.steps.iter().map(|step| step.hours).sum::<f32>());
    Ok(())
}
