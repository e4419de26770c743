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
pub use ask_user::AskUserTool;
pub use edit::EditTool;
pub use glob::GlobTool;
pub use list::ListTool;
pub use memory::{MemoryTool, Recall, Recollection};
pub use plan::PlanTool;
pub use read::ReadTool;
pub use search::SearchTool;
pub use skill::{SkillTool, skill_text};
pub use todo::{TodoList, TodoTool};
pub use web_fetch::WebFetchTool;
pub use write::WriteTool;

#[cfg(test)]
mod ask_user_tests;
#[cfg(test)]
mod edit_tests;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod list_tests;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
mod plan_tests;
#[cfg(test)]
mod read_tests;
#[cfg(test)]
mod skill_tests;
#[cfg(test)]
pub(crate) mod test_user;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod todo_tests;
#[cfg(test)]
mod write_tests;
