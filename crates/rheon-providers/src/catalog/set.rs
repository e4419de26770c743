//! `Catalog`: known models, and the user's overrides.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bundle;
use super::model::Model;
use super::row::Row;
use crate::toml_text::{Source, TomlError};

/// The known models. Cheap to create; data is parsed on first use.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// The user's overrides, by `vendor/model`.
    rows: BTreeMap<String, Row>,
    /// Context windows reported by servers, by `vendor/model`.
    contexts: BTreeMap<String, u64>,
}

impl Catalog {
    /// The models bundled with Rheon.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Looks up a model of a vendor; [`Vendor::model`](crate::Vendor::model) is the shorter way.
    ///
    /// The name is matched exactly first, then without date, version and region. A gateway's model is also looked up
    /// at its maker, without prices. If nothing matches, `unknown` supplies the model. The user's overrides are
    /// applied on top.
    pub fn model_or(&self, vendor: &str, id: &str, unknown: impl FnOnce() -> Model) -> Arc<Model> {
        let model = bundle::find(vendor, id).unwrap_or_else(|| Arc::new(unknown()));
        let name = format!("{vendor}/{id}");
        let model = match self.contexts.get(&name) {
            Some(tokens) => Arc::new(model.with_context(*tokens)),
            None => model,
        };
        match self.rows.get(&name) {
            Some(row) => Arc::new(row.apply_to(&model, id)),
            None => model,
        }
    }

    /// The ids of the vendor's bundled models, sorted.
    pub fn ids(&self, vendor: &str) -> impl DoubleEndedIterator<Item = &'static str> + use<> {
        let own = bundle::models(vendor);
        let same = own.and_then(|models| models.same_as.as_deref()).and_then(bundle::models);
        let all = [own, same].into_iter().flatten().flat_map(|models| models.by_id.keys());
        all.map(String::as_str).collect::<std::collections::BTreeSet<_>>().into_iter()
    }

    /// Adds the user's tables `[models."vendor/model"]`; other tables are ignored. A table only needs the keys that
    /// differ.
    pub fn with(mut self, text: &str, file: &str) -> Result<Self, TomlError> {
        let source = Source { text, file };
        for section in source.sections("models")? {
            let start = section.span.start;
            if !section.name.split_once('/').is_some_and(|(vendor, id)| !vendor.is_empty() && !id.is_empty())
            {
                let name = section.name;
                return Err(source.error(start, format!("{name:?} must be named [models.\"vendor/model\"]")));
            }
            let row: Row = source.read(section.table, &section.span)?;
            if let Some(problem) = row.problem() {
                return Err(source.error(start, problem));
            }
            self.rows.insert(section.name, row);
        }
        Ok(self)
    }

    /// Sets the context window that a server reports for a model.
    pub fn with_context(mut self, vendor: &str, id: &str, tokens: u64) -> Self {
        self.contexts.insert(format!("{vendor}/{id}"), tokens);
        self
    }
}
