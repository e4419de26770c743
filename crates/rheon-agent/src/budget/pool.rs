//! `BudgetPool`: a budget shared by a tree of agents, with what is spent and reserved.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rheon_types::event::{BudgetAmount, Ledger, Meter};
use rheon_types::{Budget, Caps, Clock, Grant, PlannedCall, Reservation};

use super::plan::{Affordable, Plan};
use super::room::{Room, left};

/// A shared budget. Clones refer to the same budget. A child's spending counts for its parent too, so a tree of agents
/// never spends more than its root may.
///
/// In every ledger, `spent + reserved` stays within the cap: the maximum cost of a call is reserved in advance and the
/// unused part released afterwards. When that is more than what is left, the expected cost decides, and everything that
/// is left is reserved. Only a service that counts more than expected can exceed the cap, and only by its calls in flight.
#[derive(Clone)]
pub struct BudgetPool {
    node: Arc<PoolNode>,
}

/// An account in the tree, shared by all clones of a budget. Dropping the last clone removes the account; its spending
/// stays counted in the accounts above.
struct PoolNode {
    tree: Arc<Tree>,
    /// The key of the account.
    key: u64,
    /// Keeps the parent account alive, whose caps apply here too.
    above: Option<Arc<PoolNode>>,
}

/// All ledgers of a tree of agents, behind one lock, so that a reservation updates all of them atomically.
struct Tree {
    clock: Arc<dyn Clock>,
    started: Duration,
    accounts: Mutex<Accounts>,
}

/// The open accounts.
#[derive(Debug, Default)]
struct Accounts {
    open: BTreeMap<u64, Account>,
    /// The key of the next account. Keys are never reused.
    next: u64,
}

#[derive(Debug, Clone, Copy)]
struct Account {
    parent: Option<u64>,
    ledger: Ledger,
    /// The elapsed time when it was opened.
    opened_ms: u64,
    /// The time its agent waited for a person, which does not count.
    waited_ms: u64,
    is_warned: bool,
}

/// The share of a cap, in percent, at which the pool warns.
const WARN_PERCENT: u128 = 80;

impl BudgetPool {
    /// A budget of which nothing is spent.
    pub fn new(caps: Caps, clock: Arc<dyn Clock>) -> Self {
        Self::resume(caps, Ledger::default(), clock)
    }

    /// Resumes a budget. `spent` is what earlier runs of the session used; their reservations count as spent.
    pub fn resume(caps: Caps, spent: Ledger, clock: Arc<dyn Clock>) -> Self {
        let started = clock.elapsed();
        let mut accounts = Accounts::default();
        let key = accounts.add(Account::new(caps, spent, None, 0));
        let tree = Arc::new(Tree { clock, started, accounts: Mutex::new(accounts) });
        Self { node: Arc::new(PoolNode { tree, key, above: None }) }
    }

    /// A share of this budget for a child, with its own caps.
    pub fn child(&self, caps: Caps) -> Self {
        let PoolNode { tree, key, .. } = &*self.node;
        let account = Account::new(caps, Ledger::default(), Some(*key), tree.elapsed_ms());
        let key = tree.accounts().add(account);
        let above = Some(Arc::clone(&self.node));
        Self { node: Arc::new(PoolNode { tree: Arc::clone(tree), key, above }) }
    }

    /// The amounts spent and reserved so far.
    pub fn ledger(&self) -> Ledger {
        let elapsed_ms = self.node.tree.elapsed_ms();
        let accounts = self.node.tree.accounts();
        accounts
            .open
            .get(&self.node.key)
            .map_or_else(Ledger::default, |account| account.ledger_at(elapsed_ms))
    }

