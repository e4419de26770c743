//! Google: a ready access token, or one issued to a service account, a signed-in user or the machine itself.
//!
//! Implemented here because `google-cloud-auth` accepts neither a clock nor an HTTP client, and reads the metadata
//! server's address from the environment itself.

mod account;
mod grant;
mod jwt;

#[cfg(test)]
mod google_tests;
#[cfg(test)]
mod token_server;

use std::path::PathBuf;
use std::sync::Arc;

use http::HeaderValue;
use http::header::AUTHORIZATION;
use rheon_types::{BoxFuture, Clock, ProviderError, Timestamp};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

use super::cached::CachedCredential;
use super::key::KeySource;
use super::{AuthError, Authorizer, file};
use crate::env::ProviderEnv;
use crate::transport::{HttpRequest, Transport};
use account::Account;

/// Environment variables that hold a ready token, for every Google vendor.
const TOKEN_VARIABLES: [&str; 2] = ["GOOGLE_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"];

/// How long before expiry a token is replaced.
const EXPIRY_MARGIN_MS: u64 = 5 * 60 * 1000;

/// A cached access token.
#[derive(Clone)]
pub(super) struct Token {
    secret: SecretString,
    /// When to replace the token, some time before it expires.
    stale: Timestamp,
    /// The project to bill for a user's calls.
    quota_project: Option<String>,
    /// The secrets of the account, to redact.
    account_secrets: Vec<SecretString>,
}

/// Sends a Google access token.
pub(crate) struct GoogleAuth {
    vendor: String,
    /// Source of a ready token.
    ready: KeySource,
    /// The environment variables shared by all Google services.
    common: KeySource,
    environment: ProviderEnv,
    tokens: CachedCredential<Token>,
    clock: Arc<dyn Clock>,
    transport: Transport,
}

impl GoogleAuth {
    pub(crate) fn new(
        vendor: &str,
        ready: KeySource,
        environment: &ProviderEnv,
        clock: Arc<dyn Clock>,
        transport: Transport,
    ) -> Self {
        let common = KeySource::variables(vendor, &TOKEN_VARIABLES.map(str::to_owned), environment);
        let (vendor, environment) = (vendor.to_owned(), environment.clone());
        Self { vendor, ready, common, environment, tokens: CachedCredential::default(), clock, transport }
    }

    async fn authenticate(&self, request: &mut HttpRequest) -> Result<(), AuthError> {
        for source in [&self.ready, &self.common] {
            if let Some(key) = source.find().await? {
                request.headers.insert(AUTHORIZATION, key.header("Bearer ")?);
                return Ok(());
            }
        }
        let now = self.clock.now();
        let token =
            self.tokens.get_or(|token| now < token.stale, async || self.request_token().await).await?;
        let unusable = || AuthError::Invalid {
            vendor: self.vendor.clone(),
            origin: "the token server".to_owned(),
            problem: "it contains characters that headers cannot hold",
        };
        let text = Zeroizing::new(format!("Bearer {}", token.secret.expose_secret()));
        let mut value = HeaderValue::from_str(&text).map_err(|_| unusable())?;
        value.set_sensitive(true);
        request.headers.insert(AUTHORIZATION, value);
        if let Some(project) = &token.quota_project
            && let Ok(project) = HeaderValue::from_str(project)
        {
            request.headers.insert("x-goog-user-project", project);
        }
        Ok(())
    }

    fn client(&self) -> Result<&reqwest::Client, AuthError> {
        self.transport.client().map_err(|error| AuthError::Unreachable {
            server: "the token server".to_owned(),
            problem: error.message,
        })
    }

    /// Requests a token for the configured account.
    async fn request_token(&self) -> Result<Token, AuthError> {
        let now = self.clock.now();
        let account = match self.account_file() {
            Some(path) => self.read_account(path).await?,
            None => Account::Machine { host: grant::metadata_host(&self.environment) },
        };
        let token_response = grant::request_token(self.client()?, &account, now).await;
        let token_response = token_response.map_err(|error| match (&account, error) {
            // Not on a Google machine: the real problem is that there are no credentials.
            (Account::Machine { .. }, AuthError::Unreachable { .. } | AuthError::TimedOut { .. }) => {
                self.missing()
            }
            (_, error) => error,
        })?;
        let lifetime_ms = token_response.expires_in_secs.saturating_mul(1000);
        // Otherwise a short-lived token would be requested again for every request.
        let margin_ms = EXPIRY_MARGIN_MS.min(lifetime_ms / 2);
        let stale = now.as_millis().saturating_add(lifetime_ms - margin_ms);
        Ok(Token {
            secret: token_response.token,
            stale: Timestamp::from_millis(stale),
            quota_project: self
                .environment
                .var("GOOGLE_CLOUD_QUOTA_PROJECT")
                .or_else(|| account.quota_project()),
            account_secrets: account.secrets(),
        })
    }

    async fn read_account(&self, path: PathBuf) -> Result<Account, AuthError> {
        let unusable = |problem: String| AuthError::File { path: path.display().to_string(), problem };
        let text = file::read(&path).await?;
        let text =
            text.ok_or_else(|| unusable("no such file; fix GOOGLE_APPLICATION_CREDENTIALS".to_owned()))?;
        account::parse(text.expose_secret()).map_err(unusable)
    }

    /// The credentials file: the one set by environment variable, otherwise the one that `gcloud` wrote, if it exists.
    fn account_file(&self) -> Option<PathBuf> {
        const NAME: &str = "application_default_credentials.json";
        if let Some(path) = self.environment.var("GOOGLE_APPLICATION_CREDENTIALS") {
            return Some(PathBuf::from(path));
        }
        let directory = match (self.environment.var("CLOUDSDK_CONFIG"), self.environment.var("APPDATA")) {
            (Some(directory), _) => PathBuf::from(directory),
            (None, Some(directory)) if cfg!(windows) => PathBuf::from(directory).join("gcloud"),
            (None, _) => self.environment.home()?.join(".config").join("gcloud"),
        };
        Some(directory.join(NAME)).filter(|path| path.is_file())
    }

    fn missing(&self) -> AuthError {
        let remedy = "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to the file of \
                      a service account, or GOOGLE_ACCESS_TOKEN, or api_key_command in the config";
        AuthError::Missing { vendor: self.vendor.clone(), remedy: remedy.to_owned() }
    }
}

impl Authorizer for GoogleAuth {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move { Ok(self.authenticate(request).await?) })
    }

    fn forget(&self) -> bool {
        // Call both: `||` alone would skip the second one.
        let ready = self.ready.forget();
        let token = self.tokens.forget();
        ready || token
    }

    fn secrets(&self) -> Vec<SecretString> {
        let mut secrets = self.ready.secrets();
        secrets.extend(self.common.secrets());
        for token in self.tokens.known() {
            secrets.push(token.secret);
            secrets.extend(token.account_secrets);
        }
        secrets
    }

    /// The machine's own account counts only if its server is set by environment variable: checking would take a
    /// request.
    fn has_key(&self) -> bool {
        self.ready.is_configured()
            || self.common.is_configured()
            || self.account_file().is_some()
            || self.environment.var(grant::METADATA_HOST).is_some()
    }
}

impl std::fmt::Debug for GoogleAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GoogleAuth").field("vendor", &self.vendor).finish_non_exhaustive()
    }
}
