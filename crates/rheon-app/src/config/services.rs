//! Vendors and keys of all layers, merged into the built-in vendors.

use rheon_providers::{VendorError, Vendors};
use rheon_text::did_you_mean;

use super::entry::Value;
use super::layer::ReadLayer;
use super::layer_text::Form;
use super::merge::Merged;
use super::origin::{SettingOrigin, SourceName};
use super::problem::ConfigProblem;
use super::read_file::is_readable_by_others;
use super::settings::ServiceSettings;

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Services {
    pub(super) settings: ServiceSettings,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) warnings: Vec<ConfigProblem>,
}

impl Services {
    /// The vendors and keys of `layers`.
    pub(super) fn of(layers: &[ReadLayer], merged: &Merged) -> Self {
        let mut services = Self::default();
        for (index, layer) in layers.iter().enumerate() {
            services.vendors(layer, merged, index);
        }
        services.keys(merged);
        services
    }

    fn vendors(&mut self, layer: &ReadLayer, merged: &Merged, index: usize) {
        let tables: Vec<_> = merged.of_layer(index).filter(|entry| entry.row.path == "vendors.*").collect();
        if tables.is_empty() {
            return;
        }
        let text = match layer.source.form {
            // As it was written, so that problems have their lines.
            Form::Toml => layer.source.text.strip_prefix('\u{feff}').unwrap_or(&layer.source.text).to_owned(),
            Form::Json | Form::ClaudeSettings | Form::McpServers | Form::Permissions => {
                let named = tables.iter().filter_map(|entry| match &entry.value {
                    Value::Table(node, _) => {
                        Some((entry.key.strip_prefix("vendors.")?.to_owned(), node.to_json()))
                    }
                    Value::Text(_)
                    | Value::Switch(_)
                    | Value::Count(_)
                    | Value::Money(_)
                    | Value::Rule(_)
                    | Value::Key(_) => None,
                });
                let vendors: serde_json::Map<String, serde_json::Value> = named.collect();
                toml::to_string(&serde_json::json!({ "vendors": vendors })).unwrap_or_default()
            }
        };
        let origin = &layer.source.origin;
        match layer.source.form {
            Form::Toml => self.lay_over(&text, |line| origin.at(Some(line))),
            Form::Json | Form::ClaudeSettings | Form::McpServers | Form::Permissions => {
                self.lay_over(&text, |_| origin.clone());
            }
        }
    }

    /// Merges the vendors of `text` into the known ones. `origin_of` maps a line of it to its real origin.
    fn lay_over(&mut self, text: &str, origin_of: impl Fn(usize) -> SettingOrigin) {
        let file = origin_of(1).source.to_string();
        match self.settings.vendors.clone().with(text, &file) {
            Ok(vendors) => self.settings.vendors = vendors,
            Err(VendorError::Text(error)) => {
                self.problems.push(ConfigProblem::new(&origin_of(error.line), error.problem));
            }
            Err(error) => self.problems.push(ConfigProblem::new(&origin_of(1), error.to_string())),
        }
    }

    fn keys(&mut self, merged: &Merged) {
        for entry in merged.all("keys.*") {
            let (Value::Key(source), Some((_, vendor))) = (&entry.value, entry.key.split_once('.')) else {
                continue;
            };
            if self.settings.vendors.get(vendor).is_none() {
                let what = no_vendor(&self.settings.vendors, vendor);
                self.problems.push(ConfigProblem::new(&entry.origin, what));
                continue;
            }
            if let Some(text) = source.vendor_text(vendor) {
                self.lay_over(&text, |_| entry.origin.clone());
            }
            if let Some(secret) = entry.value.literal() {
                self.settings.keys.insert(vendor.to_owned(), secret.clone());
                self.warn_of_readers(&entry.origin, vendor);
            }
        }
    }

    fn warn_of_readers(&mut self, origin: &SettingOrigin, vendor: &str) {
        if let SourceName::File(path) = &origin.source
            && is_readable_by_others(path)
        {
            let what = format!(
                "others may read the key of {vendor} here; make the file yours alone (chmod 600), or write \
                 {{ env = \"NAME\" }} or {{ command = [...] }} instead"
            );
            self.warnings.push(ConfigProblem::new(origin, what));
        }
    }
}

fn no_vendor(vendors: &Vendors, name: &str) -> String {
    let known: Vec<&str> = vendors.ids().collect();
    let shown: String = name.chars().take(60).collect();
    format!("unknown vendor {shown:?}; {}", did_you_mean(name, &known))
}
