//! Who owns a claim, and until when.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::builtin::fixture::FarClock;
use crate::files::Claims;

const TTL: Duration = Duration::from_secs(60);

fn claims() -> (Claims, Arc<FarClock>) {
    let clock = Arc::new(FarClock::default());
    (Claims::new(clock.clone()), clock)
}

#[test]
fn a_conflict_names_the_owner() {
    let (claims, clock) = claims();
    let held = claims.claim(Path::new("/w/a"), "run one", TTL).unwrap();
    clock.advance(20);
    let conflict = claims.claim(Path::new("/w/a"), "run two", TTL).err().unwrap();
    assert_eq!(
        conflict.to_string(),
        "/w/a is being changed by run one for up to 40 s; work on something else, then read it again"
    );
    assert!(claims.claim(Path::new("/w/b"), "run two", TTL).is_ok());
    drop(held);
    assert!(claims.claim(Path::new("/w/a"), "run two", TTL).is_ok());
}

#[test]
fn a_claim_ends_when_its_owner_panics() {
    let (claims, _) = claims();
    let inner = claims.clone();
    let outcome = std::thread::spawn(move || {
        let _claim = inner.claim(Path::new("/w/a"), "run one", TTL).unwrap();
        panic!("on purpose");
    })
    .join();
    assert!(outcome.is_err());
    assert_eq!(claims.holder(Path::new("/w/a")), None);
}

#[test]
fn an_owner_may_claim_a_file_twice() {
    let (claims, _) = claims();
    let one = claims.claim(Path::new("/w/a"), "run one", TTL).unwrap();
    let two = claims.claim(Path::new("/w/a"), "run one", TTL).unwrap();
    drop(one);
    assert_eq!(claims.holder(Path::new("/w/a")).as_deref(), Some("run one"));
    drop(two);
    assert_eq!(claims.holder(Path::new("/w/a")), None);
}

#[test]
fn an_expired_claim_does_not_release_the_next_one() {
    let (claims, clock) = claims();
    let old = claims.claim(Path::new("/w/a"), "run one", TTL).unwrap();
    clock.advance(60);
    let _new = claims.claim(Path::new("/w/a"), "run two", TTL).unwrap();
    drop(old);
    assert_eq!(claims.holder(Path::new("/w/a")).as_deref(), Some("run two"));
}
