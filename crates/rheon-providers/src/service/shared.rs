//! State shared by all calls of a provider: the endpoint and what is needed to call it.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use rheon_types::Clock;

use super::optional_fields::RefusedFields;
use crate::auth::Authorizer;
use crate::catalog::Model;
use crate::compat::Compat;
use crate::tokens::Estimator;
use crate::transport::Transport;
use crate::wire::WireKind;

/// Looks up a model's properties.
pub(crate) type Models = Arc<dyn Fn(&str) -> Arc<Model> + Send + Sync>;

/// Address and format of a service.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) id: String,
    pub(crate) wire: WireKind,
    /// How it differs from other services with the same wire.
    pub(crate) compat: Compat,
    /// The full request URL; `{model}` is replaced by the model name.
    pub(crate) url: String,
    /// Headers of every request.
    pub(crate) headers: HeaderMap,
    /// The URL of token counts, if the service supports them; may contain `{model}`.
    pub(crate) count_url: Option<String>,
    /// Overrides the transport's limit for the response head.
    pub(crate) first_byte_timeout: Option<Duration>,
}

pub(super) struct Shared {
    pub(super) endpoint: Endpoint,
    pub(super) authorizer: Arc<dyn Authorizer>,
    pub(super) transport: Transport,
    pub(super) models: Models,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) estimator: Estimator,
    pub(super) refused_fields: RefusedFields,
}
