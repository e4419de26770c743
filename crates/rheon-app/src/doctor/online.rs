//! Checks that services can be reached and accept their keys.

use std::collections::HashSet;
use std::time::Duration;

use futures::future::join_all;
use rheon_providers::{AuthScheme, ProbeError, ProbeResult, ProviderEnv, Registry, Vendor};
use rheon_types::{ProviderError, ProviderErrorKind};
use tokio::time::timeout;

use super::check::{Check, CheckStatus};
use crate::memory::redacted;

const TOPIC: &str = "online";

/// How long one service may take. All are called at the same time.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// How much of a service's error message is shown.
const WORDS_CHARS_MAX: usize = 200;
/// Environment variables that set a proxy.
const PROXIES: [&str; 6] =
    ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"];

/// Calls up the service of the chosen model and all others for which there is a key, each in a line of its own.
pub(super) async fn online(registry: &Registry, variables: &ProviderEnv, chosen: Option<&str>) -> Vec<Check> {
    // Another check reports the missing key.
    let mut vendors: Vec<&str> =
        chosen.into_iter().filter(|id| matches!(registry.has_key(id), Ok(true))).collect();
    vendors.extend(registry.vendors().ids().filter(|id| Some(*id) != chosen && has_own_key(registry, id)));
    // Vendors that differ only in the protocol share one key and one URL.
    let mut tried = HashSet::new();
    vendors.retain(|id| {
        let Some(vendor) = registry.vendors().get(id) else { return true };
        let Ok(Some(place)) = vendor.check_url(variables) else { return true };
        tried.insert((place, vendor.auth.key_env.clone()))
    });
    let checks = vendors.into_iter().map(|id| async move {
        let check = check_connection(registry, variables, id).await;
        // What is not used now keeps nothing from working.
        match check.standing {
            CheckStatus::Bad if Some(id) != chosen => Check { standing: CheckStatus::Warn, ..check },
            CheckStatus::Ok | CheckStatus::Warn | CheckStatus::Bad => check,
        }
    });
    join_all(checks).await
}

/// Whether a key is configured and required.
fn has_own_key(registry: &Registry, id: &str) -> bool {
    let needs_one = |vendor: &Vendor| !vendor.auth.optional && vendor.auth.scheme != AuthScheme::None;
    registry.vendors().get(id).is_some_and(|vendor| needs_one(&vendor))
        && matches!(registry.has_key(id), Ok(true))
}

async fn check_connection(registry: &Registry, variables: &ProviderEnv, id: &str) -> Check {
    match timeout(ANSWER_TIME_MAX, registry.check_connection(id)).await {
        Ok(Ok(ProbeResult::Accepted)) if !has_own_key(registry, id) => {
            Check::ok(TOPIC, format!("{id} answers"))
        }
        Ok(Ok(ProbeResult::Accepted)) => Check::ok(TOPIC, format!("{id} answers and accepts the key")),
        Ok(Ok(ProbeResult::Reachable)) => {
            Check::ok(TOPIC, format!("{id} answers; it has nothing to try the key with"))
        }
        Ok(Err(ProbeError::Name(error))) => {
            Check::bad(TOPIC, error.to_string(), format!("correct the settings of {id}"))
        }
        Ok(Err(ProbeError::Server(error))) => trouble(registry, variables, id, &error),
        Err(_) => {
            let what = format!("{id} cannot be reached: no answer within {} s", ANSWER_TIME_MAX.as_secs());
            Check::bad(TOPIC, what, way_out(registry, variables, id, ""))
        }
    }
}

fn trouble(registry: &Registry, variables: &ProviderEnv, id: &str, error: &ProviderError) -> Check {
    let text = shown(&error.message);
    match error.kind {
        ProviderErrorKind::Auth => {
            let names = registry.vendors().get(id).map(|vendor| vendor.auth.key_env.join(" or "));
            let names = names.filter(|names| !names.is_empty()).unwrap_or_else(|| "its credentials".into());
            let next = format!("check {names} and [keys] {id} in your settings");
            Check::bad(TOPIC, format!("{id} rejects the key: {text}"), next)
        }
        ProviderErrorKind::Network | ProviderErrorKind::Timeout => {
            // The advice goes into its own line.
            let what = text.split("; ").next().unwrap_or_default();
            let next = way_out(registry, variables, id, what);
            Check::bad(TOPIC, format!("{id} cannot be reached: {what}"), next)
        }
        ProviderErrorKind::RateLimited | ProviderErrorKind::Overloaded => {
            Check::warn(TOPIC, format!("{id} is busy: {text}"), "try again later")
        }
        ProviderErrorKind::ContextOverflow
        | ProviderErrorKind::InvalidRequest
        | ProviderErrorKind::ContentFilter
        | ProviderErrorKind::Malformed
        | ProviderErrorKind::Cancelled
        | ProviderErrorKind::Api => {
            let next = format!("check the URL of {id}, and try again later");
            Check::warn(TOPIC, format!("{id} answers, but not as expected: {text}"), next)
        }
    }
}

/// What helps against a network that does not work, by what is known of it.
fn way_out(registry: &Registry, variables: &ProviderEnv, id: &str, what: &str) -> String {
    let address = registry.vendors().get(id).and_then(|vendor| vendor.base_url(variables).ok());
    let host = address.as_ref().and_then(|address| address.host_str()).unwrap_or_default();
    let is_near = ["localhost", "127.0.0.1", "[::1]"].contains(&host);
    let proxy = PROXIES.iter().find(|name| variables.var(name).is_some());
    let what = what.to_ascii_lowercase();
    if what.contains("certificate") {
        "if a proxy re-signs connections, set SSL_CERT_FILE to its certificate".into()
    } else if is_near {
        format!("check that a server runs at {host}, and check the URL of {id}")
    } else if let Some(name) = proxy {
        format!("connections use the proxy in {name}; check it and NO_PROXY")
    } else if what.contains("dns") || what.contains("lookup") {
        format!("check the network and the host name {host}")
    } else {
        "check the network, or set HTTPS_PROXY".into()
    }
}

/// A service's error message without keys: some services repeat a key with stars in its middle.
fn shown(words: &str) -> String {
    let word = |word: &str| if word.contains("**") { "[redacted]".to_owned() } else { word.to_owned() };
    let words: Vec<String> = redacted(words).split_whitespace().map(word).collect();
    words.join(" ").chars().take(WORDS_CHARS_MAX).collect()
}

#[cfg(test)]
#[path = "online_tests.rs"]
mod tests;
