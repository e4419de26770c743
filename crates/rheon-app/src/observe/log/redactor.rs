//! `Redactor`: removes secrets and terminal control characters from log lines.

use rheon_text::secrets::{MARK, is_secret_variable};
use secrecy::{ExposeSecret as _, SecretString};

use crate::memory::redacted;
use crate::sessions::EnvVars;

/// The shortest value that counts as a secret; shorter ones occur in ordinary words.
const SECRET_BYTES_MIN: usize = 8;

/// Redacts secrets in lines.
pub(in crate::observe) struct Redactor {
    /// The user's own keys, longest first, so that none is hidden by a part of itself.
    own: Vec<SecretString>,
    shapes: Shapes,
}

/// Whether to redact text that only looks like a secret. The user's own keys are always redacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shapes {
    Redacted,
    Kept,
}

impl Redactor {
    /// Redacts the keys in environment variables and in the configuration. `redact` is `log.redact`.
    pub(in crate::observe) fn new<'k>(
        environment: &EnvVars,
        keys: impl IntoIterator<Item = &'k SecretString>,
        redact: bool,
    ) -> Self {
        let named = environment.texts().filter(|(name, _)| is_secret_variable(name));
        let mut own: Vec<String> = named.flat_map(|(_, value)| secrets_in(value)).collect();
        own.extend(keys.into_iter().map(|key| key.expose_secret().to_owned()));
        own.retain(|value| value.len() >= SECRET_BYTES_MIN);
        own.sort_by_key(|value| std::cmp::Reverse(value.len()));
        let shapes = if redact { Shapes::Redacted } else { Shapes::Kept };
        Self { own: own.into_iter().map(SecretString::from).collect(), shapes }
    }

    /// The line without secrets.
    pub(in crate::observe) fn line(&self, line: &str) -> String {
        let mut shown = line.to_owned();
        for secret in &self.own {
            if shown.contains(secret.expose_secret()) {
                shown = shown.replace(secret.expose_secret(), MARK);
            }
        }
        match self.shapes {
            Shapes::Redacted => redacted(&shown),
            Shapes::Kept => shown,
        }
    }
}

/// A value, and the values in it if it is a list of `name=value`, such as headers.
fn secrets_in(value: String) -> Vec<String> {
    let parts = value.split(',').filter_map(|pair| Some(pair.split_once('=')?.1.trim().to_owned()));
    let mut secrets: Vec<String> = parts.collect();
    secrets.push(value);
    secrets
}
