//! `LoginStore`: where the login of a server is kept, and how the SDK reads and renews it there.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rheon_types::BoxFuture;
use rmcp::transport::auth::{AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;
use url::Url;

/// Keeps the login of one server. The text holds keys: it must be readable by the user alone.
pub trait LoginStore: Send + Sync {
    /// What was saved last.
    fn load(&self) -> io::Result<Option<SecretString>>;

    fn save(&self, login: &SecretString) -> io::Result<()>;

    /// Forgets the login. Returns whether there was one.
    fn clear(&self) -> io::Result<bool>;

    /// Waits until no other process renews the login; holds it until the value is dropped.
    fn lock(&self) -> io::Result<Box<dyn Send>>;
}

impl fmt::Debug for dyn LoginStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LoginStore")
    }
}

/// A login in the memory of this process.
#[derive(Default)]
pub struct MemoryLogin(Mutex<Option<SecretString>>);

impl LoginStore for MemoryLogin {
    fn load(&self) -> io::Result<Option<SecretString>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn save(&self, login: &SecretString) -> io::Result<()> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(login.clone());
        Ok(())
    }

    fn clear(&self) -> io::Result<bool> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).take().is_some())
    }

    fn lock(&self) -> io::Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }
}

/// What is saved. It belongs to one address and is sent to no other.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedLogin {
    url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    pub(super) credentials: StoredCredentials,
}

/// The login of one address, for the SDK.
#[derive(Clone)]
pub(super) struct AddressLogin {
    store: Arc<dyn LoginStore>,
    url: String,
    /// The secret of the client that logs in. Known before there is a token.
    client_secret: Arc<Mutex<Option<String>>>,
}

impl AddressLogin {
    pub(super) fn new(store: Arc<dyn LoginStore>, url: &Url) -> Self {
        Self { store, url: url.to_string(), client_secret: Arc::default() }
    }

    pub(super) fn set_client_secret(&self, secret: Option<String>) {
        *self.client_secret.lock().unwrap_or_else(PoisonError::into_inner) = secret;
    }

    /// What is saved for this address. A text that cannot be read counts as none: logging in again repairs it.
    pub(super) async fn read(&self) -> io::Result<Option<SavedLogin>> {
        let store = Arc::clone(&self.store);
        let text = spawn_blocking(move || store.load()).await.map_err(io::Error::other)??;
        let saved = text.and_then(|text| serde_json::from_str::<SavedLogin>(text.expose_secret()).ok());
        Ok(saved.filter(|saved| saved.url == self.url))
    }

    async fn write(&self, credentials: StoredCredentials) -> io::Result<()> {
        let own = self.client_secret.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let client_secret = match own {
            Some(secret) => Some(secret),
            // Renewed: the client is the same.
            None => {
                let saved = self.read().await?;
                saved
                    .filter(|saved| saved.credentials.client_id == credentials.client_id)
                    .and_then(|saved| saved.client_secret)
            }
        };
        let saved = SavedLogin { url: self.url.clone(), client_secret, credentials };
        let text = SecretString::from(serde_json::to_string(&saved)?);
        let store = Arc::clone(&self.store);
        spawn_blocking(move || store.save(&text)).await.map_err(io::Error::other)?
    }
}

fn failed(error: impl fmt::Display) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

impl CredentialStore for AddressLogin {
    fn load<'a, 'b>(&'a self) -> BoxFuture<'b, Result<Option<StoredCredentials>, AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move {
            let saved = self.read().await.map_err(failed)?;
            Ok(saved.map(|saved| saved.credentials))
        })
    }

    fn save<'a, 'b>(&'a self, credentials: StoredCredentials) -> BoxFuture<'b, Result<(), AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async move { self.write(credentials).await.map_err(failed) })
    }

    fn clear<'a, 'b>(&'a self) -> BoxFuture<'b, Result<(), AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        let store = Arc::clone(&self.store);
        Box::pin(async move {
            let cleared = spawn_blocking(move || store.clear()).await.map_err(failed)?;
            cleared.map(drop).map_err(failed)
        })
    }

    fn acquire_refresh_guard<'a, 'b>(
        &'a self,
    ) -> BoxFuture<'b, Result<Option<CredentialRefreshGuard>, AuthError>>
    where
        'a: 'b,
        Self: 'b,
    {
        let store = Arc::clone(&self.store);
        Box::pin(async move {
            let guard = spawn_blocking(move || store.lock()).await.map_err(failed)?.map_err(failed)?;
            Ok(Some(CredentialRefreshGuard::new(guard)))
        })
    }
}
