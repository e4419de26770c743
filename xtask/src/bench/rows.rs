//! The rows of the table: which case, how good it should be, and what it is compared with.

/// One row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// What one unit of the case is.
    pub(super) title: &'static str,
    /// The case, as the benchmarks name it.
    pub(super) case: &'static str,
    /// How good it should be.
    pub(super) aim: Option<Aim>,
    /// The case that it is compared with.
    pub(super) reference: Option<&'static str>,
}

/// How good a case should be: the most that each figure may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// Time.
    pub(super) nanos: Option<f64>,
    /// Allocations.
    pub(super) allocations: Option<f64>,
    /// Times as much as the reference, in instructions if they were counted.
    pub(super) ratio: Option<f64>,
}

const TEXT: Option<Aim> = Some(Aim { nanos: Some(50_000.0), allocations: Some(200.0), ratio: None });
const DELTA: Option<Aim> = Some(Aim { nanos: Some(1_000.0), allocations: Some(1.0), ratio: None });
const TOOL: Option<Aim> = Some(Aim { nanos: Some(20_000.0), allocations: None, ratio: None });
const FLAT: Option<Aim> = Some(Aim { nanos: None, allocations: None, ratio: Some(1.5) });

const fn reference(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: None, reference: None }
}

const fn text(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: TEXT, reference: Some("text/hand_loop") }
}

const fn delta(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: DELTA, reference: Some("delta/hand_unwatched") }
}

const fn watched(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: DELTA, reference: Some("delta/hand_watched") }
}

const fn call(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: TOOL, reference: Some("tool/bare_spawn") }
}

/// Every row, in the order of the table.
pub(super) const ROWS: &[Row] = &[
    reference("text turn by hand", "text/hand_loop"),
    text("text turn, as a run of its own", "text/run"),
    text("text turn, one more in a run", "text/turn"),
    reference("delta: provider alone", "delta/provider_alone"),
    reference("delta: push_str and mpsc, no provider", "delta/push_and_send"),
    reference("delta by hand: provider, push_str", "delta/hand_unwatched"),
    reference("delta by hand: provider, push_str, mpsc", "delta/hand_watched"),
    delta("delta, no observer, 10 messages", "delta/none/10"),
    delta("delta, no observer, 1,000 messages", "delta/none/1000"),
    delta("delta, no observer, 10,000 messages", "delta/none/10000"),
    delta("delta, callback, 10 messages", "delta/callback/10"),
    delta("delta, callback, 1,000 messages", "delta/callback/1000"),
    delta("delta, callback, 10,000 messages", "delta/callback/10000"),
    watched("delta, 1 subscriber, 10 messages", "delta/broadcast_1/10"),
    watched("delta, 1 subscriber, 1,000 messages", "delta/broadcast_1/1000"),
    watched("delta, 1 subscriber, 10,000 messages", "delta/broadcast_1/10000"),
    watched("delta, stream, 10 messages", "delta/stream/10"),
    watched("delta, stream, 1,000 messages", "delta/stream/1000"),
    watched("delta, stream, 10,000 messages", "delta/stream/10000"),
    reference("8 subscribers: tokio's broadcast of shared strings", "broadcast/bare_8"),
    Row {
        title: "delta, 8 subscribers",
        case: "broadcast/rheon_8",
        aim: None,
        reference: Some("broadcast/bare_8"),
    },
    reference("no-op tool: execute().await", "tool/bare_execute"),
    reference("no-op tool: tokio::spawn(execute()).await", "tool/bare_spawn"),
    call("no-op tool call, parallel", "tool/call_parallel"),
    call("no-op tool call, sequential", "tool/call_sequential"),
    reference("tool turn, 2nd to 51st of a run", "tool/turn_early"),
    Row {
        title: "tool turn, 201st to 400th of a run",
        case: "tool/turn_late",
        aim: FLAT,
        reference: Some("tool/turn_early"),
    },
    Row {
        title: "the same, the model repeats one call id",
        case: "tool/turn_same_id",
        aim: FLAT,
        reference: Some("tool/turn_early"),
    },
];
