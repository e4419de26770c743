//! Efforts and thinking.

use rheon_types::ThinkingLevel;

use super::Effort;

#[test]
fn efforts_and_thinking_levels_map_both_ways() {
    for effort in Effort::ALL {
        assert_eq!(Effort::from(effort.thinking()), effort);
        assert_eq!(effort.as_str().parse(), Ok(effort));
    }
    assert_eq!(Effort::from(ThinkingLevel::Off), Effort::Low);
    assert_eq!("HIGH ".parse(), Ok(Effort::High));
    let expected = "unknown effort \"huge\": use low, medium, high or max".to_owned();
    assert_eq!("huge".parse::<Effort>(), Err(expected));
}

#[test]
fn guidance_is_one_short_line() {
    for effort in Effort::ALL {
        assert!(effort.guidance().len() < 320 && !effort.guidance().contains('\n'), "{effort}");
    }
}
