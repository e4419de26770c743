//! What is remembered, and what a broken file does.

use super::*;

#[test]
fn a_mode_is_remembered_for_its_dir_alone() {
    let place = tempfile::tempdir().unwrap();
    let modes = DirModes { file: place.path().join("state/folder_modes.json") };
    let (one, other) = (place.path().join("one"), place.path().join("other"));
    assert_eq!(modes.get(&one), None);
    modes.set(&one, PermissionMode::Auto).unwrap();
    modes.set(&other, PermissionMode::Default).unwrap();
    assert_eq!(
        (modes.get(&one), modes.get(&other)),
        (Some(PermissionMode::Auto), Some(PermissionMode::Default))
    );
    fs::write(&modes.file, "{ not json").unwrap();
    assert_eq!(modes.get(&one), None);
    modes.set(&one, PermissionMode::Default).unwrap();
    assert_eq!(modes.get(&one), Some(PermissionMode::Default));
}
