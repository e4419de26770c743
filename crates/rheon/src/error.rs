//! `Error`: what went wrong, and what to do next.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use rheon_agent::{AgentError, BuildError, PermissionError};
use rheon_providers::RegistryError;
use rheon_types::{AgentOutput, ClientError, OutputError, ProviderErrorKind, RunFailure};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, and what to do next.
///
/// It prints as one or two lines, the second with the next step; `{:?}` prints the same, so that an error that leaves `main`
/// can be read.
///
/// ```
/// # use rheon::Session;
/// # #[tokio::main]
/// # async fn main() {
/// let error = Session::builder("no/such/directory").open().await.err().unwrap();
/// assert_eq!(error.kind(), rheon::ErrorKind::Directory);
/// assert_eq!(
///     error.to_string(),
///     "cannot work in no/such/directory: the directory does not exist\n\
///      help: create it, or pass another path to Session::builder",
/// );
/// # }
/// ```
pub struct Error {
    kind: ErrorKind,
    message: String,
    help: Option<String>,
    output: Option<Arc<AgentOutput>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What kind of error it is, to decide by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no API key for the model.
    MissingKey,
    /// No vendor has a model of that name, or no model is named.
    UnknownModel,
    /// The directory of a session cannot be used.
    Directory,
    /// The code runs outside a tokio runtime.
    NoRuntime,
    /// A run is in progress.
    Busy,
    /// Settings contradict each other, or one of them is invalid.
    Settings,
    /// The session cannot be opened, resumed or saved.
    Session,
    /// The sandbox or the tools cannot be set up.
    Tools,
    /// The model service cannot be reached, or refused the request.
    Provider,
    /// The run failed for another reason.
    Run,
    /// The answer does not match the requested type.
    Output,
    /// The connection to the session is closed.
    Closed,
    /// Something else, for instance reading a file.
    Other,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        Self { kind, message: message.to_string(), help: None, output: None, source: None }
    }

    pub(crate) fn help(mut self, help: impl fmt::Display) -> Self {
        self.help = Some(help.to_string());
        self
    }

    pub(crate) fn because(mut self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// An error of your own, for a function that returns [`Result`].
    pub fn other(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Other, message)
    }

    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What went wrong, without the next step.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What to do next, where that is known.
    pub fn next_step(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// What a failed run left behind: its messages, usage and cost.
    pub fn output(&self) -> Option<&Arc<AgentOutput>> {
        self.output.as_ref()
    }

    pub(crate) fn no_runtime() -> Self {
        Self::new(ErrorKind::NoRuntime, "no tokio runtime is running on this thread")
            .help("call this from async code under #[tokio::main], or inside Runtime::block_on")
    }

    pub(crate) fn conflict(one: &str, other: &str) -> Self {
        Self::new(ErrorKind::Settings, format_args!("{one} and {other} contradict each other"))
            .help("keep one of them")
    }

    pub(crate) fn missing_key(vendor: &str, variables: &[String]) -> Self {
        let variable = variables.first().map_or("the vendor's variable", String::as_str);
        Self::new(ErrorKind::MissingKey, format_args!("no API key for {vendor}: {variable} is not set"))
            .help(format_args!("set {variable}, or pass a key with .key({vendor:?}, ..)"))
    }

    /// A run that failed.
    pub(crate) fn failed(failure: RunFailure, output: Arc<AgentOutput>) -> Self {
        let kind = match &failure {
            RunFailure::Provider { .. } => ErrorKind::Provider,
            RunFailure::Store { .. } => ErrorKind::Session,
            RunFailure::Output { .. } => ErrorKind::Output,
            RunFailure::Tool { .. }
            | RunFailure::Window { .. }
            | RunFailure::NothingToContinue { .. }
            | RunFailure::Panic { .. } => ErrorKind::Run,
        };
        let error = Self { output: Some(output), ..Self::new(kind, &failure) };
        let error = match &failure {
            RunFailure::Provider { error: cause } => match provider_help(cause.kind) {
                Some(help) => error.help(help),
                None => error,
            },
            RunFailure::Store { .. } => {
                error.help("free disk space or fix the permissions, then resume the session")
            }
            RunFailure::Output { .. } => {
                error.help("make the type simpler, or describe its fields in doc comments")
            }
            RunFailure::Window { .. } => {
                error.help("start a new session, or use a model with a larger context window")
            }
            RunFailure::NothingToContinue { .. } => error.help("send a prompt instead"),
            RunFailure::Tool { .. } | RunFailure::Panic { .. } => error,
        };
        error.because(failure)
    }
}

