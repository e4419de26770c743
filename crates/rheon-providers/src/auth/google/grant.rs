//! Requests access tokens from Google.

use std::time::Duration;

use rheon_types::Timestamp;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::form_urlencoded::Serializer;

use super::account::Account;
use super::jwt::{self, Assertion};
use crate::auth::command::shorten;
use crate::auth::{AuthError, Redactor};
use crate::env::ProviderEnv;

/// The environment variable that overrides the metadata server.
pub(super) const METADATA_HOST: &str = "GCE_METADATA_HOST";

/// How long a token server may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How long the metadata server may take: it is on the local machine or does not exist.
const METADATA_TIMEOUT: Duration = Duration::from_secs(3);

/// Token responses are small.
pub(super) const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The assumed lifetime of a token if the server does not give one.
const LIFETIME_SECS: u64 = 600;

/// A token response.
pub(super) struct TokenResponse {
    pub(super) token: SecretString,
    pub(super) expires_in_secs: u64,
}

/// The host of the metadata server.
pub(super) fn metadata_host(environment: &ProviderEnv) -> String {
    environment.var(METADATA_HOST).unwrap_or_else(|| "metadata.google.internal".to_owned())
}

/// Requests a token for `account`.
pub(super) async fn request_token(
    client: &reqwest::Client,
    account: &Account,
    now: Timestamp,
) -> Result<TokenResponse, AuthError> {
    let (request, server, timeout) = match account {
        Account::Service { email, key_id, private_key, token_url, .. } => {
            let audience = token_url.as_str();
            let assertion_parts = Assertion { email, key_id: key_id.as_deref(), audience, now };
            let assertion =
                jwt::signed(&assertion_parts, private_key).map_err(|problem| AuthError::File {
                    path: format!("the file of the service account {email}"),
                    problem: problem.to_owned(),
                })?;
            let form = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
                ("assertion", assertion.expose_secret()),
            ];
            (post(client, token_url, &form), origin(token_url), TIMEOUT)
        }
        Account::User { client_id, client_secret, refresh_token, token_url, .. } => {
            let form = [
                ("grant_type", "refresh_token"),
                ("client_id", client_id),
                ("client_secret", client_secret.expose_secret()),
                ("refresh_token", refresh_token.expose_secret()),
            ];
            (post(client, token_url, &form), origin(token_url), TIMEOUT)
        }
        Account::Machine { host } => {
            let address = format!(
                "http://{host}/computeMetadata/v1/instance/service-accounts/default/token?scopes={}",
                jwt::SCOPE
            );
            let request = client.get(address).header("metadata-flavor", "Google");
            (request, format!("the metadata server {host}"), METADATA_TIMEOUT)
        }
    };
    let answer = tokio::time::timeout(timeout, send(request, &server)).await;
    let (status, body) =
        answer.map_err(|_| AuthError::TimedOut { server: server.clone(), seconds: timeout.as_secs() })??;
    read(status, &body, &server, account)
}

fn post(client: &reqwest::Client, address: &url::Url, form: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let body = Serializer::new(String::new()).extend_pairs(form).finish();
    client.post(address.clone()).header("content-type", "application/x-www-form-urlencoded").body(body)
}

/// The server name for error messages, without path and query.
fn origin(address: &url::Url) -> String {
    address.origin().ascii_serialization()
}

/// The status and body of the response.
async fn send(
    request: reqwest::RequestBuilder,
    server: &str,
) -> Result<(u16, Zeroizing<Vec<u8>>), AuthError> {
    let unreachable = |problem: String| AuthError::Unreachable { server: server.to_owned(), problem };
    let broken = |error: reqwest::Error| unreachable(shorten(&with_causes(&error.without_url())));
    let mut response = request.send().await.map_err(broken)?;
    let mut body = Zeroizing::new(Vec::with_capacity(ANSWER_BYTES_MAX));
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(unreachable(format!("its response is longer than {ANSWER_BYTES_MAX} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((response.status().as_u16(), body))
}

/// The error message with its causes, which `reqwest` leaves out.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[derive(Deserialize)]
struct TokenBody {
    access_token: SecretString,
    expires_in: Option<u64>,
}

/// Parses a token response. Errors quote the server only if it refused, and without secrets.
fn read(status: u16, body: &[u8], server: &str, account: &Account) -> Result<TokenResponse, AuthError> {
    let refused = |message: String| AuthError::Refused { server: server.to_owned(), status, message };
    if status != 200 {
        let text = String::from_utf8_lossy(body);
        let text = Redactor::new(account.secrets()).redact(&text).into_owned();
        return Err(refused(format!("{}{}", shorten(&text), remedy(status, account))));
    }
    let answer: TokenBody =
        serde_json::from_slice(body).map_err(|_| refused("its response has no access_token".to_owned()))?;
    if answer.access_token.expose_secret().is_empty() {
        return Err(refused("its response has an empty access_token".to_owned()));
    }
    Ok(TokenResponse {
        token: answer.access_token,
        expires_in_secs: answer.expires_in.unwrap_or(LIFETIME_SECS),
    })
}

/// What the user can do about a refusal.
fn remedy(status: u16, account: &Account) -> &'static str {
    match account {
        Account::User { .. } if (400..500).contains(&status) => {
            "; run gcloud auth application-default login again"
        }
        Account::Service { .. } if status == 400 || status == 401 => {
            "; check the service account key and this machine's clock"
        }
        Account::Service { .. } | Account::User { .. } | Account::Machine { .. } => "",
    }
}
