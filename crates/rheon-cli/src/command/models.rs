//! `rheon models`.

use rheon_app::models::{
    LocalModelServer, ModelEntry, VendorSummary, list_models, list_vendors, served_here,
};
use rheon_app::session::{registry, variables};
use rheon_text::units::{dollars, tokens};

use super::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, print_note};
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// List models with context windows and prices
///
/// Lists models of vendors with an API key; --all lists every known model. Other models work too: name them as vendor/model.
#[derive(Debug, clap::Args)]
pub(crate) struct Models {
    /// List only models whose name contains this
    #[arg(default_value = "")]
    part: String,

    /// Include models of vendors without an API key
    #[arg(short, long)]
    all: bool,

    /// List vendors and the environment variables of their keys
    #[arg(long)]
    vendors: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Models {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let system = system(None)?;
        let config = config(&system)?;
        let registry = registry(&config.settings.services, &system).map_err(Failure::error)?;
        if self.vendors {
            let lines = list_vendors(&registry, &variables(&system));
            return print(&if self.json { as_json(&lines)? } else { vendor_table(&lines) });
        }
        let mut lines = list_models(&registry, &self.part);
        if !self.all && self.part.is_empty() {
            lines.retain(|line| line.ready);
        }
        if self.json {
            return print(&as_json(&lines)?);
        }
        if lines.is_empty() && self.part.is_empty() {
            let environment = variables(&system);
            let served = block_on(async { Ok(served_here(&registry, &environment).await) })?;
            if !served.is_empty() {
                return print_served(&served);
            }
        }
        if lines.is_empty() {
            let why = match self.part.as_str() {
                "" => "no API key is set and no local server answers; list all models with --all, the key variables with --vendors".into(),
                part => format!("no known model matches {part:?}; list vendors with --vendors"),
            };
            return Err(Failure::error(why));
        }
        print(&model_table(&lines))
    }
}

/// Models of local servers; their windows and prices are unknown.
fn print_served(served: &[(LocalModelServer, Vec<String>)]) -> Result<Exit, Failure> {
    let mut names = String::new();
    for (LocalModelServer { vendor, address }, models) in served {
        let what = if models.is_empty() { "has no model loaded" } else { "serves these models" };
        print_note(&format!("{vendor} answers at {address} and {what}"));
        models.iter().for_each(|name| names += &format!("{name}\n"));
    }
    print(&names)
}

fn model_table(lines: &[ModelEntry]) -> String {
    let columns = [
        ("model", Side::Left),
        ("window", Side::Right),
        ("answer", Side::Right),
        ("$/M in", Side::Right),
        ("$/M out", Side::Right),
        ("can", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for line in lines {
        let can = [(line.images, "see"), (line.reasoning, "think"), (!line.ready, "(no key)")];
        let can: Vec<&str> = can.iter().filter(|(has, _)| *has).map(|(_, word)| *word).collect();
        table.row([
            line.name.clone(),
            tokens(line.context_tokens),
            tokens(line.output_tokens_max.into()),
            price(line.input_micro_usd),
            price(line.output_micro_usd),
            can.join(" "),
        ]);
    }
    table.text()
}

fn vendor_table(lines: &[VendorSummary]) -> String {
    let columns = [
        ("vendor", Side::Left),
        ("name", Side::Left),
        ("models", Side::Right),
        ("ready", Side::Left),
        ("key", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for line in lines {
        let ready = match (line.local, line.ready) {
            // It may not be running.
            (true, _) => "local",
            (false, true) => "yes",
            (false, false) => "no",
        };
        table.row([
            line.id.clone(),
            line.name.clone(),
            line.models.to_string(),
            ready.into(),
            line.key_variables.join(" or "),
        ]);
    }
    table.text()
}

/// Millionths of a dollar as dollars.
fn price(micro_usd: Option<u64>) -> String {
    micro_usd.map_or_else(|| "?".into(), dollars)
}
