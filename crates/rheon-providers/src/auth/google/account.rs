//! `Account`: who asks for a token, as the file of credentials says.

use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use crate::transport::is_near;

/// Where tokens are given, if the file does not say.
const TOKEN_ADDRESS: &str = "https://oauth2.googleapis.com/token";

/// Who asks for a token.
pub(super) enum Account {
    /// A service account signs that it is itself.
    Service {
        email: String,
        key_id: Option<String>,
        private_key: SecretString,
        token_address: Url,
        quota_project: Option<String>,
    },
    /// A user who signed in with `gcloud`.
    User {
        client_id: String,
        client_secret: SecretString,
        refresh_token: SecretString,
        token_address: Url,
        quota_project: Option<String>,
    },
    /// The machine that this runs on, which its metadata server knows.
    Machine { host: String },
}

/// What a file of credentials may hold; other fields are of no use here.
#[derive(Deserialize)]
struct Stored {
    #[serde(rename = "type")]
    kind: String,
    client_email: Option<String>,
    private_key_id: Option<String>,
    private_key: Option<SecretString>,
    client_id: Option<String>,
    client_secret: Option<SecretString>,
    refresh_token: Option<SecretString>,
    token_uri: Option<String>,
    quota_project_id: Option<String>,
}

/// The account that `text` describes, or what is wrong with it. Errors do not quote it.
pub(super) fn parse(text: &str) -> Result<Account, String> {
    let stored: Stored = serde_json::from_str(text)
        .map_err(|error| format!("line {}: it is not the JSON that Google writes", error.line()))?;
    let missing = |field: &str| format!("it has no {field}; download it again");
    let token_address = token_address(stored.token_uri.as_deref().unwrap_or(TOKEN_ADDRESS))?;
    match stored.kind.as_str() {
        "service_account" => Ok(Account::Service {
            email: stored.client_email.ok_or_else(|| missing("client_email"))?,
            key_id: stored.private_key_id,
            private_key: stored.private_key.ok_or_else(|| missing("private_key"))?,
            token_address,
            quota_project: stored.quota_project_id,
        }),
        "authorized_user" => Ok(Account::User {
            client_id: stored.client_id.ok_or_else(|| missing("client_id"))?,
            client_secret: stored.client_secret.ok_or_else(|| missing("client_secret"))?,
            refresh_token: stored.refresh_token.ok_or_else(|| missing("refresh_token"))?,
            token_address,
            quota_project: stored.quota_project_id,
        }),
        kind => {
            let kind: String = kind.chars().take(40).collect();
            Err(format!(
                "credentials of type {kind:?} are not supported; set api_key_command = \"gcloud auth \
                 application-default print-access-token\" in the config instead"
            ))
        }
    }
}

/// Credentials go over TLS, or to this machine itself.
fn token_address(text: &str) -> Result<Url, String> {
    let address = Url::parse(text).map_err(|_| "its token_uri is not an address".to_owned())?;
    match address.scheme() {
        "https" => Ok(address),
        "http" if is_near(&address) => Ok(address),
        _ => Err("its token_uri does not begin with https".to_owned()),
    }
}

impl Account {
    /// What must not be shown.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        match self {
            Self::Service { private_key, .. } => vec![private_key.clone()],
            Self::User { client_secret, refresh_token, .. } => {
                vec![client_secret.clone(), refresh_token.clone()]
            }
            Self::Machine { .. } => Vec::new(),
        }
    }

    /// The project that pays for the calls.
    pub(super) fn quota_project(&self) -> Option<String> {
        match self {
            Self::Service { quota_project, .. } | Self::User { quota_project, .. } => quota_project.clone(),
            Self::Machine { .. } => None,
        }
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Service { email, .. } => write!(f, "Service({email})"),
            Self::User { client_id, .. } => write!(f, "User({client_id})"),
            Self::Machine { host } => write!(f, "Machine({host})"),
        }
    }
}
