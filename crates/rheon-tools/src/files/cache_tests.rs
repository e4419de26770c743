//! What the cache returns, and when it does not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rheon_types::Timestamp;

use crate::files::{FileCache, Fingerprint, Stamp};

const FAR: Timestamp = Timestamp::from_millis(4_102_444_800_000);

fn file(dir: &Path, name: &str, content: &str) -> (PathBuf, Arc<[u8]>, Fingerprint) {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    let stamp = Stamp::of(&path.metadata().unwrap());
    (path, content.as_bytes().into(), Fingerprint::of(stamp, content.as_bytes()))
}

#[test]
fn an_entry_is_valid_only_for_its_stamp() {
    let dir = tempfile::tempdir().unwrap();
    let (path, content, fingerprint) = file(dir.path(), "a", "one");
    let cache = FileCache::default();
    cache.put(&path, &content, fingerprint, FAR);
    assert_eq!(cache.get(&path, fingerprint.stamp()), Some((content, fingerprint)));

    // Another file with the same size and modification time.
    let modified = path.metadata().unwrap().modified().unwrap();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, "two").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(cache.get(&path, &Stamp::of(&path.metadata().unwrap())), None);
    assert_eq!(cache.bytes(), 0);
}

#[test]
fn content_that_may_change_within_one_tick_is_not_cached() {
    let dir = tempfile::tempdir().unwrap();
    let (path, content, fingerprint) = file(dir.path(), "a", "one");
    let cache = FileCache::default();
    let modified = path.metadata().unwrap().modified().unwrap();
    let modified = modified.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_millis();
    cache.put(&path, &content, fingerprint, Timestamp::from_millis(u64::try_from(modified).unwrap() + 100));
    assert_eq!(cache.get(&path, fingerprint.stamp()), None);
}

#[test]
fn at_the_limit_the_least_recently_used_is_evicted() {
    let dir = tempfile::tempdir().unwrap();
    let cache = FileCache::new(5 * (256 + 10));
    let files: Vec<_> = (0..6).map(|n| file(dir.path(), &n.to_string(), "0123456789")).collect();
    for (path, content, fingerprint) in files.iter().take(5) {
        cache.put(path, content, *fingerprint, FAR);
    }
    assert_eq!(cache.bytes(), 5 * (256 + 10));
    assert!(cache.get(&files[0].0, files[0].2.stamp()).is_some());
    cache.put(&files[5].0, &files[5].1, files[5].2, FAR);
    assert_eq!(cache.bytes(), 5 * (256 + 10));
    let kept: Vec<_> =
        files.iter().map(|(path, _, print)| cache.get(path, print.stamp()).is_some()).collect();
    assert_eq!(kept, [true, false, true, true, true, true]);
}

#[test]
fn one_large_file_does_not_evict_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let cache = FileCache::new(4_000);
    let (path, content, fingerprint) = file(dir.path(), "a", &"x".repeat(1_000));
    cache.put(&path, &content, fingerprint, FAR);
    assert_eq!(cache.bytes(), 0);
}
