//! What the variables of OpenTelemetry say.

use secrecy::ExposeSecret as _;

use super::Collector;
use crate::keeping::Environment;

fn named_by(variables: &[(&str, &str)]) -> Option<(Collector, Option<String>)> {
    let environment: Environment = variables.iter().copied().collect();
    Collector::named_by(&environment)
}

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318/base/");

#[test]
fn there_is_none_unless_one_is_named() {
    assert!(named_by(&[]).is_none());
    assert!(named_by(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]).is_none());
    assert!(named_by(&[("OTEL_SERVICE_NAME", "x"), ("OTEL_EXPORTER_OTLP_HEADERS", "a=b")]).is_none());
    assert!(named_by(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true")]).is_none());
}

#[test]
fn headers_and_resource_are_lists_of_pairs() {
    let (collector, odd) = named_by(&[
        ENDPOINT,
        ("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20YTpi, x-team = a%2Cb%,,none"),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=other,deployment.environment.name=test"),
        ("OTEL_SERVICE_NAME", "mine"),
    ])
    .unwrap();
    assert_eq!(odd, None);
    assert_eq!(collector.address("traces"), "http://localhost:4318/base/v1/traces");
    let headers = collector.headers();
    let headers: Vec<(&str, &str)> =
        headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    let expected =
        [("Authorization", "Basic YTpi"), ("x-team", "a,b%"), ("content-type", "application/x-protobuf")];
    assert_eq!(headers, expected);
    let names: Vec<&str> = collector.resource.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["service.version", "deployment.environment.name", "service.name"]);
    assert!(!format!("{collector:?}").contains("YTpi"));
}

#[test]
fn a_protocol_that_is_not_spoken_is_told() {
    let variables =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4317"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    assert_eq!(
        named_by(&variables).unwrap().1.unwrap(),
        "OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\", which is not spoken here: http/protobuf is used instead; set it to http/protobuf \
         or http/json; port 4317 is usually that of gRPC, try 4318"
    );
}
