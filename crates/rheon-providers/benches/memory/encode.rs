//! Allocations per request, by the length of its conversation.

use rheon_providers::wire::WireKind;

use crate::counted;
use crate::support::history::copy;
use crate::support::provider::Encoding;
use crate::support::report;

pub(crate) fn measure() {
    for wire in WireKind::ALL {
        let encoding = Encoding::new(wire);
        let name = wire.as_str();
        // Set-up on first use does not count.
        drop(encoding.encode(&encoding.request(4)));
        for messages in [100, 1_000, 10_000] {
            let request = encoding.request(messages);
            let (body, ours) = counted(|| encoding.encode(&request));
            let (written, to_vec) =
                counted(|| serde_json::to_vec(&request.messages).expect("a history is JSON"));
            let (copied, copy) = counted(|| copy(&request));
            for (way, allocated) in [("rheon", ours), ("to_vec", to_vec), ("copy", copy)] {
                report(&format!("encode/{name}/{way}/allocations/{messages}"), allocated.times);
                report(&format!("encode/{name}/{way}/bytes/{messages}"), allocated.bytes);
            }
            report(&format!("encode/{name}/body/{messages}"), body.len() as f64);
            drop((body, written, copied));
        }
    }
}
