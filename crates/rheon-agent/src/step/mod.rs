//! The steps of a turn, in order. None calls an earlier one; only `run.rs` loops.

pub(crate) mod intake;

pub(crate) mod offer;

pub(crate) mod remind;

pub(crate) mod assemble;

pub(crate) mod measure;

pub(crate) mod summarize;

pub(crate) mod fit;

pub(crate) mod reserve;

pub(crate) mod call;

pub(crate) mod gate;

pub(crate) mod execute;

pub(crate) mod settle;

pub(crate) mod decide;

pub(crate) mod finish;
