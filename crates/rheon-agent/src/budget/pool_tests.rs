//! The budget as a wall: over random trees, failures and retries.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use rheon_types::{MicroUsd, Prices, Rates, Timestamp};

use super::*;

/// A clock that goes when it is told to.
#[derive(Default)]
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }
}

fn tokens(cap: u64) -> Caps {
    Caps { tokens: Some(cap), ..Caps::default() }
}

fn planned(prompt_tokens: u64, answer_tokens_max: u32) -> PlannedCall {
    PlannedCall { prompt_tokens, answer_tokens_max, ..PlannedCall::default() }
}

fn granted(pool: &BudgetPool, planned: PlannedCall) -> Option<(u32, Reservation, bool)> {
    match pool.reserve(&planned) {
        Grant::Call { answer_tokens_max, reservation, is_last } => {
            Some((answer_tokens_max, reservation, is_last))
        }
        Grant::Nothing | Grant::NoPrice => None,
    }
}

#[test]
fn a_reservation_is_unavailable_until_it_is_settled() {
    let pool = BudgetPool::new(tokens(10_000), Arc::new(Hand::default()));
    let (answer, first, _) = granted(&pool, planned(1_000, 4_000)).unwrap();
    let (shorter, second, is_last) = granted(&pool, planned(1_000, 4_000)).unwrap();
    assert_eq!((answer, shorter, is_last), (4_000, 2_238, false));
    let (shortest, third, is_last) = granted(&pool, planned(1_000, 4_000)).unwrap();
    assert_eq!((shortest, is_last), (262, true));
    assert!(granted(&pool, planned(1_000, 4_000)).is_none());
    first.settle(1_500, None);
    assert_eq!(pool.ledger().tokens, Meter { spent: 1_500, reserved: 3_488 + 1_262, cap: Some(10_000) });
    drop((second, third));
    // Nothing says what these two took, so they took all of it.
    assert_eq!(pool.ledger().tokens, Meter { spent: 6_250, reserved: 0, cap: Some(10_000) });
    let (answer, _, is_last) = granted(&pool, planned(1_000, 4_000)).unwrap();
    assert_eq!((answer, is_last), (1_238, false));
}

#[test]
fn a_child_is_bounded_by_its_own_and_its_parents_caps() {
    let parent = BudgetPool::new(tokens(10_000), Arc::new(Hand::default()));
    let greedy = parent.child(tokens(250_000));
    let modest = parent.child(tokens(3_000));
    let (answer, _held, _) = granted(&modest, planned(1_000, 4_000)).unwrap();
    assert_eq!(answer, 2_000);
    let (answer, _more, _) = granted(&greedy, planned(1_000, 60_000)).unwrap();
    // Enough is kept for a last answer.
    assert_eq!(answer, 6_000 - 1_512);
    assert_eq!(parent.ledger().tokens, Meter { spent: 0, reserved: 3_000 + 5_738, cap: Some(10_000) });
}

#[test]
fn a_cost_budget_without_prices_needs_a_token_cap() {
    let clock: Arc<dyn Clock> = Arc::new(Hand::default());
    let money = Caps { cost: Some(MicroUsd(1_000_000)), ..Caps::default() };
    let pool = BudgetPool::new(money, Arc::clone(&clock));
    assert!(matches!(pool.reserve(&planned(1, 1_000)), Grant::NoPrice));
    let both = BudgetPool::new(Caps { tokens: Some(50_000), ..money }, clock);
    assert!(matches!(both.reserve(&planned(1, 1_000)), Grant::Call { .. }));
}

#[test]
fn a_resumed_budget_counts_reservations_as_spent() {
    let clock: Arc<dyn Clock> = Arc::new(Hand::default());
    let pool = BudgetPool::new(tokens(10_000), Arc::clone(&clock));
    let held = granted(&pool, planned(1_000, 4_000)).unwrap();
    let again = BudgetPool::resume(tokens(10_000), pool.ledger(), clock);
    assert_eq!(again.ledger().tokens, Meter { spent: 5_250, reserved: 0, cap: Some(10_000) });
    drop(held);
}

