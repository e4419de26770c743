//! `Vendor`: one service, as its file describes it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::compat::Compat;
use crate::wire::WireKind;

/// One service.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vendor {
    /// Its name in `vendor/model`: lower case, the name of its file.
    #[serde(skip)]
    pub id: String,
    /// Its name for people; the id where its file gives none.
    #[serde(default)]
    pub name: String,
    /// Where its API is described.
    #[serde(default)]
    pub docs: String,
    /// What it speaks.
    pub wire: WireKind,
    /// Its address, without a slash at the end; may hold `{variables}`.
    pub base_url: String,
    /// Environment variables that override the address, first one first. `<ID>_BASE_URL` is always the first.
    #[serde(default)]
    pub base_url_env: Vec<String>,
    /// Where requests go below the address.
    #[serde(default)]
    pub paths: VendorPaths,
    /// Headers of every request; values may hold `{variables}`.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The variables that stand in address, path and headers, besides `{model}`.
    #[serde(default)]
    pub variables: BTreeMap<String, UrlVariable>,
    /// How requests prove who sends them.
    pub auth: AuthSpec,
    /// How it differs from others of its wire.
    #[serde(default)]
    pub compat: Compat,
    /// What is different on servers of the user's own machine.
    #[serde(default)]
    pub local: LocalServer,
}

/// Where requests go below a vendor's address. Paths may hold `{variables}` and `{model}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VendorPaths {
    /// Where the model is asked, where that is not the wire's own path.
    pub request: Option<String>,
    /// Where the tokens of a prompt are counted, if the service does that.
    pub count: Option<String>,
    /// Where a key can be tried for nothing, where that is not the list of models beside the path of requests. Empty where that list
    /// is open to everybody, so that it says nothing about the key.
    pub check: Option<String>,
}

/// A value that is filled into an address, a path or a header.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UrlVariable {
    /// Environment variables that hold it, first one first.
    #[serde(default)]
    pub env: Vec<String>,
    /// What it is if none of them is set; may hold other `{variables}`. Without it, one must be set.
    #[serde(default)]
    pub default: Option<String>,
    /// Values that stand for others: what it would be, and what it is instead.
    #[serde(default)]
    pub replace: BTreeMap<String, String>,
    /// What it is, for people.
    pub help: String,
}

/// How requests prove who sends them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "AuthTable")]
pub struct AuthSpec {
    /// In which form.
    pub scheme: AuthScheme,
    /// Environment variables that hold the key, first one first. Where a key is wanted and none is named,
    /// `<ID>_API_KEY`.
    pub key_env: Vec<String>,
    /// A command that prints the key.
    pub api_key_command: Option<String>,
    /// Whether the service can be used without a key.
    pub optional: bool,
}

/// The form of the proof.
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
    /// A signature of AWS (SigV4), or a bearer token where `key_env` holds one.
    Aws {
        /// The service's name in signatures, for instance `bedrock`.
        service: String,
    },
    /// A token of Google: service account or application-default credentials.
    Google,
    /// Anthropic: a key in `x-api-key`, or an OAuth token as bearer with the headers that go with it.
    Anthropic,
    /// None.
    None,
}

/// What is different on servers of the user's own machine. Empty for services.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalServer {
    /// How to ask for the size of the context.
    pub probe: Option<ProbeMethod>,
    /// How long the first byte of an answer may take; a slow machine reads a long prompt for minutes.
    pub first_byte_timeout_ms: Option<u64>,
}

/// How a server on the user's own machine is asked for the size of its context.
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
    /// Where requests go below the address; may hold `{variables}` and `{model}`.
    pub fn path(&self) -> &str {
        self.paths.request.as_deref().unwrap_or(self.wire.path())
    }

    /// How to ask for the size of the context, for servers of the user's own machine.
    pub fn probe(&self) -> Option<ProbeMethod> {
        self.local.probe
    }

    /// How long the first byte of an answer may take, where that differs from what is usual.
    pub fn first_byte_timeout(&self) -> Option<Duration> {
        self.local.first_byte_timeout_ms.map(Duration::from_millis)
    }

    /// The same vendor as `id`, with the names that follow from it.
    pub(super) fn named(mut self, id: &str) -> Self {
        let prefix = id.to_ascii_uppercase().replace(['-', '.'], "_");
        let address = format!("{prefix}_BASE_URL");
        if !self.base_url_env.contains(&address) {
            self.base_url_env.insert(0, address);
        }
        if self.auth.key_env.is_empty() && self.auth.scheme.wants_key() {
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
    /// Its name, as vendor files have it.
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

    /// Whether it is nothing without a key; the others find their credentials elsewhere.
    fn wants_key(&self) -> bool {
        match self {
            Self::Header { .. } | Self::Bearer | Self::Query { .. } | Self::Anthropic => true,
            Self::Aws { .. } | Self::Google | Self::None => false,
        }
    }
}

/// An [`AuthSpec`] as it is written: the scheme's own value is a key beside its name.
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
        let wanted = match table.scheme {
            SchemeName::Header => Some("header"),
            SchemeName::Query => Some("parameter"),
            SchemeName::Aws => Some("service"),
            SchemeName::Bearer | SchemeName::Google | SchemeName::Anthropic | SchemeName::None => None,
        };
        if let Some((extra, _)) = given.iter().find(|(name, value)| value.is_some() && Some(*name) != wanted)
        {
            return Err(format!("the key {extra:?} does not go with this scheme; remove it"));
        }
        let value = given.into_iter().find_map(|(_, value)| value.filter(|value| !value.is_empty()));
        let value = || match wanted {
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
