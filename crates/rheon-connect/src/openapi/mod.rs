//! OpenAPI 3.0 and 3.1 documents: every operation becomes a tool.

mod adapter;
mod auth;
mod config;
mod document;
mod error;
mod exchange;
mod operation;
mod parameter;
mod reference;
mod request;
mod tool;

pub use adapter::{OpenApiAdapter, OpenApiTools};
pub use auth::OpenApiAuth;
pub use config::{OpenApiConfig, OperationFilter};
pub use error::OpenApiError;
pub use exchange::OpenApiExchange;
