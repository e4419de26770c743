//! Directory names of projects, as Claude Code creates them.

use std::path::Path;

use super::{base36, project_dir_name};

fn name(path: &str) -> String {
    project_dir_name(Path::new(path))
}

#[test]
fn everything_but_letters_and_digits_becomes_a_dash() {
    assert_eq!(name("/home/dev/project"), "-home-dev-project");
    assert_eq!(name("/srv/ws_x.y z@é-1"), "-srv-ws-x-y-z---1");
}

#[test]
fn a_character_of_two_units_becomes_two_dashes() {
    assert_eq!(name("/srv/b🙂c"), "-srv-b--c");
}

#[test]
fn a_name_of_200_units_is_kept_and_one_of_201_is_cut() {
    let whole = format!("/{}", "a".repeat(199));
    assert_eq!(name(&whole), whole.replace('/', "-"));
    let longer = format!("{whole}b");
    assert_eq!(name(&longer), format!("-{}-b6ymvk", "a".repeat(199)));
}

#[test]
fn the_hash_of_a_long_name_is_that_of_the_raw_path_in_utf_16() {
    let path = format!("/srv/{}", "long-part_é🙂.".repeat(16));
    let name = name(&path);
    assert_eq!((name.len(), name.strip_suffix("-sza6ix").map(str::len)), (207, Some(200)));
}

#[test]
fn numbers_in_base_36_are_written_as_javascript_writes_them() {
    // Number.prototype.toString(36) of each.
    assert_eq!([0, 35, 36, 1_296, 2_147_483_648].map(base36), ["0", "z", "10", "100", "zik0zk"]);
}
