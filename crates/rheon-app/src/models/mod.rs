//! Which model is asked: what the user says, or the first that can be asked.

mod choose;
mod error;
mod list;
mod name;

pub use choose::{LocalModelServer, ModelChoice, ModelChoiceReason, choose, served_here};
pub use error::ModelChoiceError;
pub(crate) use list::key_source;
pub use list::{ModelEntry, VendorSummary, list_models, list_vendors};
pub use name::{PREFERRED, full_name};
