//! OpenTelemetry: runs, model calls and tool calls as spans by the GenAI conventions, tokens and durations as metrics, sent by OTLP over
//! HTTP. Off unless an environment variable names a collector.

mod answer;
mod collector;
mod contents;
mod delivery;
mod exporter;
mod field;
mod message;
mod meters;
mod span;
mod spans;
mod target;

pub(super) use collector::Collector;
pub(super) use contents::Contents;
pub(super) use exporter::Exporter;
