//! What a server answers to a request that the login does not allow.

use std::error::Error;

use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::auth::WWWAuthenticateParams;
use rmcp::transport::streamable_http_client::{AuthRequiredError, InsufficientScopeError};
use url::Url;

use super::clean::short_line;
use super::error::McpError;

/// The error for the user, if the server refused the request for lack of authorization.
pub(super) fn refused_request(error: &ServiceError) -> Option<McpError> {
    match error {
        ServiceError::TransportSend(error) => refusal(error.error.as_ref()),
        _ => None,
    }
}

/// The error for the user, if the server refused the connection for lack of authorization.
pub(super) fn refused_connection(error: &ClientInitializeError) -> Option<McpError> {
    let found = match error {
        ClientInitializeError::TransportError { error, .. } => refusal(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return refused_connection(fallback),
        _ => None,
    };
    let required = || McpError::AuthorizationRequired { challenge: String::new() };
    found.or_else(|| error.is_authorization_required().then(required))
}

fn refusal(error: &(dyn Error + 'static)) -> Option<McpError> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(required) = error.downcast_ref::<AuthRequiredError>() {
            let challenge = required.www_authenticate_header.clone();
            return Some(McpError::AuthorizationRequired { challenge });
        }
        if let Some(refusal) = error.downcast_ref::<InsufficientScopeError>() {
            return scope_required(&refusal.www_authenticate_header);
        }
        current = error.source();
    }
    None
}

fn scope_required(header: &str) -> Option<McpError> {
    // Only the address of metadata depends on it.
    let base = Url::parse("https://localhost/").ok()?;
    let params = WWWAuthenticateParams::parse(header, &base);
    let scope = short_line(params.scope.as_deref().unwrap_or_default());
    params.is_insufficient_scope().then_some(McpError::ScopeRequired { scope })
}
