//! What is read of git, and what is written for it.

use std::fs;

use super::{exclude, filters};

#[test]
fn filters_of_the_repository_are_off_and_those_of_the_user_are_not() {
    let list = "global\0filter.lfs.clean\0local\0filter.a=b.c.smudge\0worktree\0filter.w.process\0local\0filter.a=b.c.clean\0";
    let settings = filters(list);
    let keys: Vec<&str> = settings.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "filter.a=b.c.clean",
            "filter.a=b.c.process",
            "filter.a=b.c.required",
            "filter.a=b.c.smudge",
            "filter.w.clean",
            "filter.w.process",
            "filter.w.required",
            "filter.w.smudge",
        ]
    );
    assert_eq!(filters(""), []);
}

#[test]
fn the_line_is_added_once_and_on_a_line_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let file = root.join("info/exclude");
    exclude(&root, &file, "/x/").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "/x/\n");
    fs::write(&file, "*.o").unwrap();
    for _ in 0..3 {
        exclude(&root, &file, "/x/").unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "*.o\n/x/\n");
    let large = file.with_file_name("large");
    fs::File::create(&large).unwrap().set_len(super::EXCLUDE_BYTES_MAX + 1).unwrap();
    exclude(&root, &large, "/x/").unwrap_err();
}

#[test]
#[cfg(unix)]
fn nothing_is_written_where_a_link_leads() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for name in ["git/info", "elsewhere"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::write(root.join("elsewhere/file"), "").unwrap();
    std::os::unix::fs::symlink(root.join("elsewhere/file"), root.join("git/info/exclude")).unwrap();
    std::os::unix::fs::symlink(root.join("elsewhere"), root.join("git/linked")).unwrap();
    for file in ["git/info/exclude", "git/linked/file"] {
        exclude(&root.join("git"), &root.join(file), "/x/").unwrap_err();
    }
    assert_eq!(fs::read_to_string(root.join("elsewhere/file")).unwrap(), "");
}
