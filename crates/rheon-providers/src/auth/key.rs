//! `KeySource`: where an API key comes from.

use std::fmt;

use http::HeaderValue;
use secrecy::{ExposeSecret, SecretString};

use super::AuthError;
use super::command::SecretCommand;
use crate::env::ProviderEnv;

/// Where the API key of a service comes from.
///
/// The config wins over the environment: first a key in the config, then a command in the config, then environment
/// variables. Environment variables are read for every request, so that nothing is copied and changes take effect. A
/// command runs when the first request needs it, and again after [`KeySource::forget`].
pub(crate) struct KeySource {
    vendor: String,
    location: KeyLocation,
    /// Help for a missing key, for instance `set OPENROUTER_API_KEY, or api_key_command in the config`.
    remedy: String,
}

enum KeyLocation {
    Config(SecretString),
    Command(SecretCommand),
    Variables { names: Vec<String>, environment: ProviderEnv },
}

/// An API key and where it came from.
pub(crate) struct Key {
    pub(crate) secret: SecretString,
    pub(crate) origin: Origin,
    vendor: String,
}

/// Where a key came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    Config,
    Command,
    Variable(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config => f.write_str("the config"),
            Self::Command => f.write_str("api_key_command"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

impl KeySource {
    /// A key from the config. Surrounding whitespace is trimmed.
    pub(crate) fn config(vendor: &str, key: SecretString) -> Self {
        let key = SecretString::from(key.expose_secret().trim());
        Self::at(vendor, KeyLocation::Config(key), "the key in the config is empty".to_owned())
    }

    /// The output of a command.
    pub(crate) fn command(vendor: &str, command_line: &str) -> Self {
        Self::at(vendor, KeyLocation::Command(SecretCommand::new(command_line)), String::new())
    }

    /// The first of the environment variables `names` that is set.
    pub(crate) fn variables(vendor: &str, names: &[String], environment: &ProviderEnv) -> Self {
        let remedy = match names.split_last() {
            None => "set api_key_command in the config".to_owned(),
            Some((only, [])) => format!("set {only}, or api_key_command in the config"),
            Some((last, others)) => {
                format!("set {} or {last}, or api_key_command in the config", others.join(", "))
            }
        };
        let location = KeyLocation::Variables { names: names.to_vec(), environment: environment.clone() };
        Self::at(vendor, location, remedy)
    }

    fn at(vendor: &str, location: KeyLocation, remedy: String) -> Self {
        Self { vendor: vendor.to_owned(), location, remedy }
    }

    /// The key, if there is one.
    pub(crate) async fn find(&self) -> Result<Option<Key>, AuthError> {
        let (secret, origin) = match &self.location {
            KeyLocation::Config(secret) if secret.expose_secret().is_empty() => return Ok(None),
            KeyLocation::Config(secret) => (secret.clone(), Origin::Config),
            KeyLocation::Command(command) => {
                let failed = |problem| AuthError::Command {
                    vendor: self.vendor.clone(),
                    setting: Origin::Command.to_string(),
                    problem,
                };
                (command.get(failed).await?, Origin::Command)
            }
            KeyLocation::Variables { names, environment } => {
                match environment.first(names.iter().map(String::as_str)) {
                    Some((name, value)) => (SecretString::from(value), Origin::Variable(name.to_owned())),
                    None => return Ok(None),
                }
            }
        };
        Ok(Some(Key { secret, origin, vendor: self.vendor.clone() }))
    }

    /// The error for a missing key.
    pub(crate) fn missing(&self) -> AuthError {
        AuthError::Missing { vendor: self.vendor.clone(), remedy: self.remedy.clone() }
    }

    /// Whether a key is configured. Does not run a command: a configured command counts as a key.
    pub(crate) fn is_configured(&self) -> bool {
        match &self.location {
            KeyLocation::Config(secret) => !secret.expose_secret().is_empty(),
            KeyLocation::Command(_) => true,
            KeyLocation::Variables { names, environment } => {
                environment.first(names.iter().map(String::as_str)).is_some()
            }
        }
    }

    /// Forgets the output of a command. Returns whether the next key may differ.
    pub(crate) fn forget(&self) -> bool {
        match &self.location {
            KeyLocation::Command(command) => command.forget(),
            KeyLocation::Config(_) | KeyLocation::Variables { .. } => false,
        }
    }

    /// All values the key may have, as far as known.
    pub(crate) fn secrets(&self) -> Vec<SecretString> {
        match &self.location {
            KeyLocation::Config(secret) => vec![secret.clone()],
            KeyLocation::Command(command) => command.known(),
            KeyLocation::Variables { names, environment } => {
                names.iter().filter_map(|name| environment.var(name)).map(SecretString::from).collect()
            }
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let location = match &self.location {
            KeyLocation::Config(_) => "config".to_owned(),
            KeyLocation::Command(_) => "command".to_owned(),
            KeyLocation::Variables { names, .. } => names.join(", "),
        };
        f.debug_struct("KeySource")
            .field("vendor", &self.vendor)
            .field("place", &location)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("vendor", &self.vendor)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}

impl Key {
    /// The key as text that can be sent: visible ASCII characters only.
    pub(crate) fn text(&self) -> Result<&str, AuthError> {
        let text = self.secret.expose_secret();
        let problem = if text.contains(['\n', '\r']) {
            "it contains a line break"
        } else if !text.is_ascii() {
            "it contains characters that are not ASCII"
        } else if text.bytes().any(|byte| byte.is_ascii_control()) {
            "it contains control characters"
        } else if text.contains(' ') {
            "it contains a space"
        } else {
            return Ok(text);
        };
        Err(self.invalid(problem))
    }

    /// `prefix` and the key as a header value marked sensitive.
    pub(crate) fn header(&self, prefix: &str) -> Result<HeaderValue, AuthError> {
        let text = secrecy::zeroize::Zeroizing::new(format!("{prefix}{}", self.text()?));
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| self.invalid("it contains characters that headers cannot hold"))?;
        value.set_sensitive(true);
        Ok(value)
    }

    fn invalid(&self, problem: &'static str) -> AuthError {
        AuthError::Invalid { vendor: self.vendor.clone(), origin: self.origin.to_string(), problem }
    }
}

/// Whether a request needs a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyNeed {
    /// A missing key is an error.
    Required,
    /// Without a key, the request is sent unauthenticated.
    Optional,
}

impl KeyNeed {
    /// The key from `source`; `None` only if it is optional.
    pub(crate) async fn key(self, source: &KeySource) -> Result<Option<Key>, AuthError> {
        match (source.find().await?, self) {
            (None, Self::Required) => Err(source.missing()),
            (key, Self::Required | Self::Optional) => Ok(key),
        }
    }
}
