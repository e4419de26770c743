//! `Vendor`: a service as described by its file.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::compat::Compat;
use crate::wire::WireKind;

/// A model service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// The vendor in `vendor/model`: lower case, the name of the file.
    #[serde(skip)]
    pub id: String,
    /// The display name; the id by default.
    #[serde(default)]
    pub name: String,
    /// The URL of the API documentation.
    #[serde(default)]
    pub docs: String,
    /// The wire format.
    pub wire: WireKind,
    /// The base URL without a trailing slash; may contain `{variables}`.
    pub base_url: String,
    /// Environment variables that override the base URL, in order of priority. `<ID>_BASE_URL` is always the first.
    #[serde(default)]
    pub base_url_env: Vec<String>,
    /// Paths relative to the base URL.
    #[serde(default)]
    pub paths: VendorPaths,
    /// Headers of every request; values may contain `{variables}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The variables in base URL, paths and headers, besides `{model}`.
    #[serde(default)]
    pub variables: BTreeMap<String, UrlVariable>,
    /// How requests are authenticated.
    pub auth: AuthSpec,
    /// How it differs from other services with the same wire.
    #[serde(default)]
    pub compat: Compat,
    /// Settings for local servers.
    #[serde(default)]
    pub local: LocalServer,
}

/// Paths relative to a vendor's base URL. They may contain `{variables}` and `{model}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VendorPaths {
    /// The request path, if it is not the wire's default.
    pub request: Option<String>,
    /// The path for token counts, if the service supports them.
    pub count: Option<String>,
    /// A path that checks a key without cost, if that is not the model list next to the request path. Empty if that
    /// list is public and does not check the key.
    pub check: Option<String>,
}

/// A value that is filled into a base URL, a path or a header.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlVariable {
    /// Environment variables that set it, in order of priority.
    #[serde(default)]
    pub env: Vec<String>,
    /// The default value; may contain other `{variables}`. Without a default, the variable must be set.
    #[serde(default)]
    pub default: Option<String>,
    /// Values that are replaced by others.
    #[serde(default)]
    pub replace: BTreeMap<String, String>,
    /// A description for users.
    pub help: String,
}

/// How requests are authenticated.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "AuthTable")]
pub struct AuthSpec {
    /// The auth scheme.
    pub scheme: AuthScheme,
    /// Environment variables that hold the key, in order of priority. If the scheme needs a key and none is given,
    /// `<ID>_API_KEY`.
    pub key_env: Vec<String>,
    /// A command that prints the key.
    pub api_key_command: Option<String>,
    /// Whether the service can be used without a key.
    pub optional: bool,
}

/// An auth scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthScheme {
    /// The key in a header of this name.
    Header {
        /// For instance `x-api-key`.
        header: String,
    },
    /// `Authorization: Bearer`.
    Bearer,
    /// The key as a query parameter of this name.
    Query {
        /// For instance `key`.
        parameter: String,
    },
    /// An AWS signature (SigV4), or a bearer token if `key_env` provides one.
    Aws {
        /// The service name in signatures, for instance `bedrock`.
        service: String,
    },
    /// A Google access token: service account or application default credentials.
    Google,
    /// Anthropic: a key in `x-api-key`, or an OAuth bearer token with its required headers.
    Anthropic,
    /// No authentication.
    None,
}

/// Settings for local servers. Empty for remote services.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalServer {
    /// How to request the context window.
    pub probe: Option<ProbeMethod>,
    /// Timeout for the first byte of a response; a slow machine reads a long prompt for minutes.
    pub first_byte_timeout_ms: Option<u64>,
}

/// How a local server reports its context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeMethod {
    /// llama.cpp: `GET /props`.
    Props,
    /// Ollama: `POST /api/show`.
    OllamaShow,
    /// vLLM and others: `GET /v1/models`.
    Models,
    /// LM Studio: `GET /api/v0/models`; its `/v1/models` has no sizes.
    LmStudio,
}

