//! What a budget can pay for.

use rheon_types::Rates;

use super::*;

const RATES: Rates =
    Rates { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };

fn planned(prompt_tokens: u64, answer_tokens_max: u32) -> PlannedCall {
    PlannedCall { prompt_tokens, answer_tokens_max, prices: Some(Prices { base: RATES, long: None }) }
}

fn room(tokens: Option<u64>, micro_usd: Option<u64>) -> Room {
    Room { tokens, micro_usd, wall_ms: None }
}

#[test]
fn a_call_that_fits_reserves_its_maximum_cost() {
    let plan = planned(1_000, 4_000).within(room(None, Some(1_000_000)));
    let reserved = BudgetAmount { tokens: 5_000, cost: Some(MicroUsd(3_750 + 60_000)) };
    assert_eq!(plan, Plan::Call { answer_tokens_max: 4_000, reserved });
    assert_eq!(planned(1_000, 4_000).within(Room::default()), plan);
}

#[test]
fn an_answer_is_shortened_to_leave_enough_for_a_last_one() {
    let reserved = BudgetAmount { tokens: 4_000, cost: Some(MicroUsd(3_750 + 45_000)) };
    let call = Plan::Call { answer_tokens_max: 3_000, reserved };
    assert_eq!(planned(1_000, 4_000).within(room(Some(4_000 + 2_024), None)), call);
    let last = 3_750 + 15 * 1_024;
    assert_eq!(planned(1_000, 4_000).within(room(None, Some(48_750 + last))), call);
}

#[test]
fn a_nearly_spent_budget_pays_for_one_last_answer_or_none() {
    let last = planned(1_000, 4_000).within(room(Some(1_300), None));
    assert!(matches!(last, Plan::WrapUp { answer_tokens_max: 300, .. }), "{last:?}");
    assert_eq!(planned(1_000, 4_000).within(room(Some(1_255), None)), Plan::Nothing);
    assert_eq!(planned(1_000, 4_000).within(room(Some(0), Some(0))), Plan::Nothing);
}

#[test]
fn a_short_requested_answer_does_not_trigger_wrap_up() {
    let plan = planned(1_000, 100).within(room(Some(1_100 + 2_024), None));
    assert!(matches!(plan, Plan::Call { answer_tokens_max: 100, .. }), "{plan:?}");
    let plan = planned(1_000, 100).within(room(Some(1_100), None));
    assert!(matches!(plan, Plan::WrapUp { answer_tokens_max: 100, .. }), "{plan:?}");
}

#[test]
fn absurd_figures_do_not_overflow() {
    let plan = planned(u64::MAX, u32::MAX).within(room(Some(u64::MAX), Some(u64::MAX)));
    assert!(matches!(plan, Plan::WrapUp { .. }), "{plan:?}");
}

#[test]
fn an_unaffordable_prompt_is_not_sent() {
    assert_eq!(planned(1_000, 0).within(room(Some(999), None)), Plan::Nothing);
    assert_eq!(planned(1_000, 0).within(room(None, Some(0))), Plan::Nothing);
}
