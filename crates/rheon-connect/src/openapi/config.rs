//! `OpenApiConfig`: how the operations of a document are called. `OperationFilter`: which ones.

use std::collections::BTreeMap;
use std::time::Duration;

use super::auth::OpenApiAuth;

/// How the operations of a document are called.
#[derive(Debug, Clone)]
pub struct OpenApiConfig {
    /// Used instead of the document's first server.
    pub base_url: Option<String>,
    pub auth: OpenApiAuth,
    /// Sent with every request.
    pub custom_headers: BTreeMap<String, String>,
    /// How much of an answer the model reads.
    pub max_response_bytes: usize,
    pub timeout: Duration,
    /// Tools are called `prefix__operation`.
    pub name_prefix: Option<String>,
}

impl Default for OpenApiConfig {
    fn default() -> Self {
        Self {
            base_url: None,
            auth: OpenApiAuth::None,
            custom_headers: BTreeMap::new(),
            max_response_bytes: 64 << 10,
            timeout: Duration::from_secs(30),
            name_prefix: None,
        }
    }
}

/// Which operations become tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum OperationFilter {
    #[default]
    All,
    ByOperationId(Vec<String>),
    /// Those that have any of these tags.
    ByTag(Vec<String>),
    ByPathPrefix(String),
}

impl OperationFilter {
    pub(super) fn accepts(&self, id: &str, tags: &[String], path: &str) -> bool {
        match self {
            Self::All => true,
            Self::ByOperationId(ids) => ids.iter().any(|wanted| wanted == id),
            Self::ByTag(wanted) => tags.iter().any(|tag| wanted.contains(tag)),
            Self::ByPathPrefix(prefix) => path.starts_with(prefix.as_str()),
        }
    }
}
