//! Auth: how a request is authenticated.
//!
//! A scheme adds the credentials to a request; a [`KeySource`] says where a key comes from. Nothing is
//! looked up before a request is made: [`authorizer`] only builds the scheme, and a missing key is an error of the
//! first request. [`Authorizer::has_key`] checks in advance.

mod anthropic;
mod api_key;
mod aws;
mod cached;
mod command;
mod error;
mod file;
mod google;
mod key;
mod redact;
mod select;

#[cfg(all(test, unix))]
mod command_tests;
#[cfg(test)]
mod select_tests;
#[cfg(test)]
mod test_support;

use rheon_types::{BoxFuture, ProviderError};
use secrecy::SecretString;

use crate::transport::HttpRequest;

pub use aws::AwsKeys;
pub(crate) use aws::region as aws_region;
pub(crate) use error::AuthError;
pub(crate) use redact::Redactor;
pub(crate) use select::{AuthInputs, authorizer};

/// Authenticates requests.
pub(crate) trait Authorizer: Send + Sync {
    /// Adds what the service requires: headers, a query parameter or a signature over the whole request. This is the
    /// last step before a request is sent. Calling it again replaces the earlier credentials.
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Forgets cached credentials after the service refused them. Returns whether a retry may succeed.
    fn forget(&self) -> bool {
        false
    }

    /// All values to redact that are known so far.
    fn secrets(&self) -> Vec<SecretString>;

    /// Whether a key is configured or not needed. Checks environment variables and whether files exist; runs no
    /// command and contacts no server. A configured command counts as a key.
    fn has_key(&self) -> bool {
        true
    }
}
