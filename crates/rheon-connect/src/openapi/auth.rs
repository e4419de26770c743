//! `OpenApiAuth`: how requests prove who sends them.

use std::fmt;

use reqwest::RequestBuilder;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant};

/// How requests prove who sends them. Secrets are not part of debug output.
#[derive(Clone, Default)]
pub enum OpenApiAuth {
    #[default]
    None,
    Bearer(SecretString),
    ApiKey {
        header: String,
        value: SecretString,
    },
    /// An API key in the query.
    QueryKey {
        name: String,
        value: SecretString,
    },
    Basic {
        user: String,
        password: SecretString,
    },
    /// OAuth 2 client credentials. The token is fetched when it is first needed, and again before it expires.
    ClientCredentials {
        token_url: String,
        client_id: String,
        client_secret: SecretString,
        scope: Option<String>,
    },
}

impl fmt::Debug for OpenApiAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Bearer(_) => f.write_str("Bearer(****)"),
            Self::ApiKey { header, .. } => write!(f, "ApiKey {{ {header}: **** }}"),
            Self::QueryKey { name, .. } => write!(f, "QueryKey {{ {name}: **** }}"),
            Self::Basic { user, .. } => write!(f, "Basic {{ {user}: **** }}"),
            Self::ClientCredentials { token_url, client_id, .. } => {
                write!(f, "ClientCredentials {{ {client_id}: ****, {token_url} }}")
            }
        }
    }
}

/// A token that was fetched.
#[derive(Default)]
pub(super) struct TokenCache(Mutex<Option<FetchedToken>>);

struct FetchedToken {
    token: SecretString,
    expires: Instant,
}

/// A token is not used in its last moments.
const MARGIN: Duration = Duration::from_secs(30);
const LIFETIME_DEFAULT: Duration = Duration::from_secs(300);
const LIFETIME_MAX: Duration = Duration::from_secs(24 * 3_600);

/// The largest answer of a token endpoint.
const TOKEN_BYTES_MAX: usize = 64 << 10;

impl OpenApiAuth {
    /// Adds what proves the sender.
    pub(super) async fn apply(
        &self,
        request: RequestBuilder,
        client: &reqwest::Client,
        cache: &TokenCache,
    ) -> Result<RequestBuilder, String> {
        Ok(match self {
            // A key in the query is part of the URL.
            Self::None | Self::QueryKey { .. } => request,
            Self::Bearer(token) => request.bearer_auth(token.expose_secret()),
            Self::ApiKey { header, value } => request.header(header, value.expose_secret()),
            Self::Basic { user, password } => request.basic_auth(user, Some(password.expose_secret())),
            Self::ClientCredentials { .. } => {
                request.bearer_auth(self.token(client, cache).await?.expose_secret())
            }
        })
    }

    async fn token(&self, client: &reqwest::Client, cache: &TokenCache) -> Result<SecretString, String> {
        let Self::ClientCredentials { token_url, client_id, client_secret, scope } = self else {
            return Err("there are no client credentials".to_owned());
        };
        let mut cached = cache.0.lock().await;
        if let Some(FetchedToken { token, expires }) = &*cached
            && Instant::now() + MARGIN < *expires
        {
            return Ok(token.clone());
        }
        let mut form = vec![("grant_type", "client_credentials")];
        form.extend(scope.as_deref().map(|scope| ("scope", scope)));
        let body = form_text(form.into_iter());
        let request = client
            .post(token_url)
            .header(http::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .basic_auth(client_id, Some(client_secret.expose_secret()))
            .body(body);
        let mut response = request.send().await.map_err(|error| format!("cannot get a token: {error}"))?;
        let mut body = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| format!("cannot get a token: {error}"))?
        {
            body.extend_from_slice(&chunk);
            if body.len() > TOKEN_BYTES_MAX {
                return Err("the answer of the token endpoint is too long".to_owned());
            }
        }
        let status = response.status();
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        let Some(token) = answer.get("access_token").and_then(Value::as_str) else {
            return Err(format!("the token endpoint answered {status} without a token"));
        };
        let lifetime = answer.get("expires_in").and_then(Value::as_u64).map(Duration::from_secs);
        let lifetime = lifetime.unwrap_or(LIFETIME_DEFAULT).min(LIFETIME_MAX);
        let token = SecretString::from(token.to_owned());
        *cached = Some(FetchedToken { token: token.clone(), expires: Instant::now() + lifetime });
        Ok(token)
    }
}

/// A form as text.
pub(super) fn form_text<'a>(fields: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}
