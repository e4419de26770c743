//! Calls become operations.

use super::super::strace::{hex, parse};
use super::{Follower, Operation};

fn quoted(text: &str) -> String {
    format!("\"{}\"", hex(text))
}

#[test]
fn a_file_is_made_written_renamed_and_synced() {
    let (draft, file) = (quoted("/s/store/d"), quoted("/s/store/f"));
    let text = format!(
        "1 openat(AT_FDCWD</x>, {draft}, O_RDWR|O_CREAT|O_EXCL|O_APPEND, 0600) = 3</s/store/d>\n\
         1 write(3</s/store/d>, {}, 2) = 2\n\
         1 write(3</s/store/d>, {}, 1) = 1\n\
         1 fdatasync(3</s/store/d>) = 0\n\
         1 rename({draft}, {file}) = 0\n\
         1 unlink({file}) = -1 EPERM (no)\n\
         1 write(4</s/acks>, {}, 1) = 1\n\
         1 write(5</elsewhere>, {}, 1) = 1\n",
        quoted("ab"),
        quoted("c"),
        quoted("!"),
        quoted("?"),
    );
    let mut follower = Follower::new("/s");
    follower.follow(&parse(&text)).unwrap();
    let found: Vec<Operation> = follower.history().operations.into_iter().map(|(_, it)| it).collect();
    assert_eq!(
        found,
        [
            Operation::Name { dir: 0, name: "d".into(), node: Some(1) },
            Operation::Write { node: 1, offset: 0, bytes: b"ab".into() },
            Operation::Write { node: 1, offset: 2, bytes: b"c".into() },
            Operation::Sync { node: 1, began: 3 },
            Operation::Rename { from: (0, "d".into()), to: (0, "f".into()), node: 1 },
            Operation::Told { file: "acks", bytes: b"!".into() },
        ]
    );
}
