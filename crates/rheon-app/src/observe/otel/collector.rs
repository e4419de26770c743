//! `Collector`: where spans and metrics go, as the variables of OpenTelemetry say.

use secrecy::SecretString;

use super::field::{Field, json, protobuf};
use super::span::{Attribute, text};
use crate::keeping::Environment;

/// Where spans and metrics go.
#[derive(Debug, Clone)]
pub(in crate::observe) struct Collector {
    endpoint: String,
    /// Proofs of who we are, often.
    headers: Vec<(String, SecretString)>,
    encoding: Encoding,
    /// What every message says of the program.
    pub(super) resource: Vec<Attribute>,
}

/// How messages are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Protobuf,
    Json,
}

impl Collector {
    /// The collector that `OTEL_EXPORTER_OTLP_ENDPOINT` names, with what is odd about how it is described.
    pub(in crate::observe) fn named_by(environment: &Environment) -> Option<(Self, Option<String>)> {
        let endpoint = environment.text("OTEL_EXPORTER_OTLP_ENDPOINT")?.trim().trim_end_matches('/');
        let is_off = |name| environment.text(name).is_some_and(|said| said.eq_ignore_ascii_case("true"));
        if endpoint.is_empty() || is_off("OTEL_SDK_DISABLED") {
            return None;
        }
        let (encoding, odd) = match environment.text("OTEL_EXPORTER_OTLP_PROTOCOL").map(str::trim) {
            None | Some("http/protobuf") => (Encoding::Protobuf, None),
            Some("http/json") => (Encoding::Json, None),
            Some(other) => (Encoding::Protobuf, Some(instead_of(other, endpoint))),
        };
        let headers = environment.text("OTEL_EXPORTER_OTLP_HEADERS").map(pairs).unwrap_or_default();
        let headers = headers.into_iter().map(|(name, value)| (name, SecretString::from(value))).collect();
        let resource = resource(environment);
        Some((Self { endpoint: endpoint.to_owned(), headers, encoding, resource }, odd))
    }

    /// Where messages about `signal` go.
    pub(super) fn address(&self, signal: &str) -> String {
        format!("{}/v1/{signal}", self.endpoint)
    }

    /// What goes with every message.
    pub(super) fn headers(&self) -> Vec<(String, SecretString)> {
        let kind = match self.encoding {
            Encoding::Protobuf => "application/x-protobuf",
            Encoding::Json => "application/json",
        };
        let mut headers = self.headers.clone();
        headers.push(("content-type".into(), SecretString::from(kind)));
        headers
    }

    /// A message as it is sent.
    pub(super) fn encoded(&self, message: &[Field]) -> Vec<u8> {
        match self.encoding {
            Encoding::Protobuf => protobuf(message),
            Encoding::Json => json(message).to_string().into_bytes(),
        }
    }
}

fn instead_of(protocol: &str, endpoint: &str) -> String {
    let port = if endpoint.ends_with(":4317") { "; port 4317 is usually that of gRPC, try 4318" } else { "" };
    format!(
        "OTEL_EXPORTER_OTLP_PROTOCOL is {protocol:?}, which is not spoken here: http/protobuf is used instead; set it to \
         http/protobuf or http/json{port}"
    )
}

/// What the program says of itself: its name and version, then what the user adds or changes.
fn resource(environment: &Environment) -> Vec<Attribute> {
    let mut known = vec![("service.name".to_owned(), "rheon".to_owned())];
    known.push(("service.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned()));
    known.extend(environment.text("OTEL_RESOURCE_ATTRIBUTES").map(pairs).unwrap_or_default());
    let name = environment.text("OTEL_SERVICE_NAME");
    known.extend(name.map(|name| ("service.name".to_owned(), name.to_owned())));
    let mut resource: Vec<Attribute> = Vec::new();
    for (name, value) in known {
        resource.retain(|attribute| attribute.name != name);
        resource.push(text(&name, value));
    }
    resource
}

/// `name=value,name=value`, with values that may be percent-encoded. What is no pair is left out.
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
