//! The table of keys, the template and the document say the same.

use super::fixtures::Place;
use super::keys::{KEYS, built_in, reference, template};
use super::settings::Settings;

#[test]
fn the_template_sets_nothing() {
    let place = Place::new().user(template());
    let config = place.load();
    assert_eq!(format!("{:#?}", config.settings), format!("{:#?}", Settings::default()));
    assert_eq!(place.shown(&config), "");
    assert_eq!(place.warnings(&config), "");
}

#[test]
fn the_template_names_the_model_that_is_asked_by_default() {
    let (vendor, model) = crate::models::PREFERRED[0];
    assert!(template().contains(&format!("#model = \"{vendor}/{model}\"\n")), "{vendor}/{model}");
}

#[test]
fn the_template_has_every_key_and_shows_its_default() {
    let uncommented: String = template()
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if rest.starts_with(|first: char| first.is_ascii_lowercase() || first == '[') => rest,
            Some(_) | None => line,
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let place = Place::new().user(&uncommented);
    let config = place.load();
    let shown = config.show();
    for row in KEYS {
        let prefix = row.path.trim_end_matches('*');
        let is_there =
            shown.iter().any(|shown| shown.key.starts_with(prefix) && shown.origin.to_string() != "built-in");
        assert!(is_there || uncommented.contains("\noff = []\n"), "{} is missing in the template", row.path);
        for shown in shown.iter().filter(|shown| shown.key == row.path && !row.default.is_empty()) {
            assert_eq!(shown.value, row.default, "{}", row.path);
        }
    }
}

#[test]
fn what_is_built_in_is_valid() {
    let place = Place::new().user(&built_in());
    assert_eq!(place.problems(), "nothing is wrong");
}

#[test]
fn the_document_has_a_row_for_every_key_and_no_other() {
    let document = include_str!("../../../../docs/CONFIGURATION.md");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect()
    };
    let found: Vec<Vec<String>> = document
        .lines()
        .filter(|line| line.starts_with("| `") && !line.starts_with("| `RHEON_"))
        .map(|line| cells(line).into_iter().take(4).collect())
        .collect();
    let code = |text: &str| if text.is_empty() { "none".to_owned() } else { format!("`{text}`") };
    let wanted: Vec<Vec<String>> = reference()
        .into_iter()
        .map(|row| vec![code(row.key), row.takes, code(row.default), row.project_may])
        .collect();
    assert_eq!(found, wanted);
}
