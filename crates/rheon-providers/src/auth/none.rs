//! No authentication, for servers on the user's own machine.

use rheon_types::{BoxFuture, ProviderError};
use secrecy::SecretString;

use super::Authorizer;
use crate::transport::HttpRequest;

#[derive(Debug)]
pub(crate) struct NoAuth;

impl Authorizer for NoAuth {
    fn authorize<'a>(&'a self, _: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async { Ok(()) })
    }

    fn secrets(&self) -> Vec<SecretString> {
        Vec::new()
    }
}
