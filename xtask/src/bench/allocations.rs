//! Memory: runs the benchmark that counts allocations.

use anyhow::Result;

use super::costs::Costs;
use super::process::{Checkout, printed};

/// The allocations of every case and size.
pub(super) fn measure(checkout: &Checkout) -> Result<Costs> {
    let lines = printed(&mut checkout.cargo("bench --package rheon --locked --bench allocations"))?;
    Costs::read(&lines, "allocations")
}
