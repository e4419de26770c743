//! `Vendors`: all known vendors. Bundled files are parsed on first use; users add or change vendors.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use rheon_text::did_you_mean;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::VendorError;
use super::spec::Vendor;
use crate::toml_text::{Section, Source, TomlError, merge_into};

/// Each file of `vendors/`: vendor id and text, sorted by id.
pub(super) static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vendors.rs"));

/// The parsed files, in the order of [`FILES`].
static READ: OnceLock<Vec<OnceLock<Option<Arc<Vendor>>>>> = OnceLock::new();

/// All known vendors.
#[derive(Debug, Clone, Default)]
pub struct Vendors {
    /// Vendors that users added or changed.
    added: BTreeMap<String, UserVendor>,
}

#[derive(Debug, Clone)]
struct UserVendor {
    vendor: Arc<Vendor>,
    /// The text of an equivalent vendor file, with everything it inherits.
    text: Arc<str>,
}

/// A vendor from a user's file that is not added yet.
struct PendingVendor<'a> {
    section: Section<'a>,
    extends: Option<Extends>,
}

/// The vendor that another one extends, and the position of the key.
struct Extends {
    id: String,
    offset: usize,
}

impl Vendors {
    /// The vendors bundled with Rheon.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// The vendor `id`.
    pub fn get(&self, id: &str) -> Option<Arc<Vendor>> {
        match self.added.get(id) {
            Some(added) => Some(Arc::clone(&added.vendor)),
            None => bundled(FILES.iter().position(|(name, _)| *name == id)?),
        }
    }

    /// All vendor ids, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let bundled = FILES.iter().map(|(name, _)| *name);
        bundled.chain(self.added.keys().map(String::as_str)).collect::<BTreeSet<_>>().into_iter()
    }

    /// All vendors, sorted by id.
    pub fn iter(&self) -> impl Iterator<Item = Arc<Vendor>> {
        self.ids().filter_map(|id| self.get(id))
    }

    /// Adds the vendors of a user's file: the tables `[vendors.<id>]`; other tables are ignored.
    ///
    /// A table with the id of a known vendor changes it. One with `extends` starts as a copy of another vendor, but
    /// without the environment variables of its base URL and key, so that a key is only sent to its own service.
    pub fn with(mut self, text: &str, file: &str) -> Result<Self, VendorError> {
        let source = Source { text, file };
        let mut pending = Vec::new();
        for mut section in source.sections("vendors")? {
            check_id(source, &section)?;
            let extends = take_extends(source, &mut section.table)?;
            pending.push(PendingVendor { section, extends });
        }
        while !pending.is_empty() {
            let names: BTreeSet<&str> = pending.iter().map(|vendor| vendor.section.name.as_str()).collect();
            let is_ready = |vendor: &PendingVendor<'_>| {
                let base = vendor.extends.as_ref().map(|extends| extends.id.as_str());
                base.is_none_or(|base| base == vendor.section.name || !names.contains(base))
            };
            let Some(index) = pending.iter().position(is_ready) else {
                let start = pending.first().map_or(0, |vendor| vendor.section.span.start);
                return Err(source.error(start, "vendors extend each other in a cycle; break it").into());
            };
            let vendor = pending.remove(index);
            self.add(source, vendor)?;
        }
        Ok(self)
    }

    fn add(&mut self, source: Source<'_>, vendor: PendingVendor<'_>) -> Result<(), VendorError> {
        let PendingVendor { section: Section { name, span, table }, extends } = vendor;
        let base = extends.as_ref().map_or(name.as_str(), |extends| extends.id.as_str());
        let base_text = match self.added.get(base) {
            Some(added) => Some(Arc::clone(&added.text)),
            None => bundled_text(base)?,
        };
        let table = match (&base_text, &extends) {
            (Some(base_text), _) => {
                merged(base_text, table, if base == name { Inherit::All } else { Inherit::WithoutEnv })?
            }
            (None, None) => table,
            (None, Some(extends)) => {
                let known = did_you_mean(base, &self.ids().collect::<Vec<_>>());
                let problem = format!("cannot extend unknown vendor {base:?}; {known}");
                return Err(source.error(extends.offset, problem).into());
            }
        };
        let text = text_of(source, table.clone())?;
        let vendor = source.read::<Vendor>(table, &span)?.named(&name);
        check(source, &vendor, span.start)?;
        self.added.insert(name, UserVendor { vendor: Arc::new(vendor), text });
        Ok(())
    }
}

/// The bundled vendor at `index`.
fn bundled(index: usize) -> Option<Arc<Vendor>> {
    let read = READ.get_or_init(|| FILES.iter().map(|_| OnceLock::new()).collect());
    let (id, text) = FILES.get(index)?;
    // A test parses every file, so this is never `None` because of an error.
    read.get(index)?.get_or_init(|| read_file(id, text).map(Arc::new).ok()).clone()
}

