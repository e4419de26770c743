//! `Vendors`: all that are known. Those of the files are read when they are asked for; users add or change some.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use rheon_text::did_you_mean;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::VendorError;
use super::spec::Vendor;
use crate::toml_text::{Section, Source, TextError, lay_over};

/// Each file of `vendors/`: its name and its text, by name.
pub(super) static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/vendors.rs"));

/// Those of the files that were asked for, in the order of [`FILES`].
static READ: OnceLock<Vec<OnceLock<Option<Arc<Vendor>>>>> = OnceLock::new();

/// All vendors that are known.
#[derive(Debug, Clone, Default)]
pub struct Vendors {
    /// Those that users added or changed.
    added: BTreeMap<String, Added>,
}

#[derive(Debug, Clone)]
struct Added {
    vendor: Arc<Vendor>,
    /// As a file of its own would have it, with all that it inherits.
    text: Arc<str>,
}

/// A vendor of a user's file, on its way in.
struct Incoming<'a> {
    section: Section<'a>,
    extends: Option<Extends>,
}

/// The vendor that another begins as, and where that is said.
struct Extends {
    id: String,
    offset: usize,
}

impl Vendors {
    /// Those that come with Rheon.
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

    /// The names of all vendors, in order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let bundled = FILES.iter().map(|(name, _)| *name);
        bundled.chain(self.added.keys().map(String::as_str)).collect::<BTreeSet<_>>().into_iter()
    }

    /// All vendors, by name.
    pub fn iter(&self) -> impl Iterator<Item = Arc<Vendor>> {
        self.ids().filter_map(|id| self.get(id))
    }

    /// Adds the vendors of a user's file: the tables `[vendors.<id>]`. Other tables are left to others.
    ///
    /// A table with the name of a known vendor changes it. One with `extends` begins as another vendor, but without the
    /// variables that hold that one's address and key, so that a key goes nowhere but where it belongs.
    pub fn with(mut self, text: &str, file: &str) -> Result<Self, VendorError> {
        let source = Source { text, file };
        let mut waiting = Vec::new();
        for mut section in source.sections("vendors")? {
            check_id(source, &section)?;
            let extends = take_extends(source, &mut section.table)?;
            waiting.push(Incoming { section, extends });
        }
        while !waiting.is_empty() {
            let names: BTreeSet<&str> = waiting.iter().map(|vendor| vendor.section.name.as_str()).collect();
            let is_ready = |vendor: &Incoming<'_>| {
                let base = vendor.extends.as_ref().map(|extends| extends.id.as_str());
                base.is_none_or(|base| base == vendor.section.name || !names.contains(base))
            };
            let Some(place) = waiting.iter().position(is_ready) else {
                let start = waiting.first().map_or(0, |vendor| vendor.section.place.start);
                return Err(source.error(start, "vendors extend each other in a circle; break it").into());
            };
            let vendor = waiting.remove(place);
            self.add(source, vendor)?;
        }
        Ok(self)
    }

    fn add(&mut self, source: Source<'_>, vendor: Incoming<'_>) -> Result<(), VendorError> {
        let Incoming { section: Section { name, place, table }, extends } = vendor;
        let base = extends.as_ref().map_or(name.as_str(), |extends| extends.id.as_str());
        let under = match self.added.get(base) {
            Some(added) => Some(Arc::clone(&added.text)),
            None => bundled_text(base)?,
        };
        let table = match (&under, &extends) {
            (Some(under), _) => merged(under, table, if base == name { Keep::All } else { Keep::NoNames })?,
            (None, None) => table,
            (None, Some(extends)) => {
                let known = did_you_mean(base, &self.ids().collect::<Vec<_>>());
                let problem = format!("there is no vendor {base:?} to extend; {known}");
                return Err(source.error(extends.offset, problem).into());
            }
        };
        let text = text_of(source, table.clone())?;
        let vendor = source.read::<Vendor>(table, &place)?.named(&name);
        check(source, &vendor, place.start)?;
        self.added.insert(name, Added { vendor: Arc::new(vendor), text });
        Ok(())
    }
}

/// The vendor of the file at `place`.
fn bundled(place: usize) -> Option<Arc<Vendor>> {
    let read = READ.get_or_init(|| FILES.iter().map(|_| OnceLock::new()).collect());
    let (id, text) = FILES.get(place)?;
    // A test reads every file, so none is missing here.
    read.get(place)?.get_or_init(|| read_file(id, text).map(Arc::new).ok()).clone()
}

