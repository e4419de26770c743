//! Typed lines and what they mean.

use rheon_types::event::PermissionMode;

use super::Input;

#[test]
fn lines_are_prompts_unless_they_name_a_command() {
    assert_eq!(Input::of("", "  "), Input::Nothing);
    assert_eq!(Input::of("", " fix it "), Input::Prompt("fix it".into()));
    assert_eq!(Input::of("", "/usr/bin/ls is what?"), Input::Prompt("/usr/bin/ls is what?".into()));
    assert_eq!(Input::of("", "/"), Input::Prompt("/".into()));
    assert_eq!(Input::of("", "/quit"), Input::Exit);
    assert_eq!(Input::of("", "/compact keep the plan"), Input::Compact("keep the plan".into()));
    assert_eq!(Input::of("", "/mode accept-edits"), Input::Mode(Some(PermissionMode::AcceptEdits)));
    for mode in ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] {
        assert_eq!(super::mode(mode).map(super::mode_name), Some(mode));
    }
    assert_eq!(Input::of("", "/mode"), Input::Mode(None));
    let other = Input::Other { name: "review".into(), arguments: "src main".into() };
    assert_eq!(Input::of("", "/review src main"), other);
    assert_eq!(Input::of("", "/mode never"), Input::Other { name: "mode".into(), arguments: "never".into() });
}

#[test]
fn a_backslash_joins_lines() {
    assert_eq!(Input::of("", "first\\"), Input::Unfinished("first".into()));
    assert_eq!(Input::of("first", "second"), Input::Prompt("first\nsecond".into()));
}
