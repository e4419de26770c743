//! What a budget can pay for.

use rheon_types::Rates;

use super::*;

const RATES: Rates =
    Rates { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };

fn planned(prompt_tokens: u64, answer_tokens_max: u32) -> PlannedCall {
    let prices = Some(Prices { base: RATES, long: None });
    PlannedCall { prompt_tokens, answer_tokens_max, prices, ..PlannedCall::default() }
}

fn first(prompt_tokens: u64, answer_tokens_max: u32) -> PlannedCall {
    PlannedCall { is_first: true, ..planned(prompt_tokens, answer_tokens_max) }
}

fn room(tokens: Option<u64>, micro_usd: Option<u64>) -> Room {
    Room { tokens, micro_usd, wall_ms: None }
}

#[test]
fn a_call_that_fits_reserves_its_maximum_cost() {
    let plan = planned(1_000, 4_000).within(room(None, Some(1_000_000)));
    // A quarter more prompt tokens than estimated, written to the cache.
    let reserved = BudgetAmount { tokens: 5_250, cost: Some(MicroUsd(4_688 + 60_000)) };
    assert_eq!(plan, Plan::Call { answer_tokens_max: 4_000, reserved });
    assert_eq!(planned(1_000, 4_000).within(Room::default()), plan);
}

#[test]
fn an_answer_is_shortened_to_leave_enough_for_a_last_one() {
    let reserved = BudgetAmount { tokens: 4_250, cost: Some(MicroUsd(4_688 + 45_000)) };
    let call = Plan::Call { answer_tokens_max: 3_000, reserved };
    assert_eq!(planned(1_000, 4_000).within(room(Some(4_000 + 1_512), None)), call);
    let last = 3_750 + 15 * 512;
    assert_eq!(planned(1_000, 4_000).within(room(None, Some(48_750 + last))), call);
}

#[test]
fn a_budget_that_covers_the_expected_cost_is_enough_even_if_it_does_not_cover_the_worst_case() {
    // The prompt was sent before, and the service has it in its cache: 1,000 tokens cost $0.0003 instead of $0.00375.
    let cached = PlannedCall { cached_tokens: 1_000, ..planned(1_000, 64_000) };
    let expected = |answer: u64| 300 + 15 * answer;
    let plan = cached.within(room(None, Some(expected(1_024) + expected(512))));
    let reserved = BudgetAmount { tokens: 2_274, cost: Some(MicroUsd(4_688 + 15_360)) };
    assert_eq!(plan, Plan::Call { answer_tokens_max: 1_024, reserved });
    let tight = cached.within(room(None, Some(expected(300))));
    let reserved = BudgetAmount { tokens: 1_550, cost: Some(MicroUsd(expected(300))) };
    assert_eq!(tight, Plan::WrapUp { answer_tokens_max: 300, reserved });
    // Cached tokens count a tenth, as they cost.
    let tokens = cached.within(room(Some(100 + 1_024 + 100 + 512), None));
    assert!(matches!(tokens, Plan::Call { answer_tokens_max: 1_024, .. }), "{tokens:?}");
}

#[test]
fn the_first_call_of_a_run_has_nothing_to_wrap_up() {
    let plan = first(1_000, 64_000).within(room(None, Some(3_750 + 15 * 300)));
    let reserved = BudgetAmount { tokens: 1_550, cost: Some(MicroUsd(3_750 + 15 * 300)) };
    assert_eq!(plan, Plan::Call { answer_tokens_max: 300, reserved });
    assert_eq!(first(1_000, 64_000).within(room(None, Some(3_750 + 15 * 255))), Plan::Nothing);
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
    let plan = planned(1_000, 100).within(room(Some(1_100 + 1_512), None));
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
