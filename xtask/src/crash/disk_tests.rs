//! Power cuts keep what was synced, and only that for sure.

use super::{Disk, Loss, cut_at};
use crate::crash::chance::Chance;
use crate::crash::operation::{History, Operation};

/// A file is made and written; its content is synced, its name is not yet, and more is written.
fn history() -> History {
    let operations = vec![
        (1, Operation::Name { dir: 0, name: "f".into(), node: Some(1) }),
        (2, Operation::Write { node: 1, offset: 0, bytes: b"safe".into() }),
        (3, Operation::Sync { node: 1, began: 2 }),
        (4, Operation::Told { file: "acks", bytes: b"!".into() }),
        (5, Operation::Write { node: 1, offset: 4, bytes: b"lost".into() }),
        (6, Operation::Sync { node: 0, began: 5 }),
    ];
    History { operations, dirs: vec![true, false] }
}

fn cut(moment: usize, loss: Loss) -> Disk {
    cut_at(&history(), moment, loss, &mut Chance::new(1))
}

#[test]
fn a_name_is_lost_until_its_dir_is_synced() {
    assert!(cut(5, Loss::All).names.is_empty());
    assert_eq!(cut(6, Loss::All).names.get(&(0, "f".into())), Some(&1));
    assert_eq!(cut(5, Loss::Nothing).names.len(), 1);
}

#[test]
fn content_is_lost_until_it_is_synced() {
    assert_eq!(cut(2, Loss::All).content.get(&1), None);
    assert_eq!(cut(6, Loss::All).content.get(&1), Some(&b"safe".to_vec()));
    assert_eq!(cut(6, Loss::Nothing).content.get(&1), Some(&b"safelost".to_vec()));
}

#[test]
fn whatever_chance_decides_what_is_safe_is_there() {
    for seed in 0..1_000 {
        let disk = cut_at(&history(), 6, Loss::Any, &mut Chance::new(seed));
        assert!(disk.content.get(&1).is_some_and(|content| content.starts_with(b"safe")), "seed {seed}");
        assert_eq!(disk.told.get("acks"), Some(&b"!".to_vec()));
    }
}
