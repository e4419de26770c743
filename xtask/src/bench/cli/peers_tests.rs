//! Where programs are found.

use std::fs;

use super::below;

#[test]
fn a_program_is_found_below_folders_whose_names_are_known_in_part() {
    let folder = std::env::temp_dir().join(format!("rheon-peers-{}", std::process::id()));
    let program = folder.join("@x/tool-linux-x64/vendor/any/bin/tool");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::create_dir_all(folder.join("@x/tool-empty")).unwrap();
    fs::write(&program, "").unwrap();
    let found = |place| below(&folder, place);
    assert_eq!(found("@x/tool-*/vendor/*/bin/tool"), Some(program.clone()));
    assert_eq!(found("@x/tool-*/vendor/*/bin"), None);
    assert_eq!(found("@y/tool-*/tool"), None);
    fs::remove_dir_all(&folder).unwrap();
}
