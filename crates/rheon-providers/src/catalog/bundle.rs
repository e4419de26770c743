//! The models of the files in `models/`. A file is read when a model of its vendor is first asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;

use super::model::Model;
use super::names;
use super::row::Row;
use crate::toml_text::{Source, TomlError};

/// Each file of `models/`: the name of its vendor and its text, by name.
pub(super) static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// Those that were asked for, in the order of [`FILES`].
static READ: OnceLock<Vec<OnceLock<Models>>> = OnceLock::new();

/// The models of one vendor.
#[derive(Debug, Default)]
pub(super) struct Models {
    /// The vendor whose models these are too, at the same prices.
    pub(super) same_as: Option<String>,
    pub(super) by_id: BTreeMap<String, Arc<Model>>,
    /// From plain names to ids.
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
    /// The models of one of our own files.
    pub(super) fn read(source: Source<'_>) -> Result<Self, TomlError> {
        let file: File = source.read(source.table()?, &(0..0))?;
        let mut models = Self { same_as: file.same_as, ..Self::default() };
        for (id, row) in file.models {
            if let Some(problem) = row.problem() {
                return Err(source.error(0, format!("{id}: {problem}")));
            }
            let model = row.over(&Model::blank(&id), &id);
            models.by_id.insert(id, Arc::new(model));
        }
        // Shorter names first: a name without a date stands for the model as it is now.
        let mut ids: Vec<&String> = models.by_id.keys().collect();
        ids.sort_by_key(|id| id.len());
        for id in ids {
            models.by_name.entry(names::plain(id)).or_insert_with(|| id.clone());
        }
        Ok(models)
    }

    /// The model `id`, by this name or another of its names.
    pub(super) fn find(&self, id: &str) -> Option<Arc<Model>> {
        let exactly = |id: &str| self.by_id.get(id).cloned();
        let nearly = || exactly(self.by_name.get(&names::plain(id))?);
        exactly(id)
            .or_else(|| names::other_regions(id).iter().find_map(|id| exactly(id)))
            .or_else(nearly)
            .map(|model| match model.info.id == id {
                true => model,
                // A gateway gives some models away under a name of their own.
                false if id.ends_with(":free") => Arc::new(model.for_nothing(id)),
                false => Arc::new(model.renamed(id)),
            })
    }
}

/// The bundled models of a vendor.
pub(super) fn models(vendor: &str) -> Option<&'static Models> {
    let place = FILES.iter().position(|(name, _)| *name == vendor)?;
    let (file, text) = FILES.get(place)?;
    let read = READ.get_or_init(|| FILES.iter().map(|_| OnceLock::new()).collect());
    // A test reads every file, so none is empty here.
    Some(read.get(place)?.get_or_init(|| Models::read(Source { text, file }).unwrap_or_default()))
}

/// The bundled model `id` of a vendor, with what is known of it there, or elsewhere by its maker.
pub(super) fn find(vendor: &str, id: &str) -> Option<Arc<Model>> {
    let own = models(vendor);
    let same = own.and_then(|models| models.same_as.as_deref()).and_then(models);
    let here = [own, same].into_iter().flatten().find_map(|models| models.find(id));
    here.or_else(|| {
        let (maker, name) = names::maker(id)?;
        let model = models(maker).filter(|_| maker != vendor)?.find(name)?;
        Some(Arc::new(model.elsewhere(id)))
    })
}
