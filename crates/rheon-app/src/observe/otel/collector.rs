//! `Collector`: where spans and metrics go, from the environment variables of OpenTelemetry.

use std::collections::HashSet;
use std::time::Duration;

use secrecy::SecretString;

use super::span::{Attribute, text};
use super::target::{Compression, Encoding, Signal, Target};
use crate::sessions::EnvVars;

/// The default timeout of one attempt, from the specification.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The environment variable with the URL for all signals.
const ENDPOINT_OF_ALL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Where spans and metrics go.
#[derive(Debug, Clone)]
pub(in crate::observe) struct Collector {
    pub(super) traces: Option<Target>,
    pub(super) metrics: Option<Target>,
    /// The resource attributes of every message.
    pub(super) resource: Vec<Attribute>,
}

impl Collector {
    /// The collector that environment variables name, and the problems in them.
    pub(in crate::observe) fn named_by(environment: &EnvVars) -> Option<(Self, Vec<String>)> {
        let variables = Variables { environment };
        if variables.get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return None;
        }
        let mut odd = Vec::new();
        let traces = variables.target(Signal::Traces, &mut odd);
        let metrics = variables.target(Signal::Metrics, &mut odd);
        // A problem of both signals is reported once.
        let mut told = HashSet::new();
        odd.retain(|oddity| told.insert(oddity.clone()));
        let is_named = traces.is_some() || metrics.is_some();
        (is_named || !odd.is_empty())
            .then(|| (Self { traces, metrics, resource: resource(environment) }, odd))
    }
}

/// The environment variables of OpenTelemetry. Empty counts as not set, as the specification says.
struct Variables<'e> {
    environment: &'e EnvVars,
}

impl<'e> Variables<'e> {
    fn get(&self, name: &str) -> Option<&'e str> {
        self.environment.text(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// The setting of one signal, or else the one of all signals, with the name of its environment variable.
    fn of(&self, signal: Signal, what: &str) -> Option<(String, &'e str)> {
        let own = format!("OTEL_EXPORTER_OTLP_{}_{what}", signal.as_str().to_ascii_uppercase());
        let all = format!("OTEL_EXPORTER_OTLP_{what}");
        [own, all].into_iter().find_map(|name| self.get(&name).map(|value| (name, value)))
    }

    fn target(&self, signal: Signal, odd: &mut Vec<String>) -> Option<Target> {
        let (variable, endpoint) = self.of(signal, "ENDPOINT")?;
        let exporter = format!("OTEL_{}_EXPORTER", signal.as_str().to_ascii_uppercase());
        match self.get(&exporter) {
            None | Some("otlp") => {}
            Some("none") => return None,
            Some(other) => {
                odd.push(format!("{exporter} is {other:?}, which is not supported; set it to otlp or none"));
                return None;
            }
        }
        // The URL of one signal is used unchanged; the signal is appended to the URL of all signals.
        let is_for_all = variable == ENDPOINT_OF_ALL;
        let base = endpoint.trim_end_matches('/');
        let address = if is_for_all { format!("{base}/v1/{}", signal.as_str()) } else { endpoint.to_owned() };
        let headers = self.of(signal, "HEADERS").map(|(_, list)| pairs(list)).unwrap_or_default();
        Some(Target {
            signal,
            encoding: self.encoding(signal, endpoint, odd),
            compression: self.compression(signal, odd),
            timeout: self.timeout(signal, odd),
            headers: headers.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect(),
            address,
            variable,
        })
    }

    fn encoding(&self, signal: Signal, endpoint: &str, odd: &mut Vec<String>) -> Encoding {
        match self.of(signal, "PROTOCOL") {
            None | Some((_, "http/protobuf")) => Encoding::Protobuf,
            Some((_, "http/json")) => Encoding::Json,
            Some((name, other)) => {
                let is_grpc_port = endpoint.trim_end_matches('/').ends_with(":4317");
                let port = if is_grpc_port { "; port 4317 is usually that of gRPC, try 4318" } else { "" };
                odd.push(format!(
                    "{name} is {other:?}, which is not spoken here: http/protobuf is used instead; set it to http/protobuf or \
                     http/json{port}"
                ));
                Encoding::Protobuf
            }
        }
    }

    fn compression(&self, signal: Signal, odd: &mut Vec<String>) -> Compression {
        match self.of(signal, "COMPRESSION") {
            None | Some((_, "none")) => Compression::None,
            Some((_, "gzip")) => Compression::Gzip,
            Some((name, other)) => {
                odd.push(format!("{name} is {other:?}, so nothing is compressed; set it to gzip or none"));
                Compression::None
            }
        }
    }

    fn timeout(&self, signal: Signal, odd: &mut Vec<String>) -> Duration {
        let Some((name, value)) = self.of(signal, "TIMEOUT") else { return TIMEOUT };
        match value.parse() {
            Ok(milliseconds @ 1..) => Duration::from_millis(milliseconds),
            Ok(0) | Err(_) => {
                let seconds = TIMEOUT.as_secs();
                odd.push(format!("{name} is {value:?}, so {seconds} s are used; set it to milliseconds"));
                TIMEOUT
            }
        }
    }
}

/// The resource attributes: name and version of the program, then the user's additions.
fn resource(environment: &EnvVars) -> Vec<Attribute> {
    let variables = Variables { environment };
    let mut known = vec![("service.name".to_owned(), "rheon".to_owned())];
    known.push(("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
    known.extend(variables.get("OTEL_RESOURCE_ATTRIBUTES").map(pairs).unwrap_or_default());
    let name = variables.get("OTEL_SERVICE_NAME");
    known.extend(name.map(|name| ("service.name".to_owned(), name.to_owned())));
    let mut resource: Vec<Attribute> = Vec::new();
    for (name, value) in known {
        resource.retain(|attribute| attribute.name != name);
        resource.push(text(&name, value));
    }
    resource
}

/// `name=value,name=value`, with values that may be percent-encoded. Skips anything that is not a pair.
fn pairs(list: &str) -> Vec<(String, String)> {
    let pair = |entry: &str| {
        let (name, value) = entry.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then(|| (name.to_owned(), decoded(value.trim())))
    };
    list.split(',').filter_map(pair).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.split_at_checked(2)).flatten();
        let value = escaped.and_then(|(digits, after)| {
            let digits = std::str::from_utf8(digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok()?, after))
        });
        let (byte, after) = value.unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
#[path = "collector_tests.rs"]
mod tests;
