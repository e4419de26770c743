//! Typed lines and what they mean.

use rheon_types::event::PermissionMode;

use super::{ELSEWHERE, Input};

#[test]
fn lines_are_prompts_unless_they_name_a_command() {
    assert_eq!(Input::of("", "  "), Input::Nothing);
    assert_eq!(Input::of("", " fix it "), Input::Prompt("fix it".into()));
    assert_eq!(Input::of("", "/usr/bin/ls is what?"), Input::Prompt("/usr/bin/ls is what?".into()));
    assert_eq!(Input::of("", "/"), Input::Prompt("/".into()));
    assert_eq!(Input::of("", "/quit"), Input::Exit);
    assert_eq!(Input::of("", "/compact keep the plan"), Input::Compact("keep the plan".into()));
    assert_eq!(Input::of("", "/mode accept-edits"), Input::Mode(Some(PermissionMode::AcceptEdits)));
    for mode in ["default", "acceptEdits", "auto", "plan", "dontAsk", "bypassPermissions"] {
        assert_eq!(super::mode(mode).map(rheon_app::policy::mode_name), Some(mode));
    }
    assert_eq!(Input::of("", "/mode"), Input::Mode(None));
    let other = Input::Other { name: "review".into(), arguments: "src main".into() };
    assert_eq!(Input::of("", "/review src main"), other);
    assert_eq!(Input::of("", "/mode never"), Input::NoSuchMode("never".into()));
}

#[test]
fn a_backslash_joins_lines() {
    assert_eq!(Input::of("", "first\\"), Input::Unfinished("first".into()));
    assert_eq!(Input::of("first", "second"), Input::Prompt("first\nsecond".into()));
}

#[test]
fn what_others_call_it_is_understood() {
    assert_eq!(Input::of("", "/clear"), Input::Clear);
    assert_eq!(Input::of("", "/new"), Input::Clear);
    assert_eq!(Input::of("", "/resume"), Input::Resume(None));
    assert_eq!(Input::of("", "/resume 01a1"), Input::Resume(Some("01a1".into())));
    assert_eq!(Input::of("", "/model"), Input::Model(None));
    assert_eq!(Input::of("", "/model opus"), Input::Model(Some("opus".into())));
}

#[test]
fn a_pasted_text_is_one_prompt() {
    let text = "def f():\n    return 1\n\nWhat is it?";
    assert_eq!(Input::of("", text), Input::Prompt(text.into()));
}

#[test]
fn what_is_typed_elsewhere_is_no_command_here() {
    for (name, _) in ELSEWHERE {
        assert!(matches!(Input::of("", &format!("/{name}")), Input::Other { .. }), "{name}");
    }
}