fn provider_help(kind: ProviderErrorKind) -> Option<&'static str> {
    match kind {
        ProviderErrorKind::Auth => Some("check the API key and what it may be used for"),
        ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded => {
            Some("wait and run again, or name a fallback model")
        }
        ProviderErrorKind::Network => {
            Some("check the network and the address of the service, then run again")
        }
        _ => None,
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<AgentError> for Error {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Busy => Self::new(ErrorKind::Busy, "the agent is already running a prompt").help(
                "wait for the run to end, speak to it with steer() or follow_up(), or build another agent",
            ),
            AgentError::NoRuntime => Self::no_runtime(),
            AgentError::EmptyPrompt => empty_prompt(),
            AgentError::NotAUserMessage => Self::new(ErrorKind::Settings, &error).because(error),
            AgentError::Failed { failure, output } => Self::failed(failure, output),
            AgentError::Lost(_) | AgentError::UnreadableMessages(_) => {
                Self::new(ErrorKind::Run, &error).because(error)
            }
        }
    }
}

pub(crate) fn empty_prompt() -> Error {
    Error::new(ErrorKind::Settings, "the prompt is empty").help("say what the agent should do")
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::NoProvider => no_model(),
            BuildError::EmptyBatch
            | BuildError::BroadcastCapacity(_)
            | BuildError::DuplicateToolSource(_)
            | BuildError::Tools(_) => Self::new(ErrorKind::Settings, &error).because(error),
        }
    }
}

pub(crate) fn no_model() -> Error {
    Error::new(ErrorKind::UnknownModel, "no model is set")
        .help("name one with .model(\"vendor/model\"), or pass your own with .provider(..)")
}

impl From<RegistryError> for Error {
    fn from(error: RegistryError) -> Self {
        match &error {
            RegistryError::NoVendor { name, candidates } => {
                let example = candidates.first().map_or("anthropic/claude-sonnet-4-5", String::as_str);
                let example = example.to_owned();
                Self::new(
                    ErrorKind::UnknownModel,
                    format_args!("unknown model {name:?}: it does not name a vendor"),
                )
                .help(format_args!("write vendor/model, for example {example}"))
                .because(error)
            }
            RegistryError::UnknownVendor { name, vendor, did_you_mean } => {
                let advice = did_you_mean.clone();
                Self::new(
                    ErrorKind::UnknownModel,
                    format_args!("unknown model {name:?}: unknown vendor {vendor:?}"),
                )
                .help(advice)
                .because(error)
            }
            RegistryError::Vendor(_) | RegistryError::Auth(_) => {
                Self::new(ErrorKind::Settings, &error).because(error)
            }
        }
    }
}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        match &error {
            ClientError::Busy { .. } => {
                Self::new(ErrorKind::Busy, "this session is already running a prompt")
                    .help("wait for the run to end, cancel it, or open another session")
            }
            ClientError::Invalid { .. } => Self::new(ErrorKind::Settings, &error),
            ClientError::Closed { .. } => Self::new(ErrorKind::Closed, &error).help("open the session again"),
            ClientError::UnknownApproval { .. }
            | ClientError::NotAllowed { .. }
            | ClientError::NotFound { .. }
            | ClientError::CutOff { .. }
            | ClientError::Failed { .. } => Self::new(ErrorKind::Session, &error),
            _ => Self::new(ErrorKind::Session, &error),
        }
        .because(error)
    }
}

impl From<OutputError> for Error {
    fn from(error: OutputError) -> Self {
        Self::new(ErrorKind::Output, &error).because(error)
    }
}

macro_rules! from {
    ($($(#[$condition:meta])* $type:ty => $kind:ident;)*) => {$(
        $(#[$condition])*
        impl From<$type> for Error {
            fn from(error: $type) -> Self {
                Self::new(ErrorKind::$kind, &error).because(error)
            }
        }
    )*};
}

from! {
    PermissionError => Run;
    rheon_providers::scripted::ScenarioError => Settings;
    rheon_providers::VendorError => Settings;
    rheon_types::ProviderError => Provider;
    rheon_types::StoreError => Session;
    std::io::Error => Other;
    serde_json::Error => Other;
    #[cfg(feature = "tools")]
    rheon_tools::ToolkitError => Tools;
    #[cfg(feature = "tools")]
    rheon_policy::PolicyError => Settings;
    #[cfg(feature = "store")]
    rheon_store::sessions::SessionFileError => Session;
    #[cfg(feature = "store")]
    crate::replay::ReplaySessionError => Session;
    #[cfg(feature = "session")]
    rheon_app::config::ConfigError => Settings;
}
