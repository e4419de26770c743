//! The rules of `docs/ARCHITECTURE.md` as functions: a repository goes in, violations come out.

pub mod exceptions;
pub mod rules;

pub mod repository;
pub mod violation;
pub mod walk;

mod position;
mod rust;

pub use repository::Repository;
pub use rules::check;
pub use violation::Violation;