    /// Raises existing caps by this much. Resources without a cap stay unlimited.
    pub fn extend(&self, more: Caps) {
        let mut accounts = self.node.tree.accounts();
        let Some(account) = accounts.open.get_mut(&self.node.key) else { return };
        let raise = |meter: &mut Meter, more: Option<u64>| {
            meter.cap = meter.cap.map(|cap| cap.saturating_add(more.unwrap_or_default()));
        };
        raise(&mut account.ledger.tokens, more.tokens);
        raise(&mut account.ledger.micro_usd, more.cost.map(|cost| cost.0));
        raise(&mut account.ledger.wall_ms, more.wall.map(crate::clock::millis));
        account.is_warned = false;
    }

    /// The time left, or `None` without a time limit.
    pub fn time_left(&self) -> Option<Duration> {
        self.room().wall_ms.map(Duration::from_millis)
    }

    /// Reserves the maximum cost of `planned`, or as much of it as the budget can pay for.
    pub fn reserve(&self, planned: &PlannedCall) -> Grant {
        let elapsed_ms = self.node.tree.elapsed_ms();
        let mut accounts = self.node.tree.accounts();
        let line = accounts.line(self.node.key);
        let room = accounts.room(&line, elapsed_ms);
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
        for key in line {
            if let Some(account) = accounts.open.get_mut(&key) {
                account.reserve(reserved);
            }
        }
        let pool = self.clone();
        let reservation = Reservation::new(reserved, move |spent| pool.settle(reserved, spent));
        Grant::Call { answer_tokens_max, reservation, is_last }
    }

    /// Whether to warn that the budget is nearly spent. Returns `true` once.
    pub(crate) fn should_warn(&self) -> bool {
        let elapsed_ms = self.node.tree.elapsed_ms();
        let mut accounts = self.node.tree.accounts();
        let Some(account) = accounts.open.get_mut(&self.node.key) else { return false };
        let is_due = !account.is_warned && account.ledger_at(elapsed_ms).is_nearly_spent();
        account.is_warned |= is_due;
        is_due
    }

    fn room(&self) -> Room {
        let elapsed_ms = self.node.tree.elapsed_ms();
        let accounts = self.node.tree.accounts();
        accounts.room(&accounts.line(self.node.key), elapsed_ms)
    }

    fn settle(&self, reserved: BudgetAmount, spent: BudgetAmount) {
        let mut accounts = self.node.tree.accounts();
        for key in accounts.line(self.node.key) {
            if let Some(account) = accounts.open.get_mut(&key) {
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

    fn exclude(&self, waited: Duration) {
        if let Some(account) = self.node.tree.accounts().open.get_mut(&self.node.key) {
            account.waited_ms = account.waited_ms.saturating_add(crate::clock::millis(waited));
        }
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
        self.tree.accounts().open.remove(&self.key);
        // Drop a long chain of parents iteratively: recursive drops could overflow the stack.
        let mut above = self.above.take();
        while let Some(mut node) = above.and_then(Arc::into_inner) {
            above = node.above.take();
        }
    }
}

impl Tree {
    fn elapsed_ms(&self) -> u64 {
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
        Self { parent, ledger, opened_ms, waited_ms: 0, is_warned: false }
    }

    fn ledger_at(&self, elapsed_ms: u64) -> Ledger {
        let mut ledger = self.ledger;
        let since_ms = elapsed_ms.saturating_sub(self.opened_ms).saturating_sub(self.waited_ms);
        ledger.wall_ms.spent = ledger.wall_ms.spent.saturating_add(since_ms);
        ledger
    }

    fn reserve(&mut self, reserved: BudgetAmount) {
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
        let key = self.next;
        self.next += 1;
        self.open.insert(key, account);
        key
    }

    /// The account `key` and all accounts above it.
    fn line(&self, key: u64) -> Vec<u64> {
        let above = |key: &u64| self.open.get(key).and_then(|account| account.parent);
        std::iter::successors(Some(key), above).collect()
    }

    /// What is left in every account of `line`.
    fn room(&self, line: &[u64], elapsed_ms: u64) -> Room {
        let rooms = line.iter().filter_map(|key| self.open.get(key)).map(|account| {
            let Ledger { tokens, micro_usd, wall_ms } = account.ledger_at(elapsed_ms);
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
