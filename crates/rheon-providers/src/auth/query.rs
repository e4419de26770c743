//! The key as a query parameter.

use rheon_types::{BoxFuture, ProviderError};
use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;
use url::Url;
use url::form_urlencoded::{byte_serialize, parse};

use super::Authorizer;
use super::key::{KeyNeed, KeySource};
use crate::transport::HttpRequest;

/// Sends the key in the URL.
#[derive(Debug)]
pub(crate) struct QueryAuth {
    pub(crate) parameter: String,
    pub(crate) source: KeySource,
    pub(crate) need: KeyNeed,
}

impl Authorizer for QueryAuth {
    fn authorize<'a>(&'a self, request: &'a mut HttpRequest) -> BoxFuture<'a, Result<(), ProviderError>> {
        Box::pin(async move {
            if let Some(key) = self.need.key(&self.source).await? {
                set_parameter(&mut request.url, &self.parameter, key.text()?);
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
