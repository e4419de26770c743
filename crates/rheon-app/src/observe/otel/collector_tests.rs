//! What the variables of OpenTelemetry say.

use expect_test::expect;
use secrecy::ExposeSecret as _;

use super::super::target::Target;
use super::Collector;
use crate::sessions::EnvVars;

fn named_by(variables: &[(&str, &str)]) -> Option<(Collector, Vec<String>)> {
    let environment: EnvVars = variables.iter().copied().collect();
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
    assert_eq!(odd, Vec::<String>::new());
    let traces = collector.traces.as_ref().unwrap();
    assert_eq!(traces.address, "http://localhost:4318/base/v1/traces");
    assert_eq!(collector.metrics.as_ref().unwrap().address, "http://localhost:4318/base/v1/metrics");
    let headers = traces.headers();
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
        named_by(&variables).unwrap().1,
        [
            "OTEL_EXPORTER_OTLP_PROTOCOL is \"grpc\", which is not spoken here: http/protobuf is used instead; set it to http/protobuf \
         or http/json; port 4317 is usually that of gRPC, try 4318"
        ]
    );
}

#[test]
fn what_is_said_of_one_signal_goes_before_what_is_said_of_all() {
    let (collector, odd) = named_by(&[
        ENDPOINT,
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=core"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "2000"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://traces.example/custom"),
        ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-team=traces"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "500"),
        // Empty counts as not set.
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", " "),
    ])
    .unwrap();
    assert_eq!(odd, Vec::<String>::new());
    let told = |target: &Option<Target>| {
        let target = target.as_ref().unwrap();
        let headers = target.headers().into_iter();
        let headers: Vec<String> =
            headers.map(|(name, value)| format!("{name}: {}", value.expose_secret())).collect();
        format!("{} {} {:?}\n", target.address, headers.join(", "), target.timeout)
    };
    expect![[r#"
        http://traces.example/custom x-team: traces, content-type: application/json, content-encoding: gzip 500ms
        http://localhost:4318/base/v1/metrics x-team: core, content-type: application/x-protobuf 2s
    "#]]
    .assert_eq(&(told(&collector.traces) + &told(&collector.metrics)));
}

#[test]
fn one_signal_alone_can_be_sent() {
    let (collector, _) = named_by(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://localhost/m")]).unwrap();
    assert_eq!((collector.traces.is_some(), collector.metrics.is_some()), (false, true));
    let (collector, _) = named_by(&[ENDPOINT, ("OTEL_METRICS_EXPORTER", "none")]).unwrap();
    assert_eq!((collector.traces.is_some(), collector.metrics.is_some()), (true, false));
    assert!(
        named_by(&[ENDPOINT, ("OTEL_METRICS_EXPORTER", "none"), ("OTEL_TRACES_EXPORTER", "none")]).is_none()
    );
}

#[test]
fn what_cannot_be_followed_is_told_once() {
    let (collector, odd) = named_by(&[
        ENDPOINT,
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "brotli"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
        ("OTEL_METRICS_EXPORTER", "prometheus"),
    ])
    .unwrap();
    assert!(collector.traces.is_some() && collector.metrics.is_none());
    assert_eq!(
        odd,
        [
            "OTEL_EXPORTER_OTLP_COMPRESSION is \"brotli\", so nothing is compressed; set it to gzip or none",
            "OTEL_EXPORTER_OTLP_TIMEOUT is \"soon\", so 10 s are used; set it to milliseconds",
            "OTEL_METRICS_EXPORTER is \"prometheus\", which is not supported; set it to otlp or none",
        ]
    );
}
