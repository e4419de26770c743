//! `WithOutput`: answers have the form of a type. `ParseOutput`: and are read as one.

use rheon_agent::AgentBuilder;
use rheon_tools::arguments_schema;
use rheon_types::{AgentOutput, OutputSchema, RunEnd, RunFailure};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// How long the name of a form may be; services refuse longer ones.
const NAME_CHARS_MAX: usize = 64;

/// Asks for answers that have the form of a type.
pub trait WithOutput {
    /// The last answer of each run is to be a `T`, which should be a struct: services want an object. One that is none is sent back
    /// with what is wrong with it, as often as [`CheckSettings::repairs_max`](rheon_agent::CheckSettings) says; then the run has failed.
    /// [`parse`](ParseOutput::parse) reads the answer.
    fn output_schema<T: JsonSchema + DeserializeOwned>(self) -> Self;
}

impl WithOutput for AgentBuilder {
    fn output_schema<T: JsonSchema + DeserializeOwned>(self) -> Self {
        let name = form_name(&T::schema_name());
        self.json_schema(OutputSchema { name, schema: arguments_schema::<T>() })
    }
}

/// Reads answers as values.
pub trait ParseOutput {
    /// The last answer as a `T`, the type that [`output_schema`](WithOutput::output_schema) asked for.
    fn parse<T: DeserializeOwned>(&self) -> Result<T, OutputError>;
}

impl ParseOutput for AgentOutput {
    fn parse<T: DeserializeOwned>(&self) -> Result<T, OutputError> {
        let value =
            self.structured.as_deref().ok_or_else(|| OutputError::Missing { end: self.end.clone() })?;
        serde_path_to_error::deserialize(value).map_err(|error| {
            let path = error.path().to_string();
            OutputError::Unfit { path, problem: error.into_inner().to_string() }
        })
    }
}

/// Why an answer cannot be read as a value.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputError {
    /// The run left no value: none was asked for, or it ended before there was one.
    Missing {
        /// How it ended.
        end: RunEnd,
    },
    /// The value fits the schema but not the type.
    Unfit {
        /// Where in the value.
        path: String,
        /// What is wrong.
        problem: String,
    },
}

impl std::fmt::Display for OutputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing { end: RunEnd::Completed } => f.write_str(
                "the run left no value, since none was asked for; build the agent with `output_schema::<T>()`",
            ),
            Self::Missing { end: RunEnd::Failed { failure: RunFailure::Output { message } } } => {
                write!(f, "the model did not answer in the form that was asked for: {message}")
            }
            Self::Missing { end } => write!(f, "the run ended before there was a value: {end:?}"),
            Self::Unfit { path, problem } => {
                write!(f, "the answer fits the schema but not the type, at {path}: {problem}")
            }
        }
    }
}

impl std::error::Error for OutputError {}

/// The name of a form: what services allow in one.
fn form_name(name: &str) -> String {
    let allowed = |one: char| if one.is_ascii_alphanumeric() || one == '_' || one == '-' { one } else { '_' };
    let name: String = name.chars().take(NAME_CHARS_MAX).map(allowed).collect();
    if name.is_empty() { "output".to_owned() } else { name }
}
