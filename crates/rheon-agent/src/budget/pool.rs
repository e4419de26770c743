//! `BudgetPool`: what may be spent, what is, and what is set aside for calls in flight.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_types::event::{BudgetAmount, Ledger, Meter};
use rheon_types::{Budget, Caps, Clock, Grant, PlannedCall, Reservation};

use super::plan::{Affordable, Plan};
use super::room::{Room, left};

/// What may be spent. Clones are the same budget. What a child spends, its parent has spent too, so a whole tree of agents
/// never spends more than its root may.
///
/// In every ledger, `spent + reserved` stays within the cap: a call is paid for in advance with the most it can take, and
/// what it did not take is given back. Only a service that counts more than was announced can break that, and then by no
/// more than its calls in flight.
#[derive(Clone)]
pub struct BudgetPool {
    node: Arc<PoolNode>,
}

/// A place in a tree, held by all clones of a budget. When the last of them is gone, so is its account; what it spent stays
/// counted in those above it.
struct PoolNode {
    tree: Arc<Tree>,
    /// Which account of the tree.
    place: u64,
    /// Keeps the account above, whose caps hold for this one too.
    above: Option<Arc<PoolNode>>,
}

/// All ledgers of a tree of agents, under one lock, so that setting aside is one step for all of them.
struct Tree {
    clock: Arc<dyn Clock>,
    started: Duration,
    accounts: Mutex<Accounts>,
}

/// The accounts that are in use.
#[derive(Debug, Default)]
struct Accounts {
    open: BTreeMap<u64, Account>,
    /// The place of the next one; places are never used twice.
    next: u64,
}

#[derive(Debug, Clone, Copy)]
struct Account {
    parent: Option<u64>,
    ledger: Ledger,
    /// How much time was gone when it was opened.
    opened_ms: u64,
    is_warned: bool,
}

/// From how much on, in percent of a cap, it is said that the budget is nearly spent.
const WARN_PERCENT: u128 = 80;

impl BudgetPool {
    /// A budget of which nothing is spent.
    pub fn new(caps: Caps, clock: Arc<dyn Clock>) -> Self {
        Self::resume(caps, Ledger::default(), clock)
    }

    /// A budget that goes on: `spent` is what earlier runs of the session took. What they had set aside counts as spent.
    pub fn resume(caps: Caps, spent: Ledger, clock: Arc<dyn Clock>) -> Self {
        let started = clock.elapsed();
        let mut accounts = Accounts::default();
        let place = accounts.add(Account::new(caps, spent, None, 0));
        let tree = Arc::new(Tree { clock, started, accounts: Mutex::new(accounts) });
        Self { node: Arc::new(PoolNode { tree, place, above: None }) }
    }

    /// A part of this budget for a child, with caps of its own.
    pub fn child(&self, caps: Caps) -> Self {
        let PoolNode { tree, place, .. } = &*self.node;
        let account = Account::new(caps, Ledger::default(), Some(*place), tree.gone_ms());
        let place = tree.accounts().add(account);
        let above = Some(Arc::clone(&self.node));
        Self { node: Arc::new(PoolNode { tree: Arc::clone(tree), place, above }) }
    }

    /// What is spent, and what is set aside.
    pub fn ledger(&self) -> Ledger {
        let gone_ms = self.node.tree.gone_ms();
        let accounts = self.node.tree.accounts();
        accounts.open.get(&self.node.place).map_or_else(Ledger::default, |account| account.ledger_at(gone_ms))
    }

    /// Raises the caps that there are by this much. What has no cap stays without one.
    pub fn extend(&self, more: Caps) {
        let mut accounts = self.node.tree.accounts();
        let Some(account) = accounts.open.get_mut(&self.node.place) else { return };
        let raise = |meter: &mut Meter, more: Option<u64>| {
            meter.cap = meter.cap.map(|cap| cap.saturating_add(more.unwrap_or_default()));
        };
        raise(&mut account.ledger.tokens, more.tokens);
        raise(&mut account.ledger.micro_usd, more.cost.map(|cost| cost.0));
        raise(&mut account.ledger.wall_ms, more.wall.map(crate::clock::millis));
        account.is_warned = false;
    }

    /// How much time is left; absent if there is no cap.
    pub fn time_left(&self) -> Option<Duration> {
        self.room().wall_ms.map(Duration::from_millis)
    }

    /// Reserves what `planned` can take at most, or what of it can be paid for.
    pub fn reserve(&self, planned: &PlannedCall) -> Grant {
        let gone_ms = self.node.tree.gone_ms();
        let mut accounts = self.node.tree.accounts();
        let line = accounts.line(self.node.place);
        let room = accounts.room(&line, gone_ms);
        if planned.prices.is_none() && room.micro_usd.is_some() && room.tokens.is_none() {
            return Grant::NoPrice;
        }
        if room.wall_ms == Some(0) {
            return Grant::Nothing;
        }
        let plan = planned.within(room);
        let (answer_tokens_max, reserved, is_last) = match plan {
            Plan::Call { answer_tokens_max, reserved } => (answer_tokens_max, reserved, false),
            Plan::WrapUp { answer_tokens_max, reserved } => (answer_tokens_max, reserved, true),
            Plan::Nothing => return Grant::Nothing,
        };
        for place in line {
            if let Some(account) = accounts.open.get_mut(&place) {
                account.set_aside(reserved);
            }
        }
        let pool = self.clone();
        let reservation = Reservation::new(reserved, move |spent| pool.settle(reserved, spent));
        Grant::Call { answer_tokens_max, reservation, is_last }
    }

