//! `rheon openapi`.

use std::path::PathBuf;

use rheon_app::openapi::{OpenApiAdapter, OpenApiConfig, OperationFilter};
use rheon_text::units::count;
use rheon_text::visible;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{print, print_note};
use crate::runtime::block_on;

/// Look at OpenAPI documents, whose operations programs can use as tools
#[derive(Debug, clap::Args)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(crate) struct OpenApi {
    #[command(subcommand)]
    command: OpenApiCommand,
}

#[derive(Debug, clap::Subcommand)]
enum OpenApiCommand {
    /// List the tools that a document would give, and what is left out
    List {
        /// The document, JSON or YAML
        file: PathBuf,

        /// Only operations with this tag
        #[arg(long)]
        tag: Vec<String>,

        /// Only operations whose path starts with this
        #[arg(long, conflicts_with = "tag")]
        path: Option<String>,
    },
}

impl OpenApi {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let OpenApiCommand::List { file, tag, path } = self.command;
        let filter = match path {
            Some(prefix) => OperationFilter::ByPathPrefix(prefix),
            None if tag.is_empty() => OperationFilter::All,
            None => OperationFilter::ByTag(tag),
        };
        // A document without a server can be listed, too.
        let config =
            OpenApiConfig { base_url: Some("http://localhost".to_owned()), ..OpenApiConfig::default() };
        let found = block_on(async {
            OpenApiAdapter::from_file(&file, config, filter).await.map_err(Failure::error)
        })?;
        for warning in &found.warnings {
            print_note(&format!("note: {}", visible(warning)));
        }
        let line = |tool: &std::sync::Arc<dyn rheon_types::Tool>| {
            let call = tool.description().lines().last().unwrap_or_default();
            format!("{}  {}\n", visible(tool.name()), visible(call))
        };
        let lines: String = found.tools.iter().map(line).collect();
        print(&format!("{lines}{}\n", count(found.tools.len() as u64, "tool")))
    }
}
