//! AWS: a bearer token if there is one, otherwise a signature (SigV4). The secret key signs and is never sent.

mod credentials;
mod profile;
mod sign;

#[cfg(test)]
mod credentials_tests;
#[cfg(test)]
mod sign_tests;

use std::sync::Arc;

use http::header::AUTHORIZATION;
use rheon_types::{BoxFuture, Clock, ProviderError};
use secrecy::SecretString;

use super::key::KeySource;
use super::{AuthError, Authorizer};
use crate::transport::HttpRequest;

pub use credentials::AwsKeys;
pub(crate) use credentials::{Credentials, region};

/// Signs requests for AWS.
pub(crate) struct AwsAuth {
    /// The service name used in signatures.
    pub(crate) service: String,
    /// Source of the bearer token.
    pub(crate) bearer: KeySource,
    /// Source of the keys, used when there is no token.
    pub(crate) credentials: Credentials,
    pub(crate) clock: Arc<dyn Clock>,
}

impl AwsAuth {
    async fn sign(&self, request: &mut HttpRequest) -> Result<(), AuthError> {
        if let Some(token) = self.bearer.find().await? {
            request.headers.insert(AUTHORIZATION, token.header("Bearer ")?);
            return Ok(());
        }
        let now = self.clock.now();
        let keys = self.credentials.get(now).await?;
        let region = match sign::region_of_host(request.url.host_str().unwrap_or_default()) {
            Some(region) => region.to_owned(),
            None => self.credentials.region().await?,
        };
        sign::sign(request, &keys, sign::Scope { service: &self.service, region: &region, now })
    }
}

impl Authorizer for AwsAuth {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move { Ok(self.sign(request).await?) })
    }

    fn forget(&self) -> bool {
        // Call both: `||` alone would skip the second one.
        let token = self.bearer.forget();
        let keys = self.credentials.forget();
        token || keys
    }

    fn secrets(&self) -> Vec<SecretString> {
        let mut secrets = self.bearer.secrets();
        secrets.extend(self.credentials.secrets());
        secrets
    }

    fn has_key(&self) -> bool {
        self.bearer.is_configured() || self.credentials.are_configured()
    }
}

impl std::fmt::Debug for AwsAuth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AwsAuth").field("service", &self.service).finish_non_exhaustive()
    }
}