#[test]
fn time_is_counted_too_and_a_child_has_its_own() {
    let hand = Arc::new(Hand::default());
    let clock: Arc<dyn Clock> = Arc::clone(&hand) as Arc<dyn Clock>;
    let hour = Caps { wall: Some(Duration::from_secs(3_600)), ..Caps::default() };
    let pool = BudgetPool::new(hour, clock);
    hand.0.store(3_000_000, Ordering::Relaxed);
    let child = pool.child(Caps { wall: Some(Duration::from_secs(60)), ..Caps::default() });
    assert_eq!(child.time_left(), Some(Duration::from_secs(60)));
    hand.0.store(3_600_000, Ordering::Relaxed);
    assert_eq!((pool.time_left(), child.time_left()), (Some(Duration::ZERO), Some(Duration::ZERO)));
    assert!(matches!(pool.reserve(&planned(1, 1_000)), Grant::Nothing));
}

#[test]
fn waiting_for_a_person_takes_no_time_of_the_one_who_waits() {
    let hand = Arc::new(Hand::default());
    let hour = Caps { wall: Some(Duration::from_secs(3_600)), ..Caps::default() };
    let pool = BudgetPool::new(hour, Arc::clone(&hand) as Arc<dyn Clock>);
    hand.0.store(3_000_000, Ordering::Relaxed);
    Budget::exclude(&pool, Duration::from_secs(2_900));
    assert_eq!(pool.time_left(), Some(Duration::from_secs(3_500)));
}

#[test]
fn a_clock_that_goes_backwards_changes_no_time_budget() {
    let hand = Arc::new(Hand::default());
    hand.0.store(5_000_000, Ordering::Relaxed);
    let hour = Caps { wall: Some(Duration::from_secs(3_600)), ..Caps::default() };
    let pool = BudgetPool::new(hour, Arc::clone(&hand) as Arc<dyn Clock>);
    hand.0.store(1_000, Ordering::Relaxed);
    assert_eq!(pool.time_left(), Some(Duration::from_secs(3_600)));
    assert!(granted(&pool, planned(1, 1_000)).is_some());
}

#[test]
fn it_warns_once_at_four_fifths() {
    let pool = BudgetPool::new(tokens(10_000), Arc::new(Hand::default()));
    assert!(!pool.should_warn());
    granted(&pool, planned(4_000, 4_000)).unwrap().1.settle(8_000, None);
    assert_eq!((pool.should_warn(), pool.should_warn()), (true, false));
}

#[test]
fn dropping_a_child_keeps_its_spending_in_the_parent() {
    let parent = BudgetPool::new(tokens(10_000), Arc::new(Hand::default()));
    let accounts = || parent.node.tree.accounts().open.len();
    let child = parent.child(tokens(5_000));
    let grandchild = child.child(Caps::default());
    let (_, held, _) = granted(&grandchild, planned(1_000, 1_000)).unwrap();
    drop((child, grandchild));
    assert_eq!(accounts(), 3, "the call in flight is still counted in all of them");
    held.settle(1_200, None);
    assert_eq!((accounts(), parent.ledger().tokens.spent), (1, 1_200));
}

#[test]
fn a_dropped_parent_still_bounds_its_children() {
    let root = BudgetPool::new(Caps::default(), Arc::new(Hand::default()));
    let grandchild = root.child(tokens(3_000)).child(tokens(100_000));
    assert!(matches!(grandchild.reserve(&planned(4_000, 1_000)), Grant::Nothing));
}

#[test]
fn a_very_long_chain_of_children_can_be_dropped() {
    let root = BudgetPool::new(Caps::default(), Arc::new(Hand::default()));
    let last = (0..20_000).fold(root.clone(), |pool, _| pool.child(Caps::default()));
    drop(last);
    assert_eq!(root.node.tree.accounts().open.len(), 1);
}

