//! Flags of callers that have an effect.

use rheon_types::ThinkingLevel;

use super::{CallerFlags, ThinkingFlag};

#[test]
fn tokens_of_thinking_become_the_nearest_level() {
    let level = |thinking, max_thinking_tokens| {
        CallerFlags { thinking, max_thinking_tokens, ..CallerFlags::default() }.thinking_level()
    };
    assert_eq!(level(None, None), None);
    assert_eq!(level(Some(ThinkingFlag::Adaptive), Some(9_000)), None);
    assert_eq!(level(Some(ThinkingFlag::Disabled), Some(9_000)), Some(ThinkingLevel::Off));
    let levels = [0, 1, 2_048, 2_049, 8_193, 24_577, u32::MAX].map(|tokens| level(None, Some(tokens)));
    use ThinkingLevel::{High, Low, Max, Medium, Off};
    assert_eq!(levels, [Off, Low, Low, Medium, High, Max, Max].map(Some));
}

const AGENTS: &str = r#"{"reviewer": {"description": "Reviews", "prompt": "Review this.", "model": "opus"}}"#;

#[test]
fn definitions_of_agents_are_checked() {
    let said = |agents: &str| {
        let flags = CallerFlags { agents: Some(agents.into()), ..CallerFlags::default() };
        flags.check(true).map_err(|failure| failure.to_string().split("}}: ").last().unwrap().to_owned())
    };
    assert_eq!([said(AGENTS), said("{}")], [Ok(()), Ok(())]);
    let wrong = [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{\n  \"a\": }", "expected value at line 2 column 8"),
        ("[]", "not an object"),
        (r#"{"a": 1}"#, r#""a" has no "description" text"#),
        (r#"{"a": {"description": "x", "prompt": 1}}"#, r#""a" has no "prompt" text"#),
    ];
    for (agents, problem) in wrong {
        assert_eq!(said(agents), Err(problem.to_owned()));
    }
}

#[test]
fn only_misleading_flags_are_reported() {
    let harmless = CallerFlags {
        thinking_display: Some("omitted".into()),
        agents: Some("{}".into()),
        ..CallerFlags::default()
    };
    assert_eq!(harmless.ignored(), Vec::<String>::new());
    let flags = CallerFlags {
        betas: vec!["context-1m".into()],
        agents: Some(AGENTS.into()),
        ..CallerFlags::default()
    };
    assert_eq!(
        flags.ignored(),
        [
            "ignoring --betas: beta features are not supported",
            "ignoring --agents: sub-agents are not supported yet",
        ]
    );
}
