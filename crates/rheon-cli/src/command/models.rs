//! `rheon models`: what can be asked.

use rheon_app::models::{
    LocalModelServer, ModelEntry, VendorSummary, list_models, list_vendors, served_here,
};
use rheon_app::session::{registry, variables};
use rheon_text::units::{dollars, tokens};

use super::setup::{config, system};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::as_json;
use crate::output::{print, remark};
use crate::runtime::block_on;
use crate::table::{Side, Table};

/// List the models that are known, with their windows and prices
///
/// Models of vendors without a key are listed with --all. A model that is not in the list can be asked too: name it as vendor/model.
#[derive(Debug, clap::Args)]
pub(crate) struct Models {
    /// Only names with this in them
    #[arg(default_value = "")]
    part: String,

    /// Models of vendors without a key, too
    #[arg(short, long)]
    all: bool,

    /// The vendors instead, with the variables that hold their keys
    #[arg(long)]
    vendors: bool,

    /// As JSON
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
                "" => "there is no key for any vendor, and no local server answers; --all lists all models, --vendors says which keys are looked for".into(),
                part => format!("no model that is known has {part:?} in its name; --vendors lists whom can be asked"),
            };
            return Err(Failure::error(why));
        }
        print(&model_table(&lines))
    }
}

/// What local servers have; windows and prices of that are not known.
fn print_served(served: &[(LocalModelServer, Vec<String>)]) -> Result<Exit, Failure> {
    let mut names = String::new();
    for (LocalModelServer { vendor, address }, models) in served {
        let what = if models.is_empty() { "has no model; load one there first" } else { "has these models" };
        remark(&format!("{vendor} answers at {address} and {what}"));
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
            // Whether it runs is not known.
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
