//! A key: in a header, as a bearer token, in the query, or as Anthropic wants it; or none, for local servers.

use http::HeaderName;
use http::header::AUTHORIZATION;
use rheon_types::{BoxFuture, ProviderError};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use url::Url;
use url::form_urlencoded::{byte_serialize, parse};

use super::key::{Key, KeyNeed, KeySource};
use super::{AuthError, Authorizer, anthropic};
use crate::transport::HttpRequest;

/// Sends a key.
#[derive(Debug)]
pub(crate) struct KeyAuth {
    pub(crate) placement: KeyPlacement,
    pub(crate) source: KeySource,
    pub(crate) need: KeyNeed,
}

/// Where the key goes in a request.
#[derive(Debug)]
pub(crate) enum KeyPlacement {
    /// In a header of its own: `api-key`, `x-api-key` or any other name.
    Header(HeaderName),
    /// `Authorization: Bearer`.
    Bearer,
    /// In the URL, as this parameter.
    Query(String),
    /// In the form that Anthropic requires for this key.
    Anthropic,
}

impl KeyPlacement {
    fn put(&self, key: &Key, request: &mut HttpRequest) -> Result<(), AuthError> {
        match self {
            Self::Header(name) => {
                request.headers.insert(name.clone(), key.header("")?);
            }
            Self::Bearer => {
                request.headers.insert(AUTHORIZATION, key.header("Bearer ")?);
            }
            Self::Query(parameter) => set_parameter(&mut request.url, parameter, key.text()?),
            Self::Anthropic => anthropic::put(key, &mut request.headers)?,
        }
        Ok(())
    }
}

impl Authorizer for KeyAuth {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if let Some(key) = self.need.key(&self.source).await? {
                self.placement.put(&key, request)?;
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

/// Appends `name=value` to the query, replacing any parameter of that name. Other parameters stay byte for byte.
fn set_parameter(url: &mut Url, name: &str, value: &str) {
    let is_other = |pair: &&str| {
        !pair.is_empty() && parse(pair.as_bytes()).next().is_none_or(|(other, _)| other != name)
    };
    let mut query = Zeroizing::new(String::new());
    for pair in url.query().unwrap_or_default().split('&').filter(is_other) {
        query.push_str(pair);
        query.push('&');
    }
    query.extend(byte_serialize(name.as_bytes()));
    query.push('=');
    query.extend(byte_serialize(value.as_bytes()));
    url.set_query(Some(&query));
}
