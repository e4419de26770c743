//! Built-in tools: one file each, with the text that the model reads beside it.

mod address;
mod ask_user;
pub mod bash;
pub(crate) mod call;
mod edit;
mod glob;
mod list;
mod matches;
mod memory;
mod plan;
mod read;
mod search;
mod skill;
mod todo;
mod walk;
mod web_fetch;
mod write;

pub use address::AddressRule;
pub use ask_user::AskUser;
pub use edit::Edit;
pub use glob::Glob;
pub use list::List;
pub use memory::{Recall, Recollection, Remember};
pub use plan::Plan;
pub use read::Read;
pub use search::Search;
pub use skill::UseSkill;
pub use todo::{Todo, TodoList};
pub use web_fetch::WebFetch;
pub use write::Write;

#[cfg(test)]
mod ask_user_tests;
#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
pub(crate) mod person;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod skill_tests;
#[cfg(test)]
pub(crate) mod stage;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod todo_tests;
#[cfg(test)]
mod write_tests;
