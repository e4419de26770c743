//! Built-in tools: one file each, with the text that the model reads beside it.

mod address;
pub mod bash;
pub(crate) mod call;
mod edit;
mod glob;
mod list;
mod matches;
mod read;
mod search;
mod walk;
mod web_fetch;
mod write;

pub use address::AddressRule;
pub use edit::Edit;
pub use glob::Glob;
pub use list::List;
pub use read::Read;
pub use search::Search;
pub use web_fetch::WebFetch;
pub use write::Write;

#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
pub(crate) mod stage;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod write_tests;
