//! What all calls of one provider share: where the service is, and what it takes to ask it.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use rheon_types::Clock;

use crate::auth::Authorizer;
use crate::catalog::Model;
use crate::compat::Compat;
use crate::tokens::Estimator;
use crate::transport::Transport;
use crate::wire::WireKind;

/// Looks up what is known of a model.
pub(crate) type Models = Arc<dyn Fn(&str) -> Arc<Model> + Send + Sync>;

/// Where and how a service is spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    /// The vendor.
    pub(crate) id: String,
    /// What it speaks.
    pub(crate) wire: WireKind,
    /// How it differs from others of its wire.
    pub(crate) compat: Compat,
    /// The whole address of a request; `{model}` stands for the model's name.
    pub(crate) url: String,
    /// Headers of every request.
    pub(crate) headers: HeaderMap,
    /// Where the tokens of a prompt are counted, if the service does that; may hold `{model}`.
    pub(crate) count_url: Option<String>,
    /// How long the head of an answer may take, where the transport's own limit does not fit.
    pub(crate) first_byte_timeout: Option<Duration>,
}

/// What all calls of one provider share.
pub(super) struct Shared {
    pub(super) endpoint: Endpoint,
    pub(super) authorizer: Arc<dyn Authorizer>,
    pub(super) transport: Transport,
    pub(super) models: Models,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) estimator: Estimator,
}
