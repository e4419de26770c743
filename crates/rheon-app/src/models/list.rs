//! Lists vendors and models, and finds the source of a vendor's key.

use rheon_providers::{AuthScheme, Catalog, ProviderEnv, Registry};
use rheon_types::Rates;
use serde::Serialize;

use super::choose::is_here;
use crate::config::ServiceSettings;

/// A vendor in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VendorSummary {
    /// Its name in `vendor/model`.
    pub id: String,
    pub name: String,
    /// Whether it is a local server, which has to be running.
    pub local: bool,
    /// Whether it can be used: it has a key or needs none.
    pub ready: bool,
    pub key_variables: Vec<String>,
    pub models: usize,
    pub docs: String,
}

/// A model in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModelEntry {
    /// Its whole name, `vendor/model`.
    pub name: String,
    pub ready: bool,
    /// How many tokens prompt and answer may have together.
    pub context_tokens: u64,
    /// How many tokens one answer may have.
    pub output_tokens_max: u32,
    /// Millionths of a US dollar for a million tokens of the prompt; absent if unknown.
    pub input_micro_usd: Option<u64>,
    pub output_micro_usd: Option<u64>,
    pub images: bool,
    /// Whether it can think before it answers.
    pub reasoning: bool,
}

/// All vendors, by name.
pub fn list_vendors(registry: &Registry, environment: &ProviderEnv) -> Vec<VendorSummary> {
    let catalog = Catalog::builtin();
    let line = |vendor: std::sync::Arc<rheon_providers::Vendor>| VendorSummary {
        id: vendor.id.clone(),
        name: vendor.name.clone(),
        local: is_here(&vendor, environment),
        ready: registry.has_key(&vendor.id).unwrap_or(false),
        key_variables: vendor.auth.key_env.clone(),
        models: catalog.ids(&vendor.id).count(),
        docs: vendor.docs.clone(),
    };
    registry.vendors().iter().map(line).collect()
}

/// All models that are known and whose name holds `part`, by name.
pub fn list_models(registry: &Registry, part: &str) -> Vec<ModelEntry> {
    let catalog = Catalog::builtin();
    let part = part.to_lowercase();
    let mut lines = Vec::new();
    for vendor in registry.vendors().iter() {
        let ready = registry.has_key(&vendor.id).unwrap_or(false);
        for id in catalog.ids(&vendor.id) {
            let name = format!("{}/{id}", vendor.id);
            if !name.to_lowercase().contains(&part) {
                continue;
            }
            let info = &vendor.model(&catalog, id).info;
            let rates = info.prices.as_ref().map(|prices| prices.base);
            lines.push(ModelEntry {
                name,
                ready,
                context_tokens: info.context_tokens,
                output_tokens_max: info.output_tokens_max,
                input_micro_usd: rates.map(|Rates { input, .. }| input),
                output_micro_usd: rates.map(|Rates { output, .. }| output),
                images: info.images,
                reasoning: info.reasoning,
            });
        }
    }
    lines
}

/// Where the key comes from, as Claude Code says it: the name of the variable that holds it, `apiKeyHelper` for a command that prints
/// it, `none` where there is none. For a key that stands in the settings, `settings`; for the credentials of a cloud, its name.
pub(crate) fn key_source(settings: &ServiceSettings, environment: &ProviderEnv, vendor: &str) -> String {
    if settings.keys.contains_key(vendor) {
        return "settings".to_owned();
    }
    let Some(vendor) = settings.vendors.get(vendor) else { return "none".to_owned() };
    if vendor.auth.api_key_command.is_some() {
        return "apiKeyHelper".to_owned();
    }
    let set = vendor.auth.key_env.iter().find(|name| environment.var(name).is_some());
    match (set, &vendor.auth.scheme) {
        (Some(name), _) => name.clone(),
        (None, AuthScheme::Aws { .. }) => "aws".to_owned(),
        (None, AuthScheme::Google) => "google".to_owned(),
        (
            None,
            AuthScheme::Header { .. }
            | AuthScheme::Bearer
            | AuthScheme::Query { .. }
            | AuthScheme::Anthropic
            | AuthScheme::None,
        ) => "none".to_owned(),
    }
}

#[cfg(test)]
#[path = "list_tests.rs"]
mod tests;
