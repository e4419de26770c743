//! How long is waited, and for what. No time passes here.

use std::time::Duration;

use super::Pace;

const LONG: Duration = Duration::from_secs(3600);

#[test]
fn pauses_grow_and_chance_has_a_part() {
    let pace = Pace::default();
    let pauses = |random| -> Vec<u128> {
        (1..=7)
            .map(|tries| pace.pause(tries, None, LONG, random).map_or(0, |pause| pause.as_millis()))
            .collect()
    };
    assert_eq!(pauses(0), [400, 800, 1600, 3200, 6400, 12800, 0]);
    assert_eq!(pauses(u64::MAX / 2), [500, 1000, 2000, 4000, 8000, 16000, 0]);
    assert_eq!(pauses(u64::MAX), [600, 1200, 2400, 4800, 9600, 19200, 0]);
}

#[test]
fn what_the_collector_asks_for_is_honoured_if_there_is_time() {
    let pace = Pace::default();
    let asked = Some(Duration::from_secs(30));
    assert_eq!(pace.pause(1, asked, LONG, 0), asked);
    assert_eq!(pace.pause(1, asked, Duration::from_secs(30), 0), None);
    assert_eq!(pace.pause(1, Some(Duration::ZERO), LONG, 0), Some(Duration::from_millis(400)));
}