/// Something that happens in a tree of agents.
#[derive(Debug, Clone)]
enum Step {
    Child {
        of: usize,
        tokens: Option<u64>,
        cost: Option<u64>,
    },
    Reserve {
        of: usize,
        prompt: u64,
        answer: u32,
    },
    /// A call ends and took this share, in percent, of what was set aside.
    Settle {
        which: usize,
        percent: u64,
    },
    /// A call is lost.
    Lose {
        which: usize,
    },
    /// An agent is gone, though its children or calls may go on.
    Leave {
        which: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let cap = || proptest::option::of(0_u64..200_000);
    prop_oneof![
        (any::<usize>(), cap(), cap()).prop_map(|(of, tokens, cost)| Step::Child { of, tokens, cost }),
        (any::<usize>(), 0_u64..30_000, 0_u32..20_000).prop_map(|(of, prompt, answer)| Step::Reserve {
            of,
            prompt,
            answer
        }),
        (any::<usize>(), 0_u64..=100).prop_map(|(which, percent)| Step::Settle { which, percent }),
        any::<usize>().prop_map(|which| Step::Lose { which }),
        any::<usize>().prop_map(|which| Step::Leave { which }),
    ]
}

fn is_within(meter: &Meter) -> bool {
    meter.cap.is_none_or(|cap| meter.spent + meter.reserved <= cap)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn a_tree_of_agents_never_exceeds_any_cap(
        root_tokens in proptest::option::of(0_u64..300_000),
        root_cost in proptest::option::of(0_u64..300_000),
        steps in proptest::collection::vec(step(), 1..80),
    ) {
        let rates = Rates { input: 3_000_000, output: 15_000_000, cache_read: 0, cache_write: 3_750_000 };
        let prices = Some(Prices { base: rates, long: None });
        let caps = |tokens, cost: Option<u64>| Caps { tokens, cost: cost.map(MicroUsd), wall: None };
        let mut pools = vec![BudgetPool::new(caps(root_tokens, root_cost), Arc::new(Hand::default()))];
        let mut flying = Vec::new();
        let mut spent = 0;
        for step in steps {
            match step {
                Step::Child { of, tokens, cost } => {
                    let child = pools[of % pools.len()].child(caps(tokens, cost));
                    pools.push(child);
                }
                Step::Reserve { of, prompt, answer } => {
                    let planned = PlannedCall {
                        prompt_tokens: prompt,
                        answer_tokens_max: answer,
                        prices,
                        ..PlannedCall::default()
                    };
                    flying.extend(granted(&pools[of % pools.len()], planned));
                }
                Step::Settle { which, percent } if !flying.is_empty() => {
                    let (_, reservation, _) = flying.swap_remove(which % flying.len());
                    let BudgetAmount { tokens, cost } = reservation.reserved();
                    let share = |most: u64| most * percent / 100;
                    spent += share(tokens);
                    reservation.settle(share(tokens), cost.map(|cost| MicroUsd(share(cost.0))));
                }
                Step::Lose { which } if !flying.is_empty() => {
                    let (_, reservation, _) = flying.swap_remove(which % flying.len());
                    spent += reservation.reserved().tokens;
                }
                Step::Leave { which } if pools.len() > 1 => {
                    drop(pools.remove(1 + which % (pools.len() - 1)));
                }
                Step::Settle { .. } | Step::Lose { .. } | Step::Leave { .. } => {}
            }
            for pool in &pools {
                let ledger = pool.ledger();
                prop_assert!(is_within(&ledger.tokens) && is_within(&ledger.micro_usd), "{ledger:?}");
            }
        }
        let reserved: u64 = flying.iter().map(|(_, held, _)| held.reserved().tokens).sum();
        let Meter { spent: counted, reserved: held, .. } = pools[0].ledger().tokens;
        // Whoever left has left nothing out of what the root counts.
        prop_assert_eq!((counted, held), (spent, reserved));
        flying.clear();
        pools.truncate(1);
        prop_assert_eq!(pools[0].node.tree.accounts().open.len(), 1);
    }
}
