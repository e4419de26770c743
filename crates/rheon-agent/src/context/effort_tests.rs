//! Efforts, thinking and limits.

use rheon_types::ThinkingLevel;

use super::{Complexity, Effort, plan_effort};

#[test]
fn the_requested_effort_always_wins() {
    for effort in Effort::ALL {
        for complexity in [Complexity::Trivial, Complexity::Simple, Complexity::Moderate, Complexity::Complex]
        {
            let plan = plan_effort(Some(effort), complexity);
            assert_eq!((plan.effort, plan.thinking), (effort, effort.thinking()));
            assert_eq!((plan.limits, plan.guidance), (effort.limits(), effort.guidance()));
        }
    }
}

#[test]
fn without_a_request_complexity_decides() {
    let efforts = [Complexity::Trivial, Complexity::Simple, Complexity::Moderate, Complexity::Complex]
        .map(|complexity| plan_effort(None, complexity).effort);
    assert_eq!(efforts, [Effort::Low, Effort::Medium, Effort::Medium, Effort::High]);
}

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
fn more_effort_never_has_less_room() {
    let limits = Effort::ALL.map(|effort| {
        let limits = effort.limits();
        (limits.turns_max, limits.tokens_max, limits.duration_max)
    });
    assert!(limits.is_sorted());
}

#[test]
fn guidance_is_one_short_line() {
    for effort in Effort::ALL {
        assert!(effort.guidance().len() < 320 && !effort.guidance().contains('\n'), "{effort}");
    }
}
