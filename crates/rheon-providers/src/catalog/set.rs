//! `Catalog`: the models that are known, and what users know better.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bundle;
use super::model::Model;
use super::row::Row;
use crate::toml_text::{Source, TomlError};

/// The models that are known. Cheap to make; data is read when it is asked for.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// What users say of models, by `vendor/model`.
    rows: BTreeMap<String, Row>,
    /// The sizes that servers report, by `vendor/model`.
    contexts: BTreeMap<String, u64>,
}

impl Catalog {
    /// The models that come with Rheon.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// What is known of the model `id` of a vendor; [`Vendor::model`](crate::Vendor::model) is the shorter way.
    ///
    /// It is found by its exact name, or without date, version and region; a gateway's model also by its maker's name, then
    /// without prices. A model that is not found is `unknown`. What users say comes on top.
    pub fn model_or(&self, vendor: &str, id: &str, unknown: impl FnOnce() -> Model) -> Arc<Model> {
        let found = bundle::find(vendor, id).unwrap_or_else(|| Arc::new(unknown()));
        let name = format!("{vendor}/{id}");
        let found = match self.contexts.get(&name) {
            Some(tokens) => Arc::new(found.with_context(*tokens)),
            None => found,
        };
        match self.rows.get(&name) {
            Some(row) => Arc::new(row.over(&found, id)),
            None => found,
        }
    }

    /// The names of the bundled models of a vendor, in order.
    pub fn ids(&self, vendor: &str) -> impl DoubleEndedIterator<Item = &'static str> + use<> {
        let own = bundle::models(vendor);
        let same = own.and_then(|models| models.same_as.as_deref()).and_then(bundle::models);
        let all = [own, same].into_iter().flatten().flat_map(|models| models.by_id.keys());
        all.map(String::as_str).collect::<std::collections::BTreeSet<_>>().into_iter()
    }

    /// Adds what a user's file says of models: the tables `[models."vendor/model"]`. Other tables are left to others. A
    /// table needs to say only what differs from what is known.
    pub fn with(mut self, text: &str, file: &str) -> Result<Self, TomlError> {
        let source = Source { text, file };
        for section in source.sections("models")? {
            let start = section.place.start;
            if !section.name.split_once('/').is_some_and(|(vendor, id)| !vendor.is_empty() && !id.is_empty())
            {
                let name = section.name;
                return Err(source.error(start, format!("{name:?} must be named [models.\"vendor/model\"]")));
            }
            let row: Row = source.read(section.table, &section.place)?;
            if let Some(problem) = row.problem() {
                return Err(source.error(start, problem));
            }
            self.rows.insert(section.name, row);
        }
        Ok(self)
    }

    /// Sets the size of the context that a server reports for a model.
    pub fn with_context(mut self, vendor: &str, id: &str, tokens: u64) -> Self {
        self.contexts.insert(format!("{vendor}/{id}"), tokens);
        self
    }
}
