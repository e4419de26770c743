//! `Account`: the account that a Google credentials file describes.

use secrecy::SecretString;
use serde::Deserialize;
use url::Url;

use crate::transport::is_local;

/// The default token URL.
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";

/// The account that requests a token.
pub(super) enum Account {
    /// A service account, which signs its own assertion.
    Service {
        email: String,
        key_id: Option<String>,
        private_key: SecretString,
        token_url: Url,
        quota_project: Option<String>,
    },
    /// A user signed in with `gcloud`.
    User {
        client_id: String,
        client_secret: SecretString,
        refresh_token: SecretString,
        token_url: Url,
        quota_project: Option<String>,
    },
    /// The machine itself; its metadata server issues tokens.
    Machine { host: String },
}

/// The fields of a credentials file that are used here.
#[derive(Deserialize)]
struct CredentialsFile {
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

/// Parses a credentials file. Errors do not quote it.
pub(super) fn parse(text: &str) -> Result<Account, String> {
    let file: CredentialsFile = serde_json::from_str(text)
        .map_err(|error| format!("line {}: not valid Google credentials", error.line()))?;
    let missing = |field: &str| format!("it has no {field}; download it again");
    let token_url = token_url(file.token_uri.as_deref().unwrap_or(TOKEN_URL))?;
    match file.kind.as_str() {
        "service_account" => Ok(Account::Service {
            email: file.client_email.ok_or_else(|| missing("client_email"))?,
            key_id: file.private_key_id,
            private_key: file.private_key.ok_or_else(|| missing("private_key"))?,
            token_url,
            quota_project: file.quota_project_id,
        }),
        "authorized_user" => Ok(Account::User {
            client_id: file.client_id.ok_or_else(|| missing("client_id"))?,
            client_secret: file.client_secret.ok_or_else(|| missing("client_secret"))?,
            refresh_token: file.refresh_token.ok_or_else(|| missing("refresh_token"))?,
            token_url,
            quota_project: file.quota_project_id,
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

/// Only HTTPS, or HTTP on the loopback interface: credentials are sent there.
fn token_url(text: &str) -> Result<Url, String> {
    let address = Url::parse(text).map_err(|_| "its token_uri is not a URL".to_owned())?;
    match address.scheme() {
        "https" => Ok(address),
        "http" if is_local(&address) => Ok(address),
        _ => Err("its token_uri does not start with https".to_owned()),
    }
}

impl Account {
    /// The values to redact.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        match self {
            Self::Service { private_key, .. } => vec![private_key.clone()],
            Self::User { client_secret, refresh_token, .. } => {
                vec![client_secret.clone(), refresh_token.clone()]
            }
            Self::Machine { .. } => Vec::new(),
        }
    }

    /// The project to bill.
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
