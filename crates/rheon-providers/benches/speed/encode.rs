//! Requests: from a long conversation to a request body, on every wire.

use rheon_providers::wire::WireKind;

use crate::race::{race, way};
use crate::support::history::copy;
use crate::support::provider::Encoding;
use crate::support::report;

const MESSAGES: usize = 10_000;
const ROUNDS: usize = 20;

pub(crate) fn measure() {
    for wire in WireKind::ALL {
        let encoding = Encoding::new(wire);
        let request = encoding.request(MESSAGES);
        let ways = [
            way("rheon", || encoding.encode(&request).len()),
            way("to_vec", || serde_json::to_vec(&request.messages).expect("a history is JSON").len()),
            way("copy", || copy(&request).len()),
        ];
        for way in race(ROUNDS, ways) {
            report(&format!("encode/{}/{}/nanos", wire.as_str(), way.name), way.best.as_nanos() as f64);
        }
    }
}
