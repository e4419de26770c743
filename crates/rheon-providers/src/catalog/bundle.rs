//! The models in the files of `models/`. A file is parsed when a model of its vendor is first looked up.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use super::model::Model;
use super::names;
use super::row::Row;
use crate::toml_text::{Source, TomlError};

/// Each file of `models/`: vendor id and text, sorted by id.
pub(super) static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// The parsed files, in the order of [`FILES`].
static READ: OnceLock<Vec<OnceLock<Models>>> = OnceLock::new();

/// The models of one vendor.
#[derive(Debug, Default)]
pub(super) struct Models {
    /// A vendor with the same models at the same prices.
    pub(super) same_as: Option<String>,
    pub(super) by_id: BTreeMap<String, Arc<Model>>,
    /// Maps plain names to ids.
    by_name: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    same_as: Option<String>,
    #[serde(default)]
    models: BTreeMap<String, Row>,
}

impl Models {
    /// Parses a bundled file.
    pub(super) fn read(source: Source<'_>) -> Result<Self, TomlError> {
        let file: File = source.read(source.table()?, &(0..0))?;
        let mut models = Self { same_as: file.same_as, ..Self::default() };
        for (id, row) in file.models {
            if let Some(problem) = row.problem() {
                return Err(source.error(0, format!("{id}: {problem}")));
            }
            let model = row.apply_to(&Model::blank(&id), &id);
            models.by_id.insert(id, Arc::new(model));
        }
        // Shorter names first: a name without a date means the current version of the model.
        let mut ids: Vec<&String> = models.by_id.keys().collect();
        ids.sort_by_key(|id| id.len());
        for id in ids {
            models.by_name.entry(names::plain(id)).or_insert_with(|| id.clone());
        }
        Ok(models)
    }

    /// Looks up a model by its id or one of its aliases.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Model>> {
        let exactly = |id: &str| self.by_id.get(id).cloned();
        let nearly = || exactly(self.by_name.get(&names::plain(id))?);
        exactly(id)
            .or_else(|| names::other_regions(id).iter().find_map(|id| exactly(id)))
            .or_else(nearly)
            .map(|model| match model.info.id == id {
                true => model,
                // Gateways offer some models for free under a separate name.
                false if id.ends_with(":free") => Arc::new(model.free_of_charge(id)),
                false => Arc::new(model.with_id(id)),
            })
    }
}

/// The bundled models of a vendor.
pub(super) fn models(vendor: &str) -> Option<&'static Models> {
    let index = FILES.iter().position(|(name, _)| *name == vendor)?;
    let (file, text) = FILES.get(index)?;
    let read = READ.get_or_init(|| FILES.iter().map(|_| OnceLock::new()).collect());
    // A test parses every file, so this never falls back to the default.
    Some(read.get(index)?.get_or_init(|| Models::read(Source { text, file }).unwrap_or_default()))
}

/// Looks up a bundled model, first in the vendor's own file, then in its maker's.
pub(super) fn find(vendor: &str, id: &str) -> Option<Arc<Model>> {
    let own = models(vendor);
    let same = own.and_then(|models| models.same_as.as_deref()).and_then(models);
    let here = [own, same].into_iter().flatten().find_map(|models| models.find(id));
    here.or_else(|| {
        let (maker, name) = names::maker(id)?;
        let model = models(maker).filter(|_| maker != vendor)?.find(name)?;
        Some(Arc::new(model.without_prices(id)))
    })
}
