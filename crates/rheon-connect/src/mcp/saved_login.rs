//! A login that was saved, for a new connection.

use std::sync::Arc;

use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};
use url::Url;

use super::clean::short_line;
use super::error::McpError;
use super::http_client::install_tls;
use super::login_store::AddressLogin;
use super::spec::HttpEndpoint;

/// The SDK's view of a login that was saved; `None` without one.
pub(super) async fn saved_login(
    endpoint: &HttpEndpoint,
    url: &Url,
) -> Result<Option<AuthorizationManager>, McpError> {
    let has_header = endpoint.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    let Some(store) = endpoint.login.as_ref().filter(|_| !has_header) else { return Ok(None) };
    let login = AddressLogin::new(Arc::clone(store), url);
    let saved = login.read().await.map_err(|error| McpError::Login(error.to_string()))?;
    let Some(saved) = saved else { return Ok(None) };
    let mut manager = manager(url, &login).await?;
    if !manager.initialize_from_store().await.map_err(login_failed)? {
        return Ok(None);
    }
    if let Some(secret) = saved.client_secret {
        let client = OAuthClientConfig::new(saved.credentials.client_id, url.as_str());
        manager.configure_client(client.with_client_secret(secret)).map_err(login_failed)?;
    }
    Ok(Some(manager))
}

/// A login of one address, as the SDK keeps it.
pub(super) async fn manager(url: &Url, login: &AddressLogin) -> Result<AuthorizationManager, McpError> {
    install_tls();
    let mut manager =
        AuthorizationManager::new_allowing_private_addresses(url.as_str()).await.map_err(login_failed)?;
    manager.set_credential_store(login.clone());
    Ok(manager)
}

/// The error for the user.
pub(super) fn login_failed(error: AuthError) -> McpError {
    McpError::Login(short_line(&error.to_string()))
}
