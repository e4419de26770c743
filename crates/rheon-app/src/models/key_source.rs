//! Where the key of a model's vendor comes from, in a word. The key itself is nobody's business.

use rheon_providers::{AuthScheme, ProviderEnv};

use crate::config::ServiceSettings;

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
#[path = "key_source_tests.rs"]
mod tests;