    /// Whether it is time to say that the budget is nearly spent; true once.
    pub(crate) fn should_warn(&self) -> bool {
        let gone_ms = self.node.tree.gone_ms();
        let mut accounts = self.node.tree.accounts();
        let Some(account) = accounts.open.get_mut(&self.node.place) else { return false };
        let is_due = !account.is_warned && account.ledger_at(gone_ms).is_nearly_spent();
        account.is_warned |= is_due;
        is_due
    }

    fn room(&self) -> Room {
        let gone_ms = self.node.tree.gone_ms();
        let accounts = self.node.tree.accounts();
        accounts.room(&accounts.line(self.node.place), gone_ms)
    }

    fn settle(&self, reserved: BudgetAmount, spent: BudgetAmount) {
        let mut accounts = self.node.tree.accounts();
        for place in accounts.line(self.node.place) {
            if let Some(account) = accounts.open.get_mut(&place) {
                account.settle(reserved, spent);
            }
        }
    }
}

impl Budget for BudgetPool {
    fn reserve(&self, call: &PlannedCall) -> Grant {
        Self::reserve(self, call)
    }

    fn spend(&self, spent: BudgetAmount) {
        self.settle(BudgetAmount::default(), spent);
    }

    fn ledger(&self) -> Ledger {
        Self::ledger(self)
    }

    fn time_left(&self) -> Option<Duration> {
        Self::time_left(self)
    }

    fn should_warn(&self) -> bool {
        Self::should_warn(self)
    }

    fn share(&self, caps: Caps) -> Arc<dyn Budget> {
        Arc::new(self.child(caps))
    }
}

impl std::fmt::Debug for BudgetPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BudgetPool").field(&self.ledger()).finish()
    }
}

impl Drop for PoolNode {
    fn drop(&mut self) {
        self.tree.accounts().open.remove(&self.place);
        // A long line of children is let go of one by one: each would otherwise drop the next from inside its own drop.
        let mut above = self.above.take();
        while let Some(mut node) = above.and_then(Arc::into_inner) {
            above = node.above.take();
        }
    }
}

impl Tree {
    fn gone_ms(&self) -> u64 {
        crate::clock::millis(self.clock.elapsed().saturating_sub(self.started))
    }

    fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    fn new(caps: Caps, before: Ledger, parent: Option<u64>, opened_ms: u64) -> Self {
        let meter = |before: Meter, cap| Meter {
            spent: before.spent.saturating_add(before.reserved),
            reserved: 0,
            cap,
        };
        let ledger = Ledger {
            tokens: meter(before.tokens, caps.tokens),
            micro_usd: meter(before.micro_usd, caps.cost.map(|cost| cost.0)),
            wall_ms: meter(before.wall_ms, caps.wall.map(crate::clock::millis)),
        };
        Self { parent, ledger, opened_ms, is_warned: false }
    }

    fn ledger_at(&self, gone_ms: u64) -> Ledger {
        let mut ledger = self.ledger;
        let since_ms = gone_ms.saturating_sub(self.opened_ms);
        ledger.wall_ms.spent = ledger.wall_ms.spent.saturating_add(since_ms);
        ledger
    }

    fn set_aside(&mut self, reserved: BudgetAmount) {
        let Ledger { tokens, micro_usd, .. } = &mut self.ledger;
        tokens.reserved = tokens.reserved.saturating_add(reserved.tokens);
        micro_usd.reserved = micro_usd.reserved.saturating_add(reserved.cost.unwrap_or_default().0);
    }

    fn settle(&mut self, reserved: BudgetAmount, spent: BudgetAmount) {
        let Ledger { tokens, micro_usd, .. } = &mut self.ledger;
        tokens.reserved = tokens.reserved.saturating_sub(reserved.tokens);
        tokens.spent = tokens.spent.saturating_add(spent.tokens);
        micro_usd.reserved = micro_usd.reserved.saturating_sub(reserved.cost.unwrap_or_default().0);
        micro_usd.spent = micro_usd.spent.saturating_add(spent.cost.unwrap_or_default().0);
    }
}

impl Accounts {
    fn add(&mut self, account: Account) -> u64 {
        let place = self.next;
        self.next += 1;
        self.open.insert(place, account);
        place
    }

    /// The account at `place` and all above it.
    fn line(&self, place: u64) -> Vec<u64> {
        let above = |place: &u64| self.open.get(place).and_then(|account| account.parent);
        std::iter::successors(Some(place), above).collect()
    }

    /// What is left in all accounts of `line`.
    fn room(&self, line: &[u64], gone_ms: u64) -> Room {
        let rooms = line.iter().filter_map(|place| self.open.get(place)).map(|account| {
            let Ledger { tokens, micro_usd, wall_ms } = account.ledger_at(gone_ms);
            Room { tokens: left(&tokens), micro_usd: left(&micro_usd), wall_ms: left(&wall_ms) }
        });
        rooms.fold(Room::default(), Room::and)
    }
}

/// Whether a ledger is nearly spent.
trait Scarce {
    fn is_nearly_spent(&self) -> bool;
}

impl Scarce for Ledger {
    fn is_nearly_spent(&self) -> bool {
        let is_near = |meter: &Meter| {
            let taken = u128::from(meter.spent) + u128::from(meter.reserved);
            meter.cap.is_some_and(|cap| taken * 100 >= u128::from(cap) * WARN_PERCENT)
        };
        [&self.tokens, &self.micro_usd, &self.wall_ms].into_iter().any(is_near)
    }
}

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