/// Parses a bundled file.
pub(super) fn read_file(id: &str, text: &str) -> Result<Vendor, VendorError> {
    let source = Source { text, file: id };
    let (base_text, table) = file_parts(source)?;
    let table = match &base_text {
        Some(base_text) => merged(base_text, table, Inherit::WithoutEnv)?,
        None => table,
    };
    let vendor = source.read::<Vendor>(table, &(0..0))?.named(id);
    check(source, &vendor, 0)?;
    Ok(vendor)
}

/// The text of a bundled file, with everything it inherits.
fn bundled_text(id: &str) -> Result<Option<Arc<str>>, TomlError> {
    let Some((_, text)) = FILES.iter().find(|(name, _)| *name == id) else { return Ok(None) };
    let source = Source { text, file: id };
    let text = match file_parts(source)? {
        (None, _) => Arc::from(*text),
        (Some(base_text), table) => text_of(source, merged(&base_text, table, Inherit::WithoutEnv)?)?,
    };
    Ok(Some(text))
}

/// The table of a file, and the text of the file that it extends.
fn file_parts(source: Source<'_>) -> Result<(Option<Arc<str>>, DeTable<'_>), TomlError> {
    let mut table = source.table()?;
    let Some(extends) = take_extends(source, &mut table)? else { return Ok((None, table)) };
    // Prevents endless recursion between files that extend each other.
    match FILES.iter().find(|(name, _)| *name == extends.id && *name != source.file) {
        Some((name, _)) => Ok((bundled_text(name)?, table)),
        None => Err(source.error(extends.offset, format!("cannot extend unknown vendor {:?}", extends.id))),
    }
}

fn text_of(source: Source<'_>, table: DeTable<'_>) -> Result<Arc<str>, TomlError> {
    let table: toml::Table = source.read(table, &(0..0))?;
    toml::to_string(&table).map(Arc::from).map_err(|error| source.error(0, error.to_string()))
}

/// Removes `extends` from a vendor's table.
fn take_extends(source: Source<'_>, table: &mut DeTable<'_>) -> Result<Option<Extends>, TomlError> {
    let Some(value) = table.remove("extends") else { return Ok(None) };
    let offset = value.span().start;
    match value.into_inner() {
        DeValue::String(id) => Ok(Some(Extends { id: id.into_owned(), offset })),
        _ => Err(source.error(offset, "\"extends\" must be the name of a vendor")),
    }
}

/// What a vendor inherits from its base.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inherit {
    /// Everything: it is the same vendor.
    All,
    /// Everything except the environment variables and commands for the other vendor's base URL and key.
    WithoutEnv,
}

/// Merges `changes` into the vendor `base_text`.
fn merged<'a>(base_text: &'a str, changes: DeTable<'a>, keep: Inherit) -> Result<DeTable<'a>, TomlError> {
    let mut table = Source { text: base_text, file: "the vendor that is extended" }.table()?;
    if keep == Inherit::WithoutEnv {
        for name in ["name", "docs", "base_url_env"] {
            table.remove(name);
        }
        if let Some(auth) = inner_mut(&mut table, "auth") {
            auth.remove("key_env");
            auth.remove("api_key_command");
        }
    }
    // The keys of one scheme make no sense for another.
    if inner(&changes, "auth").is_some_and(|auth| auth.contains_key("scheme"))
        && let Some(auth) = inner_mut(&mut table, "auth")
    {
        for key in ["header", "parameter", "service"] {
            auth.remove(key);
        }
    }
    merge_into(&mut table, changes);
    Ok(table)
}

fn inner<'t, 'a>(table: &'t DeTable<'a>, key: &str) -> Option<&'t DeTable<'a>> {
    table.get(key)?.get_ref().as_table()
}

fn inner_mut<'t, 'a>(table: &'t mut DeTable<'a>, key: &str) -> Option<&'t mut DeTable<'a>> {
    match table.get_mut(key).map(Spanned::get_mut) {
        Some(DeValue::Table(table)) => Some(table),
        Some(_) | None => None,
    }
}

fn check_id(source: Source<'_>, section: &Section<'_>) -> Result<(), TomlError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if !section.name.is_empty() && section.name.chars().all(fits) {
        return Ok(());
    }
    let problem = "a vendor name may only contain lower-case letters, digits and - _ .; rename it";
    Err(source.error(section.span.start, problem))
}

/// Checks that go beyond the types.
fn check(source: Source<'_>, vendor: &Vendor, offset: usize) -> Result<(), TomlError> {
    let problem: Cow<'_, str> = match vendor.undefined_variables().first() {
        Some(name) => format!("{{{name}}} is used but not defined; add [variables.{name}]").into(),
        None if !vendor.path().starts_with('/') => "\"paths.request\" must start with /".into(),
        None if vendor
            .paths
            .check
            .as_ref()
            .is_some_and(|path| !path.is_empty() && !path.starts_with('/')) =>
        {
            "\"paths.check\" must start with /".into()
        }
        None if vendor.paths.count.as_ref().is_some_and(|path| !path.starts_with('/')) => {
            "\"paths.count\" must start with /".into()
        }
        None => return Ok(()),
    };
    Err(source.error(offset, problem))
}
