//! A model is named `vendor/model`; a [`Registry`](crate::providers::Registry) turns the name into a provider.
//!
//! Keys and addresses come from the environment that you hand in: the library reads no variable by itself.
//! `docs/PROVIDERS.md` lists the vendors with their variables. The example talks to a server that stands for Anthropic's.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rheon::prelude::*;
//! use rheon::providers::{Registry, RegistryParts};
//! use rheon::agent::SystemClock;
//! # use rheon_testkit::server::{FakeServer, FakeReply, Script};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = FakeServer::start(Script::always(FakeReply::text("Four."))).await?;
//! // In a program: ProviderEnv::new(|name| std::env::var(name).ok()).
//! let environment =
//!     [("ANTHROPIC_API_KEY", "sk-ant-...".to_owned()), ("ANTHROPIC_BASE_URL", server.url())].into_iter().collect();
//! let registry = Registry::new(RegistryParts::builtin(environment, Arc::new(SystemClock::default()))?);
//!
//! let model = registry.resolve("anthropic/claude-sonnet-4-5")?;
//! assert_eq!(model.info.context_tokens, 200_000);
//!
//! let agent = Agent::builder().resolved(model).build()?;
//! let output = agent.run("What is two and two?").await?;
//! assert_eq!(output.text, "Four.");
//! assert!(output.cost.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! [`Registry::resolve_with_fallback`](crate::providers::Registry::resolve_with_fallback) names a second model that answers when
//! the first has no capacity. Vendors and models that are not bundled are TOML:
//!
//! ```
//! use rheon::providers::{Catalog, Vendors};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = r#"
//! [vendors.house]
//! extends = "vllm"
//! base_url = "https://models.example.com/v1"
//!
//! [models."house/coder-7b"]
//! context_tokens = 32_000
//! tool_style = "prompted"
//! "#;
//! let vendors = Vendors::builtin().with(config, "config.toml")?;
//! let catalog = Catalog::builtin().with(config, "config.toml")?;
//! assert!(vendors.get("house").is_some());
//! # let _known = catalog;
//! # Ok(())
//! # }
//! ```
