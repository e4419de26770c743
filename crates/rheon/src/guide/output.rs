//! An answer can be a value of a type of your own instead of a text.
//!
//! The type says what the model is to answer: its schema goes with each request, doc comments included. The last answer of a run is
//! checked against it. One that does not fit goes back to the model with what is wrong, twice unless you say otherwise; then the run
//! has failed.
//!
//! ```
//! use rheon::prelude::*;
//! use rheon::providers::scripted::{Scenario, ScriptedProvider};
//!
//! #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
//! struct Review {
//!     /// One sentence.
//!     verdict: String,
//!     /// From 1 to 5.
//!     stars: u8,
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     // The first answer is a text, the second has a word where a number belongs.
//!     let scenario = Scenario::new()
//!         .turn("I like it: four stars!")
//!         .turn(r#"{ "verdict": "I like it.", "stars": "four" }"#)
//!         .turn(r#"{ "verdict": "I like it.", "stars": 4 }"#);
//!     let model = ScriptedProvider::new(scenario);
//!     let agent = Agent::builder().provider(model).output_schema::<Review>().build()?;
//!
//!     let output = agent.run("Review this.").await?;
//!     assert_eq!(output.turns, 3);
//!     assert_eq!(output.parse::<Review>()?, Review { verdict: "I like it.".into(), stars: 4 });
//!     Ok(())
//! }
//! ```
