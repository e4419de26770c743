//! `rheon completions` and `rheon man`. What shells and `man` make of them was looked at in real ones.

use std::collections::BTreeSet;
use std::fs;

use crate::support::Place;

fn completions(shell: &str) -> String {
    let ran = Place::new().run(&["completions", shell]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    ran.stdout
}

#[test]
fn zsh_finds_commands_where_they_stand() {
    let text = completions("zsh");
    assert!(text.contains("case $line[1] in\n            (run)"));
    assert!(!text.contains("$line[2]"));
}

#[test]
fn fish_knows_the_values_of_flags_before_commands() {
    let text = completions("fish");
    assert_eq!(text.matches(" or return 0\n").count(), 1);
    assert!(text.contains("-l permission-mode -d 'Set the permission mode' -r -f -a \"default"));
}

#[test]
fn bash_knows_commands_flags_and_values() {
    let text = completions("bash");
    for part in ["rheon,sessions)", "--output-format", "compgen -W \"text json stream-json events\""] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn every_page_that_a_page_names_is_there() {
    let place = Place::new();
    let dir = place.path().join("man1");
    let ran = place.run(&["man", "--folder", dir.to_str().unwrap()]);
    assert_eq!((ran.stderr.as_str(), ran.code), ("", Some(0)));
    let pages = fs::read_dir(&dir).unwrap().map(|page| page.unwrap().path());
    let (mut there, mut named) = (BTreeSet::new(), BTreeSet::new());
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        there.insert(page.file_stem().unwrap().to_str().unwrap().to_owned());
        let lines = text.lines().filter_map(|line| line.strip_suffix("(1)"));
        named.extend(lines.map(|name| name.replace("\\-", "-")));
    }
    there.remove("rheon");
    assert_eq!(there, named);
    assert_eq!(ran.stdout, format!("wrote {} pages to {}\n", there.len() + 1, dir.display()));
}

#[test]
fn one_page_can_be_read_alone() {
    let place = Place::new();
    let ran = place.run(&["man", "sessions", "list"]);
    assert!(ran.stdout.contains(".TH rheon-sessions-list 1"), "{}", ran.stdout);
    let ran = place.run(&["man", "sesions"]);
    assert_eq!(
        (ran.stderr.as_str(), ran.code),
        ("error: unknown command \"sesions\"; did you mean \"sessions\"?\n", Some(2))
    );
}
