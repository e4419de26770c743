//! Google: a ready access token, or one that a service account, a signed-in user or the machine itself is given.
//!
//! Written here because `google-cloud-auth` takes neither a clock nor an HTTP client, and looks the metadata server's
//! address up in the environment itself.

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

use super::key::KeySource;
use super::shared::Shared;
use super::{AuthError, Authorizer, file};
use crate::env::ProviderEnv;
use crate::transport::{HttpRequest, Transport};
use account::Account;

/// Variables that hold a ready token, whatever the vendor's description says.
const TOKEN_VARIABLES: [&str; 2] = ["GOOGLE_ACCESS_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN"];

/// Tokens are replaced this long before they expire.
const EXPIRY_MARGIN_MS: u64 = 5 * 60 * 1000;

/// A token that a server gave.
#[derive(Clone)]
pub(super) struct Token {
    secret: SecretString,
    /// From when on it is not used any more: some time before it expires.
    stale: Timestamp,
    /// The project that pays for the calls of a user.
    quota_project: Option<String>,
    /// The secrets of the account it was given for.
    account_secrets: Vec<SecretString>,
}

/// Sends a token of Google.
pub(crate) struct GoogleAuth {
    vendor: String,
    /// Where a ready token may come from.
    ready: KeySource,
    /// The variables that every Google service knows.
    common: KeySource,
    environment: ProviderEnv,
    tokens: Shared<Token>,
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
        Self { vendor, ready, common, environment, tokens: Shared::default(), clock, transport }
    }

    async fn put(&self, request: &mut HttpRequest) -> Result<(), AuthError> {
        for source in [&self.ready, &self.common] {
            if let Some(key) = source.find().await? {
                request.headers.insert(AUTHORIZATION, key.header("Bearer ")?);
                return Ok(());
            }
        }
        let now = self.clock.now();
        let token = self.tokens.get_or(|token| now < token.stale, async || self.ask().await).await?;
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

    /// Asks for a token, as whoever the files say.
    async fn ask(&self) -> Result<Token, AuthError> {
        let now = self.clock.now();
        let account = match self.account_file() {
            Some(path) => self.read_account(path).await?,
            None => Account::Machine { host: grant::metadata_host(&self.environment) },
        };
        let granted = grant::ask(self.client()?, &account, now).await;
        let granted = granted.map_err(|error| match (&account, error) {
            // Not on a machine of Google's: the real trouble is that there are no credentials.
            (Account::Machine { .. }, AuthError::Unreachable { .. } | AuthError::TimedOut { .. }) => {
                self.missing()
            }
            (_, error) => error,
        })?;
        let lifetime_ms = granted.expires_in_secs.saturating_mul(1000);
        // A token that lives shortly would otherwise be asked for again with every request.
        let margin_ms = EXPIRY_MARGIN_MS.min(lifetime_ms / 2);
        let stale = now.as_millis().saturating_add(lifetime_ms - margin_ms);
        Ok(Token {
            secret: granted.token,
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
        let text = text.ok_or_else(|| {
            unusable("there is no such file; correct GOOGLE_APPLICATION_CREDENTIALS".to_owned())
        })?;
        account::parse(text.expose_secret()).map_err(unusable)
    }

    /// The file that says who we are: the one that a variable names, else the one that `gcloud` wrote, if it is there.
    fn account_file(&self) -> Option<PathBuf> {
        const NAME: &str = "application_default_credentials.json";
        if let Some(path) = self.environment.var("GOOGLE_APPLICATION_CREDENTIALS") {
            return Some(PathBuf::from(path));
        }
        let folder = match (self.environment.var("CLOUDSDK_CONFIG"), self.environment.var("APPDATA")) {
            (Some(folder), _) => PathBuf::from(folder),
            (None, Some(folder)) if cfg!(windows) => PathBuf::from(folder).join("gcloud"),
            (None, _) => self.environment.home()?.join(".config").join("gcloud"),
        };
        Some(folder.join(NAME)).filter(|path| path.is_file())
    }

    fn missing(&self) -> AuthError {
        let remedy = "run gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS to the file of \
                      a service account, or GOOGLE_ACCESS_TOKEN, or api_key_command in the config";
        AuthError::Missing { vendor: self.vendor.clone(), remedy: remedy.to_owned() }
    }
}

impl Authorizer for GoogleAuth {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move { Ok(self.put(request).await?) })
    }

    fn forget(&self) -> bool {
        // Both are asked: `||` alone would leave the second one as it is.
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

    /// The machine's own account counts only where a variable names its server: asking would take a request.
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
