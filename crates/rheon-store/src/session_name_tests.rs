//! Which ids are valid file names.

use super::SessionName;

#[test]
fn ids_cannot_escape_their_directory() {
    for id in ["0192f3a4-7c1e-7b2a-9d3e-1f2a3b4c5d6e", "s", "a.b_c-1"] {
        assert_eq!(SessionName::new(id).map(|name| name.to_string()), Ok(id.to_owned()));
    }
    let long = "a".repeat(129);
    let wrong = [
        "", ".", "..", "../x", "a/b", "a\\b", "%2e%2e", "a\0b", "a\n", "-rf", ".hidden", "a.", "é", " a",
        &long,
    ];
    for id in wrong {
        assert!(SessionName::new(id).is_err(), "{id:?}");
    }
    assert_eq!(
        SessionName::new("../etc").unwrap_err().to_string(),
        "invalid session id \"../etc\": it must start with a letter or a digit"
    );
}
