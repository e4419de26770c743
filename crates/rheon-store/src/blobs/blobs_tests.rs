//! Payloads are stored and restored, or replaced by a note.

use std::collections::HashSet;
use std::os::unix::fs::PermissionsExt as _;

use proptest::prelude::*;
use rheon_types::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{BlobId, Blobs, externalize, internalize, used};

fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

fn blobs(bytes_max: u64) -> (tempfile::TempDir, Blobs) {
    let dir = tempfile::tempdir().unwrap();
    let blobs = Blobs::new(dir.path().join("blobs"), bytes_max);
    (dir, blobs)
}

#[test]
fn long_strings_are_stored_once_beside_the_event() {
    let (dir, blobs) = blobs(1 << 30);
    let long = "é".repeat(20_000);
    let event = raw(&json!({ "kind": { "text": long, "again": [long, "short"] } }));
    let (slim, count) = externalize(&event, &blobs).unwrap();
    assert_eq!((count, slim.get().len() < 400), (2, true));
    assert_eq!(internalize(slim.get(), &blobs).unwrap().to_string(), event.get());
    assert_eq!(used(slim.get()), [(BlobId::of(long.as_bytes()), 40_000); 2]);
    blobs.sync().unwrap();
    let found: Vec<_> = walk(dir.path());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(std::fs::metadata(&found[0]).unwrap().permissions().mode() & 0o777, 0o600);
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        if entry.path().is_dir() { found.extend(walk(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}

#[test]
fn short_strings_and_strings_over_the_limit_stay() {
    let (_directory, blobs) = blobs(10_000);
    let short = raw(&json!({ "a": "x".repeat(9_000) }));
    assert_eq!(externalize(&short, &blobs).unwrap().1, 0);
    let two = raw(&json!({ "a": "x".repeat(9_000), "b": "y".repeat(40_000) }));
    let (slim, count) = externalize(&two, &blobs).unwrap();
    assert_eq!(count, 1);
    assert!(slim.get().len() > 40_000);
    assert_eq!(internalize(slim.get(), &blobs).unwrap().to_string(), two.get());
}

#[test]
fn a_missing_or_changed_blob_affects_nothing_else() {
    let (dir, blobs) = blobs(1 << 30);
    let event = raw(&json!({ "a": "x".repeat(40_000), "b": "kept" }));
    let (slim, _) = externalize(&event, &blobs).unwrap();
    let file = walk(dir.path()).remove(0);
    std::fs::write(&file, "changed").unwrap();
    let lost = json!({ "a": "[missing: a text of 40000 bytes]", "b": "kept" }).to_string();
    assert_eq!(internalize(slim.get(), &blobs).unwrap().to_string(), lost);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(internalize(slim.get(), &blobs).unwrap().to_string(), lost);
}

#[test]
fn unused_payloads_are_removed() {
    let (dir, blobs) = blobs(1 << 30);
    let (one, two) = (blobs.put(b"one").unwrap().unwrap(), blobs.put(b"two").unwrap().unwrap());
    std::fs::write(dir.path().join("blobs").join(one.to_string().get(..2).unwrap()).join(".draft-1"), "half")
        .unwrap();
    // New payloads may belong to a line that is about to be written.
    assert_eq!(blobs.retain(&HashSet::from([two]), Timestamp::from_millis(0)).unwrap(), 0);
    let later = Timestamp::from_millis(4_102_444_800_000);
    assert_eq!(blobs.retain(&HashSet::from([two]), later).unwrap(), 7);
    assert!(blobs.get(one).is_err());
    assert_eq!(blobs.get(two).unwrap(), b"two");
}

#[test]
fn many_payloads_are_synced_together() {
    for count in [3_u32, 300] {
        let (_directory, blobs) = blobs(1 << 30);
        let ids: Vec<_> =
            (0..count).map(|nth| blobs.put_unsynced(&nth.to_be_bytes()).unwrap().unwrap()).collect();
        blobs.retain(&ids[1..].iter().copied().collect(), Timestamp::from_millis(u64::MAX)).unwrap();
        // A payload that was removed does not prevent syncing the others.
        blobs.sync().unwrap();
        assert_eq!((blobs.has(ids[0]), blobs.has(ids[1])), (false, true));
    }
}

fn tricky() -> impl Strategy<Value = Value> {
    let long = prop_oneof![Just("x".repeat(9_000)), Just("é\u{0}\"\\".repeat(3_000)), ".{0,20}"];
    let leaf = prop_oneof![long.prop_map(Value::from), any::<i64>().prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let key = prop_oneof![
            Just("$blob".to_owned()),
            Just("$literal".to_owned()),
            Just("bytes".to_owned()),
            "[a-c]"
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(key, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_an_event_holds_comes_back(value in tricky()) {
        let (_directory, blobs) = blobs(1 << 30);
        let padded = json!({ "value": value, "pad": "p".repeat(40_000) });
        let event = raw(&padded);
        let (slim, _) = externalize(&event, &blobs).unwrap();
        let back = internalize(slim.get(), &blobs).unwrap();
        prop_assert_eq!(back, padded);
    }
}

#[test]
fn a_payload_that_is_used_again_is_young_again() {
    let (dir, blobs) = blobs(1 << 30);
    let id = blobs.put(b"long").unwrap().unwrap();
    let path = walk(dir.path()).pop().unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    assert_eq!(blobs.put(b"long").unwrap(), Some(id));
    // Two hours after the first use, and just after the second.
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let now = modified.duration_since(std::time::UNIX_EPOCH).unwrap();
    assert!(modified > old + std::time::Duration::from_secs(60));
    let now = Timestamp::from_millis(u64::try_from(now.as_millis()).unwrap());
    assert_eq!((blobs.retain(&HashSet::new(), now).unwrap(), blobs.has(id)), (0, true));
}
