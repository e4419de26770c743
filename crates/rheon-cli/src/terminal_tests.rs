//! Tests of what decides about colours.

use super::Surroundings;

#[test]
fn colours_only_where_they_are_known_and_wanted() {
    let cases = [
        (true, Some("xterm"), None, true),
        (true, Some("xterm"), Some(""), true),
        (true, Some("xterm"), Some("1"), false),
        (true, Some("xterm"), Some("0"), false),
        (true, Some("dumb"), None, false),
        (true, None, None, false),
        (false, Some("xterm"), None, false),
    ];
    for (is_terminal, term, no_color, wanted) in cases {
        let surroundings =
            Surroundings { is_terminal, term: term.map(Into::into), no_color: no_color.map(Into::into) };
        assert_eq!(surroundings.want_colours(), wanted, "{is_terminal} {term:?} {no_color:?}");
    }
}
