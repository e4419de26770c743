//! Nothing between the workspace and the file can be swapped for a link; both ways to open directories pass the same tests.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::directory::{DirectoryEntry, OnMissing, Overwrite};

macro_rules! suite {
    ($way:ident, $DirectoryHandle:path) => {
        mod $way {
            use super::*;
            use $DirectoryHandle as DirectoryHandle;

            fn root() -> (tempfile::TempDir, std::path::PathBuf) {
                let dir = tempfile::tempdir().unwrap();
                let root = dir.path().canonicalize().unwrap();
                (dir, root)
            }

            #[test]
            fn a_link_on_the_way_is_refused() {
                let (_dir, root) = root();
                std::fs::create_dir(root.join("real")).unwrap();
                symlink("real", root.join("link")).unwrap();
                for path in ["link", "link/new", "../x"] {
                    assert!(
                        DirectoryHandle::open(&root, Path::new(path), OnMissing::Create).is_err(),
                        "{path}"
                    );
                }
                assert_eq!(std::fs::read_dir(root.join("real")).unwrap().count(), 0);
            }

            #[test]
            fn only_regular_files_are_opened() {
                let (_dir, root) = root();
                std::fs::write(root.join("file"), "x").unwrap();
                std::fs::create_dir(root.join("folder")).unwrap();
                symlink("file", root.join("link")).unwrap();
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    root.join("pipe"),
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR,
                    0,
                )
                .unwrap();
                let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
                let dir = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse).unwrap();
                let entry = |name: &str| dir.entry(OsStr::new(name)).unwrap();
                assert!(matches!(entry("file"), DirectoryEntry::File(_)));
                assert!(matches!(entry("folder"), DirectoryEntry::Directory));
                assert!(matches!(entry("link"), DirectoryEntry::Other("a symlink")));
                assert!(matches!(entry("pipe"), DirectoryEntry::Other(_)));
                assert!(matches!(entry("socket"), DirectoryEntry::Other(_)));
                assert!(matches!(entry("nothing"), DirectoryEntry::Absent));
            }

            #[test]
            fn a_private_file_is_private_whatever_it_replaces_and_can_be_removed() {
                use std::os::unix::fs::PermissionsExt;
                let (_dir, root) = root();
                let (name, path) = (OsStr::new("file"), root.join("file"));
                std::fs::write(&path, "open").unwrap();
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
                let dir = DirectoryHandle::open(&root, Path::new(""), OnMissing::Refuse).unwrap();
                dir.private_draft(b"mine").unwrap().publish(name, Overwrite::Allow).unwrap();
                assert_eq!(std::fs::read(&path).unwrap(), b"mine");
                assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
                assert!(dir.remove(name).unwrap());
                assert!(!dir.remove(name).unwrap());
                std::fs::create_dir(&path).unwrap();
                assert!(dir.remove(name).is_err());
            }

            #[test]
            fn a_draft_is_published_in_one_step_or_leaves_nothing() {
                let (_dir, root) = root();
                let dir = DirectoryHandle::open(&root, Path::new("a/b"), OnMissing::Create).unwrap();
                drop(dir.draft(b"lost", None).unwrap());
                let count = || std::fs::read_dir(root.join("a/b")).unwrap().count();
                assert_eq!(count(), 0);
                let name = OsStr::new("file");
                dir.draft(b"one", None).unwrap().publish(name, Overwrite::Refuse).unwrap();
                assert!(dir.draft(b"two", None).unwrap().publish(name, Overwrite::Refuse).is_err());
                assert_eq!(std::fs::read(root.join("a/b/file")).unwrap(), b"one");
                dir.draft(b"three", None).unwrap().publish(name, Overwrite::Allow).unwrap();
                assert_eq!(std::fs::read(root.join("a/b/file")).unwrap(), b"three");
                assert_eq!(count(), 1);
            }
        }
    };
}

suite!(by_descriptors, crate::directory::DirectoryHandle);
suite!(by_paths, crate::directory::portable::DirectoryHandle);
