//! Auth: how a request proves who sends it.
//!
//! A scheme puts the proof on a request; a [`KeySource`] says where a key comes from. Nothing is looked
//! up before a request is made: [`authorizer`] only puts the parts together, and a missing key is an error of the
//! first request that needs it. Whether there will be one, [`Authorizer::has_key`] tells beforehand.

mod anthropic;
mod aws;
mod command;
mod error;
mod file;
mod google;
mod header;
mod key;
mod query;
mod redact;
mod select;
mod shared;

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

/// Puts proof of who sends it on a request.
pub(crate) trait Authorizer: Send + Sync {
    /// Adds what the service wants to see: headers, a query parameter or a signature over the whole request. The last
    /// thing that happens to a request before it is sent. Doing it again replaces what was there.
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>>;

    /// Forgets what it has cached, after the service refused it. Whether asking again may give something else.
    fn forget(&self) -> bool {
        false
    }

    /// What must never be shown, as far as it is known now.
    fn secrets(&self) -> Vec<SecretString>;

    /// Whether a key is configured, or none is needed. Looks at variables and at whether files exist, runs no command
    /// and asks no server: a configured command counts as a key.
    fn has_key(&self) -> bool {
        true
    }
}
