//! Where programs are found.

use std::fs;

use super::below;

#[test]
fn a_program_is_found_below_dirs_whose_names_are_known_in_part() {
    let dir = std::env::temp_dir().join(format!("rheon-peers-{}", std::process::id()));
    let program = dir.join("@x/tool-linux-x64/vendor/any/bin/tool");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::create_dir_all(dir.join("@x/tool-empty")).unwrap();
    fs::write(&program, "").unwrap();
    let found = |place| below(&dir, place);
    assert_eq!(found("@x/tool-*/vendor/*/bin/tool"), Some(program.clone()));
    assert_eq!(found("@x/tool-*/vendor/*/bin"), None);
    assert_eq!(found("@y/tool-*/tool"), None);
    fs::remove_dir_all(&dir).unwrap();
}