impl Vendor {
    /// The request path; may contain `{variables}` and `{model}`.
    pub fn path(&self) -> &str {
        self.paths.request.as_deref().unwrap_or(self.wire.path())
    }

    /// How to request the context window from a local server.
    pub fn probe(&self) -> Option<ProbeMethod> {
        self.local.probe
    }

    /// Timeout for the first byte of a response, if it differs from the default.
    pub fn first_byte_timeout(&self) -> Option<Duration> {
        self.local.first_byte_timeout_ms.map(Duration::from_millis)
    }

    /// Sets the id and the names derived from it.
    pub(super) fn named(mut self, id: &str) -> Self {
        let prefix = id.to_ascii_uppercase().replace(['-', '.'], "_");
        let address = format!("{prefix}_BASE_URL");
        if !self.base_url_env.contains(&address) {
            self.base_url_env.insert(0, address);
        }
        if self.auth.key_env.is_empty() && self.auth.scheme.requires_key() {
            self.auth.key_env.push(format!("{prefix}_API_KEY"));
        }
        if self.name.is_empty() {
            id.clone_into(&mut self.name);
        }
        id.clone_into(&mut self.id);
        self
    }
}

impl AuthScheme {
    /// The name used in vendor files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Header { .. } => "header",
            Self::Bearer => "bearer",
            Self::Query { .. } => "query",
            Self::Aws { .. } => "aws",
            Self::Google => "google",
            Self::Anthropic => "anthropic",
            Self::None => "none",
        }
    }

    /// Whether it requires a key; the others find their credentials elsewhere.
    fn requires_key(&self) -> bool {
        match self {
            Self::Header { .. } | Self::Bearer | Self::Query { .. } | Self::Anthropic => true,
            Self::Aws { .. } | Self::Google | Self::None => false,
        }
    }
}

/// An [`AuthSpec`] as written in files: the scheme's parameter is a separate key.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuthTable {
    scheme: SchemeName,
    header: Option<String>,
    parameter: Option<String>,
    service: Option<String>,
    #[serde(default)]
    key_env: Vec<String>,
    api_key_command: Option<String>,
    #[serde(default)]
    optional: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SchemeName {
    Header,
    Bearer,
    Query,
    Aws,
    Google,
    Anthropic,
    None,
}

impl TryFrom<AuthTable> for AuthSpec {
    type Error = String;

    fn try_from(table: AuthTable) -> Result<Self, String> {
        let AuthTable { header, parameter, service, key_env, api_key_command, optional, .. } = table;
        let given = [("header", header), ("parameter", parameter), ("service", service)];
        let required_key = match table.scheme {
            SchemeName::Header => Some("header"),
            SchemeName::Query => Some("parameter"),
            SchemeName::Aws => Some("service"),
            SchemeName::Bearer | SchemeName::Google | SchemeName::Anthropic | SchemeName::None => None,
        };
        if let Some((extra, _)) =
            given.iter().find(|(name, value)| value.is_some() && Some(*name) != required_key)
        {
            return Err(format!("the key {extra:?} is not valid for this scheme; remove it"));
        }
        let value = given.into_iter().find_map(|(_, value)| value.filter(|value| !value.is_empty()));
        let value = || match required_key {
            Some(name) => value.ok_or_else(|| format!("the key {name:?} is missing; this scheme needs it")),
            None => Ok(String::new()),
        };
        let scheme = match table.scheme {
            SchemeName::Header => AuthScheme::Header { header: value()? },
            SchemeName::Query => AuthScheme::Query { parameter: value()? },
            SchemeName::Aws => AuthScheme::Aws { service: value()? },
            SchemeName::Bearer => AuthScheme::Bearer,
            SchemeName::Google => AuthScheme::Google,
            SchemeName::Anthropic => AuthScheme::Anthropic,
            SchemeName::None => AuthScheme::None,
        };
        Ok(Self { scheme, key_env, api_key_command, optional })
    }
}
