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

/// How good a case should be; each figure is one that it must stay below or at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aim {
    /// Time.
    pub(super) nanos: f64,
    /// Allocations.
    pub(super) allocations: Option<f64>,
}

const TEXT: Option<Aim> = Some(Aim { nanos: 50_000.0, allocations: Some(200.0) });
const DELTA: Option<Aim> = Some(Aim { nanos: 1_000.0, allocations: Some(1.0) });
const TOOL: Option<Aim> = Some(Aim { nanos: 20_000.0, allocations: None });

const fn reference(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: None, reference: None }
}

const fn text(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: TEXT, reference: Some("text/hand_loop") }
}

const fn delta(title: &'static str, case: &'static str) -> Row {
    Row { title, case, aim: DELTA, reference: Some("delta/hand_loop") }
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
    reference("delta by hand: provider, push_str, mpsc", "delta/hand_loop"),
    delta("delta, nobody watches, 10 messages", "delta/none/10"),
    delta("delta, nobody watches, 1,000 messages", "delta/none/1000"),
    delta("delta, nobody watches, 10,000 messages", "delta/none/10000"),
    delta("delta, callback, 10 messages", "delta/callback/10"),
    delta("delta, callback, 1,000 messages", "delta/callback/1000"),
    delta("delta, callback, 10,000 messages", "delta/callback/10000"),
    delta("delta, 1 subscriber, 10 messages", "delta/broadcast_1/10"),
    delta("delta, 1 subscriber, 1,000 messages", "delta/broadcast_1/1000"),
    delta("delta, 1 subscriber, 10,000 messages", "delta/broadcast_1/10000"),
    delta("delta, stream, 10 messages", "delta/stream/10"),
    delta("delta, stream, 1,000 messages", "delta/stream/1000"),
    delta("delta, stream, 10,000 messages", "delta/stream/10000"),
    reference("8 subscribers: tokio's broadcast of Arc<String>", "broadcast/bare_8"),
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
        aim: None,
        reference: Some("tool/turn_early"),
    },
];
