//! The log of a debug build watches its own order.

use std::sync::Arc;
use std::time::Duration;

use rheon_types::{AgentEvent, Clock, Timestamp, TurnEvent, TurnTrigger};

use super::{EventLog, Observers};

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn elapsed(&self) -> Duration {
        Duration::ZERO
    }
}

#[test]
#[should_panic(expected = "event 1 (turn.start) of run l is out of order: it came before the run began")]
fn an_event_out_of_order_stops_the_test_it_happens_in() {
    let log = EventLog::new("s".into(), Arc::new(Still), None, Observers::default());
    log.emit(
        &"l".into(),
        None,
        AgentEvent::Turn(TurnEvent::Start { turn_index: 0, triggered_by: TurnTrigger::User }),
    );
}
