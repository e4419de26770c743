//! `LoginAttempt`: the user logs in at the authorization server of an MCP server.

use std::sync::Arc;

use rmcp::transport::auth::{
    AuthorizationCallback, AuthorizationManager, AuthorizationMetadata, OAuthClientConfig,
};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::Url;

use super::clean::short_line;
use super::client::McpClient;
use super::error::McpError;
use super::http_client::{address, is_local};
use super::login_store::{AddressLogin, SavedLogin};
use super::saved_login::{login_failed, manager};
use super::spec::{HttpEndpoint, McpConnection, McpServerSpec};

const CLIENT_NAME: &str = "Rheon";
const OFFLINE_ACCESS: &str = "offline_access";

/// Who logs in, and for what.
#[derive(Debug, Clone, Default)]
pub struct LoginRequest {
    /// Where the authorization server sends the user afterwards: an address of this machine.
    pub redirect: String,
    /// Rights to ask for, besides those that the server names and those that were granted before.
    pub scopes: Vec<String>,
    /// A client that is registered already. Without one, Rheon registers itself where that is possible.
    pub client_id: Option<String>,
    pub client_secret: Option<SecretString>,
    /// The address of a document that describes the client, for authorization servers that read such documents.
    pub client_metadata_url: Option<String>,
    /// What the server said when it refused a request; it is asked if absent.
    pub challenge: Option<String>,
}

/// A login that waits for the user.
pub struct LoginAttempt {
    manager: AuthorizationManager,
    address: String,
}

impl LoginAttempt {
    /// Finds the authorization server and registers with it, if necessary.
    pub async fn start(endpoint: &HttpEndpoint, request: LoginRequest) -> Result<Self, McpError> {
        let url = address(&endpoint.url)?;
        let Some(store) = &endpoint.login else {
            return Err(McpError::Login("this server has no place to keep a login".into()));
        };
        let login = AddressLogin::new(Arc::clone(store), &url);
        let saved = login.read().await.map_err(|error| McpError::Login(error.to_string()))?;
        let mut manager = manager(&url, &login).await?;
        let challenge = match &request.challenge {
            Some(challenge) => Some(challenge.clone()),
            None => challenge(endpoint).await,
        };
        let resolved = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
        let metadata = resolved.map_err(login_failed)?.metadata;
        let endpoints = [&metadata.authorization_endpoint, &metadata.token_endpoint];
        endpoints.into_iter().chain(&metadata.registration_endpoint).try_for_each(|url| check(url))?;
        manager.set_metadata(metadata.clone());
        // Another authorization server has granted nothing, and knows no client of ours.
        let saved = saved.filter(|saved| saved.credentials.issuer == metadata.issuer);
        let scopes = scopes(&manager, &metadata, saved.as_ref(), &request).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let client = match client(&request, &metadata, saved) {
            Some(client) => client,
            None => manager
                .register_client(CLIENT_NAME, &request.redirect, &scopes)
                .await
                .map_err(login_failed)?,
        };
        login.set_client_secret(client.client_secret.clone());
        manager.configure_client(client).map_err(login_failed)?;
        let address = manager.get_authorization_url(&scopes).await.map_err(login_failed)?;
        Ok(Self { manager, address })
    }

    /// The address that the user opens.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Takes the address that the authorization server sent the user to, and keeps the login.
    pub async fn finish(self, redirect: &str) -> Result<(), McpError> {
        if let Some(problem) = refusal(redirect) {
            return Err(McpError::Login(problem));
        }
        let callback = AuthorizationCallback::from_redirect_url(redirect).map_err(login_failed)?;
        let (code, state, issuer) = (&callback.code, &callback.csrf_token, callback.issuer.as_deref());
        self.manager.exchange_code_for_token_with_issuer(code, state, issuer).await.map_err(login_failed)?;
        Ok(())
    }
}

/// What the server says to a stranger.
async fn challenge(endpoint: &HttpEndpoint) -> Option<String> {
    let stranger = HttpEndpoint { login: None, ..endpoint.clone() };
    let spec = McpServerSpec::new("login", McpConnection::Http(stranger));
    let tools = match McpClient::connect(&spec).await {
        Ok(client) => client.tools().await,
        Err(error) => Err(error),
    };
    match tools {
        Err(McpError::AuthorizationRequired { challenge }) => Some(challenge),
        _ => None,
    }
}

/// Keys are sent to these addresses, and the user opens one of them.
fn check(endpoint: &str) -> Result<(), McpError> {
    let url = address(endpoint)?;
    if url.scheme() == "https" || is_local(&url) {
        return Ok(());
    }
    Err(McpError::Login(format!(
        "the authorization server names {:?}, which is not https",
        short_line(endpoint)
    )))
}

/// The rights to ask for: what the server wants, what was granted before, and what the user adds.
async fn scopes(
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    saved: Option<&SavedLogin>,
    request: &LoginRequest,
) -> Vec<String> {
    let mut scopes = manager.select_initial_scopes(&[]).await;
    let granted = saved.map(|saved| saved.credentials.granted_scopes.as_slice()).unwrap_or_default();
    for scope in granted.iter().chain(&request.scopes) {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    let is_offered = metadata.scopes_supported.iter().flatten().any(|scope| scope == OFFLINE_ACCESS);
    if is_offered && !scopes.is_empty() && !scopes.iter().any(|scope| scope == OFFLINE_ACCESS) {
        scopes.push(OFFLINE_ACCESS.to_owned());
    }
    scopes
}

/// The client that logs in; `None` if it must be registered first.
fn client(
    request: &LoginRequest,
    metadata: &AuthorizationMetadata,
    saved: Option<SavedLogin>,
) -> Option<OAuthClientConfig> {
    let config = |id: &str, secret: Option<String>| {
        let config = OAuthClientConfig::new(id, request.redirect.as_str());
        match secret {
            Some(secret) => config.with_client_secret(secret),
            None => config,
        }
    };
    if let Some(id) = &request.client_id {
        let secret = request.client_secret.as_ref().map(|secret| secret.expose_secret().to_owned());
        return Some(config(id, secret));
    }
    let reads_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
    if let Some(url) = &request.client_metadata_url
        && reads_documents.and_then(Value::as_bool) == Some(true)
    {
        return Some(config(url, None));
    }
    // A registration is for one redirect address, so a new one is better where it is possible.
    let saved = saved.filter(|_| metadata.registration_endpoint.is_none())?;
    Some(config(&saved.credentials.client_id, saved.client_secret))
}

/// What the authorization server says instead of a code.
fn refusal(redirect: &str) -> Option<String> {
    let url = Url::parse(redirect).ok()?;
    let value =
        |key: &str| url.query_pairs().find(|(name, _)| name == key).map(|(_, value)| value.into_owned());
    let error = value("error")?;
    Some(short_line(&match value("error_description") {
        Some(description) => format!("{error}: {description}"),
        None => error,
    }))
}
