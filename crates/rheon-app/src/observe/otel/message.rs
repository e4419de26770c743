//! The messages of OTLP that we send, by the numbers and names of its schema (opentelemetry-proto 1.x).

use rheon_types::Timestamp;

use super::field::Datum::{Choice, Double, Doubles, Fixed, Fixeds, Id, Int, Message, Messages, Text, Truth};
use super::field::{Field, field};
use super::meters::{Histogram, Meters, Series};
use super::span::{Attribute, Known, Span, SpanKind, text};

/// The instrumentation scope of every message.
const SCOPE: &str = "rheon";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `STATUS_CODE_ERROR`.
const STATUS_ERROR: u32 = 2;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u32 = 2;

/// An `ExportTraceServiceRequest`.
pub(super) fn trace_request(resource: &[Attribute], spans: &[Span]) -> Vec<Field> {
    let spans = spans.iter().map(span).collect();
    let scope_spans = vec![field(1, "scope", scope()), field(2, "spans", Messages(spans))];
    let resource_spans = vec![
        field(1, "resource", Message(vec![attributes(1, resource)])),
        field(2, "scopeSpans", Messages(vec![scope_spans])),
    ];
    vec![field(1, "resourceSpans", Messages(vec![resource_spans]))]
}

/// An `ExportMetricsServiceRequest`, for the measurements between two times.
pub(super) fn metrics_request(
    resource: &[Attribute],
    meters: &Meters,
    from: Timestamp,
    to: Timestamp,
) -> Vec<Field> {
    let metric = |(name, unit, series): (&str, &str, &Series)| {
        let points = series.iter().map(|(about, histogram)| point(about, histogram, from, to)).collect();
        let histogram = vec![
            field(1, "dataPoints", Messages(points)),
            field(2, "aggregationTemporality", Choice(CUMULATIVE)),
        ];
        vec![
            field(1, "name", Text(name.into())),
            field(3, "unit", Text(unit.into())),
            field(9, "histogram", Message(histogram)),
        ]
    };
    let known = [
        ("gen_ai.client.token.usage", "{token}", &meters.tokens),
        ("gen_ai.client.operation.duration", "s", &meters.calls),
        ("gen_ai.client.operation.time_to_first_chunk", "s", &meters.first_chunks),
        ("gen_ai.execute_tool.duration", "s", &meters.tools),
        ("gen_ai.invoke_agent.duration", "s", &meters.runs),
    ];
    let metrics = known.into_iter().filter(|(_, _, series)| !series.is_empty()).map(metric).collect();
    let scope_metrics = vec![field(1, "scope", scope()), field(2, "metrics", Messages(metrics))];
    let resource_metrics = vec![
        field(1, "resource", Message(vec![attributes(1, resource)])),
        field(2, "scopeMetrics", Messages(vec![scope_metrics])),
    ];
    vec![field(1, "resourceMetrics", Messages(vec![resource_metrics]))]
}

fn scope() -> super::field::Datum {
    Message(vec![field(1, "name", Text(SCOPE.into())), field(2, "version", Text(VERSION.into()))])
}

fn span(span: &Span) -> Vec<Field> {
    let kind = match span.kind {
        SpanKind::Internal => 1,
        SpanKind::Client => 3,
    };
    let mut known = span.attributes.clone();
    known.extend(span.error.as_ref().map(|error| text("error.type", error)));
    let mut fields = vec![
        field(1, "traceId", Id(span.place.trace_id.to_vec())),
        field(2, "spanId", Id(span.place.span_id.to_vec())),
    ];
    fields.extend(span.place.parent_id.map(|id| field(4, "parentSpanId", Id(id.to_vec()))));
    fields.extend([
        field(5, "name", Text(span.name.clone())),
        field(6, "kind", Choice(kind)),
        field(7, "startTimeUnixNano", nanos(span.began)),
        field(8, "endTimeUnixNano", nanos(span.ended)),
        attributes(9, &known),
    ]);
    let failed = || field(15, "status", Message(vec![field(3, "code", Choice(STATUS_ERROR))]));
    fields.extend(span.error.as_ref().map(|_| failed()));
    fields
}

fn point(about: &[Attribute], histogram: &Histogram, from: Timestamp, to: Timestamp) -> Vec<Field> {
    vec![
        field(2, "startTimeUnixNano", nanos(from)),
        field(3, "timeUnixNano", nanos(to)),
        field(4, "count", Fixed(histogram.count())),
        field(5, "sum", Double(histogram.sum)),
        field(6, "bucketCounts", Fixeds(histogram.counts.clone())),
        field(7, "explicitBounds", Doubles(histogram.bounds.to_vec())),
        attributes(9, about),
        field(11, "min", Double(histogram.min)),
        field(12, "max", Double(histogram.max)),
    ]
}

fn attributes(number: u32, attributes: &[Attribute]) -> Field {
    let entry = |attribute: &Attribute| {
        vec![
            field(1, "key", Text(attribute.name.clone())),
            field(2, "value", Message(vec![value(&attribute.value)])),
        ]
    };
    field(number, "attributes", Messages(attributes.iter().map(entry).collect()))
}

fn value(known: &Known) -> Field {
    match known {
        Known::Text(text) => field(1, "stringValue", Text(text.clone())),
        Known::Number(number) => field(3, "intValue", Int(*number)),
        Known::Truth(truth) => field(2, "boolValue", Truth(*truth)),
        Known::Milliseconds(milliseconds) => field(4, "doubleValue", Double(*milliseconds as f64 / 1000.0)),
        Known::Texts(texts) => {
            let values = texts.iter().map(|text| vec![field(1, "stringValue", Text(text.clone()))]).collect();
            field(5, "arrayValue", Message(vec![field(1, "values", Messages(values))]))
        }
    }
}

fn nanos(at: Timestamp) -> super::field::Datum {
    Fixed(at.as_millis().saturating_mul(1_000_000))
}
