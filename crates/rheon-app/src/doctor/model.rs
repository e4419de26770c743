//! Which model would be asked, and whether it can be.

use std::time::Duration;

use rheon_providers::Registry;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::check::Check;
use super::network::Network;
use crate::config::Config;
use crate::models::{Because, Chosen, choose};
use crate::session::{Surroundings, registry, variables};

const TOPIC: &str = "model";

/// How long a service may take to pick up.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

pub(super) async fn model(surroundings: &Surroundings, config: &Config, network: Network) -> Vec<Check> {
    let registry = match registry(&config.settings.services, surroundings) {
        Ok(registry) => registry,
        Err(error) => {
            return vec![Check::bad(TOPIC, error.to_string(), "look at the vendors that are configured")];
        }
    };
    let said = config.settings.model.name.as_deref();
    let chosen = match choose(said, &registry, &variables(surroundings)).await {
        Ok(chosen) => chosen,
        Err(error) => {
            // The first line says what is the matter, the others what to do.
            let text = error.to_string();
            let (what, next) =
                text.split_once('\n').unwrap_or((text.as_str(), "`rheon models` lists what is known"));
            return vec![Check::bad(TOPIC, what.trim_end_matches([':', '.']), next.trim())];
        }
    };
    let Chosen { name, because } = &chosen;
    let vendor = name.split('/').next().unwrap_or_default();
    let why = match because {
        Because::Said => "as configured".to_owned(),
        Because::Key => format!("as there is a key for {vendor}"),
        Because::Answers(local) => format!("as its server answers at {}", local.address),
    };
    let mut checks = vec![Check::ok(TOPIC, format!("{name}, {why}")), key(&registry, vendor)];
    if network == Network::Tried {
        checks.push(reach(&registry, vendor, surroundings).await);
    }
    checks
}

/// Whether there is a key. The key itself is nobody's business.
fn key(registry: &Registry, vendor: &str) -> Check {
    const TOPIC: &str = "key";
    match registry.has_key(vendor) {
        Ok(true) => Check::ok(TOPIC, format!("{vendor} can be asked")),
        Ok(false) => {
            let names = registry.vendors().get(vendor).map(|vendor| vendor.auth.key_env.join(" or "));
            let names = names.unwrap_or_default();
            Check::bad(
                TOPIC,
                format!("there is no key for {vendor}"),
                format!("set {names}, or [keys] {vendor} in your settings"),
            )
        }
        Err(error) => Check::bad(TOPIC, error.to_string(), "`rheon models --vendors` lists the vendors"),
    }
}

async fn reach(registry: &Registry, vendor: &str, surroundings: &Surroundings) -> Check {
    const TOPIC: &str = "network";
    let proxied = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
    if let Some(name) = proxied.iter().find(|name| surroundings.environment.get(name).is_some()) {
        return Check::ok(TOPIC, format!("{vendor} is reached through {name}; that was not tried"));
    }
    let base = registry.vendors().get(vendor).map(|vendor| vendor.base_url(&variables(surroundings)));
    let address = match base {
        Some(Ok(base)) => base.host_str().map(str::to_owned).zip(base.port_or_known_default()),
        Some(Err(error)) => return Check::bad(TOPIC, error.to_string(), "correct the address of the vendor"),
        None => None,
    };
    let Some((host, port)) = address else {
        return Check::bad(TOPIC, format!("{vendor} has no address"), "correct the address of the vendor");
    };
    let host = host.trim_matches(['[', ']']).to_owned();
    let problem = match timeout(CONNECT_TIME_MAX, TcpStream::connect((host.as_str(), port))).await {
        Ok(Ok(_)) => return Check::ok(TOPIC, format!("{host}:{port} answers")),
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} s", CONNECT_TIME_MAX.as_secs()),
    };
    Check::bad(
        TOPIC,
        format!("{host}:{port} cannot be reached: {problem}"),
        "look at the network, or set HTTPS_PROXY",
    )
}