/// The vendor of one of our own files.
pub(super) fn read_file(id: &str, text: &str) -> Result<Vendor, VendorError> {
    let source = Source { text, file: id };
    let (under, table) = file_parts(source)?;
    let table = match &under {
        Some(under) => merged(under, table, Keep::NoNames)?,
        None => table,
    };
    let vendor = source.read::<Vendor>(table, &(0..0))?.named(id);
    check(source, &vendor, 0)?;
    Ok(vendor)
}

/// The text of one of our own files, with all that it inherits.
fn bundled_text(id: &str) -> Result<Option<Arc<str>>, TextError> {
    let Some((_, text)) = FILES.iter().find(|(name, _)| *name == id) else { return Ok(None) };
    let source = Source { text, file: id };
    let text = match file_parts(source)? {
        (None, _) => Arc::from(*text),
        (Some(under), table) => text_of(source, merged(&under, table, Keep::NoNames)?)?,
    };
    Ok(Some(text))
}

/// The table of a file, and the text of the one that it extends.
fn file_parts(source: Source<'_>) -> Result<(Option<Arc<str>>, DeTable<'_>), TextError> {
    let mut table = source.table()?;
    let Some(extends) = take_extends(source, &mut table)? else { return Ok((None, table)) };
    // A file that extends one which extends it in turn would never end; the name of the other ends it.
    match FILES.iter().find(|(name, _)| *name == extends.id && *name != source.file) {
        Some((name, _)) => Ok((bundled_text(name)?, table)),
        None => Err(source.error(extends.offset, format!("there is no vendor {:?} to extend", extends.id))),
    }
}

fn text_of(source: Source<'_>, table: DeTable<'_>) -> Result<Arc<str>, TextError> {
    let table: toml::Table = source.read(table, &(0..0))?;
    toml::to_string(&table).map(Arc::from).map_err(|error| source.error(0, error.to_string()))
}

/// Takes `extends` out of a vendor's table.
fn take_extends(source: Source<'_>, table: &mut DeTable<'_>) -> Result<Option<Extends>, TextError> {
    let Some(value) = table.remove("extends") else { return Ok(None) };
    let offset = value.span().start;
    match value.into_inner() {
        DeValue::String(id) => Ok(Some(Extends { id: id.into_owned(), offset })),
        _ => Err(source.error(offset, "\"extends\" must be the name of a vendor")),
    }
}

/// What a vendor keeps of the one under it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    /// Everything: it is the same vendor.
    All,
    /// All but the names of variables and commands that lead to the other's address and key.
    NoNames,
}

/// `over`, laid over the vendor `under`.
fn merged<'a>(under: &'a str, over: DeTable<'a>, keep: Keep) -> Result<DeTable<'a>, TextError> {
    let mut table = Source { text: under, file: "the vendor that is extended" }.table()?;
    if keep == Keep::NoNames {
        for name in ["name", "docs", "base_url_env"] {
            table.remove(name);
        }
        if let Some(auth) = inner_mut(&mut table, "auth") {
            auth.remove("key_env");
            auth.remove("api_key_command");
        }
    }
    // The keys of one scheme make no sense beside another.
    if inner(&over, "auth").is_some_and(|auth| auth.contains_key("scheme"))
        && let Some(auth) = inner_mut(&mut table, "auth")
    {
        for key in ["header", "parameter", "service"] {
            auth.remove(key);
        }
    }
    lay_over(&mut table, over);
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

fn check_id(source: Source<'_>, section: &Section<'_>) -> Result<(), TextError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    if !section.name.is_empty() && section.name.chars().all(fits) {
        return Ok(());
    }
    let problem = "the name of a vendor has lower-case letters, digits and - _ . only; rename it";
    Err(source.error(section.place.start, problem))
}

/// What the types do not check.
fn check(source: Source<'_>, vendor: &Vendor, offset: usize) -> Result<(), TextError> {
    let problem: Cow<'_, str> = match vendor.undefined_variables().first() {
        Some(name) => format!("{{{name}}} is used but not defined; add [variables.{name}]").into(),
        None if !vendor.path().starts_with('/') => "\"paths.request\" must begin with /".into(),
        None if vendor
            .paths
            .check
            .as_ref()
            .is_some_and(|path| !path.is_empty() && !path.starts_with('/')) =>
        {
            "\"paths.check\" must begin with /".into()
        }
        None if vendor.paths.count.as_ref().is_some_and(|path| !path.starts_with('/')) => {
            "\"paths.count\" must begin with /".into()
        }
        None => return Ok(()),
    };
    Err(source.error(offset, problem))
}
