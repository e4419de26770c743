//! Tests of what decides how a stream is written to.

use rheon_app::config::ColorMode;

use super::StreamInfo;

const XTERM: Option<&str> = Some("xterm");

/// Whether there are colors for: terminal, `TERM`, `NO_COLOR`, `CLICOLOR_FORCE`.
fn colors(is_terminal: bool, [term, no_color, clicolor_force]: [Option<&str>; 3], colour: ColorMode) -> bool {
    let surroundings = StreamInfo {
        is_terminal,
        columns: is_terminal.then_some(80),
        term: term.map(Into::into),
        no_color: no_color.map(Into::into),
        clicolor: None,
        clicolor_force: clicolor_force.map(Into::into),
    };
    let style = surroundings.style(colour);
    assert_eq!((style.formats, style.wraps), (style.colors, is_terminal));
    assert_eq!(style.is_animated(), style.colors && is_terminal);
    style.colors
}

#[test]
fn colours_only_where_they_are_known_and_wanted() {
    let cases = [
        (true, [XTERM, None, None], true),
        (true, [XTERM, Some(""), None], true),
        (true, [XTERM, Some("1"), None], false),
        (true, [XTERM, Some("0"), None], false),
        (true, [XTERM, Some("1"), Some("1")], false),
        (true, [Some("dumb"), None, None], false),
        (true, [Some("dumb"), None, Some("1")], false),
        (true, [Some(""), None, None], false),
        (true, [None, None, None], false),
        (false, [XTERM, None, None], false),
        (false, [XTERM, None, Some("1")], true),
        (false, [None, None, Some("1")], true),
        (false, [XTERM, None, Some("0")], false),
        (false, [XTERM, None, Some("")], false),
    ];
    for (is_terminal, variables, wanted) in cases {
        assert_eq!(colors(is_terminal, variables, ColorMode::Auto), wanted, "{is_terminal} {variables:?}");
        assert!(colors(is_terminal, variables, ColorMode::Always));
        assert!(!colors(is_terminal, variables, ColorMode::Never));
    }
}

#[test]
fn clicolor_zero_means_no() {
    let surroundings = StreamInfo {
        is_terminal: true,
        term: XTERM.map(Into::into),
        clicolor: Some("0".into()),
        ..StreamInfo::default()
    };
    assert!(!surroundings.wants_color(ColorMode::Auto));
}
