//! `Effort`: how much is tried.

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    /// How often a process is killed at a random moment.
    pub(crate) kills: u64,
    /// How many power cuts are simulated.
    pub(crate) power_cuts: u64,
    /// At how many bytes of each file there is damage, at most.
    pub(crate) damages: u64,
    /// At every how many calls a process is killed or a call fails.
    pub(crate) call_step: usize,
    /// Where chance begins.
    pub(crate) seed: u64,
}

impl Effort {
    /// What every change must pass.
    pub(crate) fn short(seed: u64) -> Self {
        Self { kills: 25, power_cuts: 1_000, damages: 100, call_step: 11, seed }
    }

    /// Every point.
    pub(crate) fn long(seed: u64) -> Self {
        Self { kills: 500, power_cuts: 100_000, damages: 20_000, call_step: 1, seed }
    }
}
