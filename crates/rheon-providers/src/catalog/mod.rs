//! The model catalog: limits, prices and features of models, as data. One TOML file per vendor; users add their own.

mod bundle;
mod model;
mod names;
mod row;
mod set;

pub use model::{Model, ThinkingStyle};
pub use set::Catalog;

#[cfg(test)]
mod bundle_tests;
#[cfg(test)]
mod set_tests;
