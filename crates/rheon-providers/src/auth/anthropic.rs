//! Anthropic: a key in `x-api-key`, a gateway's token as bearer, or an OAuth token as bearer with the headers that go
//! with it.

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use secrecy::ExposeSecret;

use super::AuthError;
use super::key::{Key, Origin};

const API_KEY: &str = "x-api-key";
const BETA: &str = "anthropic-beta";

/// The betas that an OAuth token requires.
const OAUTH_BETAS: [&str; 3] =
    ["claude-code-20250219", "oauth-2025-04-20", "fine-grained-tool-streaming-2025-05-14"];

/// Other headers that an OAuth token requires.
const OAUTH_HEADERS: [(&str, &str); 3] = [
    ("x-app", "cli"),
    ("anthropic-dangerous-direct-browser-access", "true"),
    ("user-agent", "claude-cli/2.1.2"),
];

/// Environment variables whose value is always an OAuth token.
const OAUTH_VARIABLES: [&str; 2] = ["ANTHROPIC_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/// How to send an Anthropic key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    ApiKey,
    /// As a bearer token only: for gateways in front of the service.
    Bearer,
    /// As a bearer token with the OAuth headers.
    OAuth,
}

/// The token's prefix decides; without a known prefix, the environment variable it came from does.
fn form(key: &Key) -> Form {
    if key.secret.expose_secret().starts_with("sk-ant-oat") {
        return Form::OAuth;
    }
    match &key.origin {
        Origin::Variable(name) if OAUTH_VARIABLES.contains(&name.as_str()) => Form::OAuth,
        Origin::Variable(name) if name == "ANTHROPIC_AUTH_TOKEN" => Form::Bearer,
        Origin::Variable(_) | Origin::Config | Origin::Command => Form::ApiKey,
    }
}

/// Adds the key or token in the form that Anthropic requires.
pub(super) fn put(key: &Key, headers: &mut HeaderMap) -> Result<(), AuthError> {
    match form(key) {
        Form::ApiKey => {
            headers.insert(API_KEY, key.header("")?);
        }
        Form::Bearer => {
            headers.insert(AUTHORIZATION, key.header("Bearer ")?);
        }
        Form::OAuth => {
            headers.insert(AUTHORIZATION, key.header("Bearer ")?);
            for (name, value) in OAUTH_HEADERS {
                headers.insert(name, HeaderValue::from_static(value));
            }
            let betas = merged_betas(headers);
            headers.insert(BETA, betas);
        }
    }
    Ok(())
}

/// The OAuth betas, followed by those already in the request, without duplicates.
fn merged_betas(headers: &HeaderMap) -> HeaderValue {
    let mut betas = OAUTH_BETAS.to_vec();
    for line in headers.get_all(BETA) {
        for beta in line.to_str().unwrap_or_default().split(',').map(str::trim) {
            if !beta.is_empty() && !betas.contains(&beta) {
                betas.push(beta);
            }
        }
    }
    // The parts were valid header values, so the error arm is unreachable.
    match HeaderValue::from_str(&betas.join(",")) {
        Ok(value) => value,
        Err(_) => HeaderValue::from_static("oauth-2025-04-20"),
    }
}
