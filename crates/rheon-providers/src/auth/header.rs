//! The key in a dedicated header (`api-key`, `x-api-key` or any other name) or as `Authorization: Bearer`; or none, for
//! local servers.

use http::HeaderName;
use http::header::AUTHORIZATION;
use rheon_types::{BoxFuture, ProviderError};
use secrecy::SecretString;

use super::Authorizer;
use super::key::{KeyNeed, KeySource};
use crate::transport::HttpRequest;

#[derive(Debug)]
pub(crate) struct HeaderAuth {
    pub(crate) name: HeaderName,
    pub(crate) source: KeySource,
    pub(crate) need: KeyNeed,
}

impl Authorizer for HeaderAuth {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if let Some(key) = self.need.key(&self.source).await? {
                request.headers.insert(self.name.clone(), key.header("")?);
            }
            Ok(())
        })
    }

    fn forget(&self) -> bool {
        self.source.forget()
    }

    fn secrets(&self) -> Vec<SecretString> {
        self.source.secrets()
    }

    fn has_key(&self) -> bool {
        self.need == KeyNeed::Optional || self.source.is_configured()
    }
}

/// Sends the key as a bearer token.
#[derive(Debug)]
pub(crate) struct BearerAuth {
    pub(crate) source: KeySource,
    pub(crate) need: KeyNeed,
}

impl Authorizer for BearerAuth {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if let Some(key) = self.need.key(&self.source).await? {
                request.headers.insert(AUTHORIZATION, key.header("Bearer ")?);
            }
            Ok(())
        })
    }

    fn forget(&self) -> bool {
        self.source.forget()
    }

    fn secrets(&self) -> Vec<SecretString> {
        self.source.secrets()
    }

    fn has_key(&self) -> bool {
        self.need == KeyNeed::Optional || self.source.is_configured()
    }
}

/// Leaves requests as they are.
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
