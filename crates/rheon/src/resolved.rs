//! `WithModel`: a builder takes a model as a registry hands it out.

use rheon_agent::AgentBuilder;
use rheon_providers::ResolvedModel;

/// Sets provider and model of a builder together.
pub trait WithModel {
    /// Asks `model`, as [`Registry::resolve`](rheon_providers::Registry::resolve) found it.
    fn resolved(self, model: ResolvedModel) -> Self;
}

impl WithModel for AgentBuilder {
    fn resolved(self, model: ResolvedModel) -> Self {
        self.provider(model.provider).model(model.model)
    }
}
