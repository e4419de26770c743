//! What callers ask for, as far as it has an effect.

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
        flags.check().map_err(|failure| failure.to_string().split("}}: ").last().unwrap().to_owned())
    };
    assert_eq!([said(AGENTS), said("{}")], [Ok(()), Ok(())]);
    let wrong = [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{\n  \"a\": }", "expected value at line 2 column 8"),
        ("[]", "this is no object"),
        (r#"{"a": 1}"#, r#""a" has no text "description""#),
        (r#"{"a": {"description": "x", "prompt": 1}}"#, r#""a" has no text "prompt""#),
    ];
    for (agents, problem) in wrong {
        assert_eq!(said(agents), Err(problem.to_owned()));
    }
}

#[test]
fn only_what_misleads_is_told() {
    let harmless = CallerFlags {
        thinking_display: Some("omitted".into()),
        agents: Some("{}".into()),
        ..CallerFlags::default()
    };
    assert_eq!(harmless.passed_over(), Vec::<String>::new());
    let flags = CallerFlags {
        betas: vec!["context-1m".into()],
        agents: Some(AGENTS.into()),
        ..CallerFlags::default()
    };
    assert_eq!(
        flags.passed_over(),
        [
            "--betas is passed over: what the service offers to all is used",
            "--agents is passed over: sub-agents are not run yet; the model works alone",
        ]
    );
}
