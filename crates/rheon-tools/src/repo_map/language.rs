//! The languages that the map reads: one row each, with a query beside the code that says what is a definition and what
//! a reference.

use std::sync::OnceLock;

use tree_sitter::{Language as Grammar, Query};

/// A language.
pub(super) struct Language {
    /// What it is called.
    pub(super) name: &'static str,
    /// How its files end, without the dot.
    extensions: &'static [&'static str],
    /// Its grammar.
    pub(super) grammar: fn() -> Grammar,
    /// Its queries, which count as one.
    queries: &'static [&'static str],
    /// Which characters its grammar can be shown.
    pub(super) reads: Reads,
    compiled: OnceLock<Option<Query>>,
}

/// Which characters a grammar can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// All.
    #[cfg_attr(not(feature = "grammars"), allow(dead_code, reason = "shell scripts are read as ASCII"))]
    Everything,
    /// Those of ASCII.
    Ascii,
}

impl Language {
    #[cfg_attr(not(feature = "grammars"), allow(dead_code, reason = "shell scripts are read as ASCII"))]
    const fn new(
        name: &'static str,
        extensions: &'static [&'static str],
        grammar: fn() -> Grammar,
        queries: &'static [&'static str],
    ) -> Self {
        Self { name, extensions, grammar, queries, reads: Reads::Everything, compiled: OnceLock::new() }
    }

    /// One whose grammar can only be shown ASCII.
    const fn of_ascii(
        name: &'static str,
        extensions: &'static [&'static str],
        grammar: fn() -> Grammar,
        queries: &'static [&'static str],
    ) -> Self {
        Self { name, extensions, grammar, queries, reads: Reads::Ascii, compiled: OnceLock::new() }
    }

    /// The query, compiled once. None only if query and grammar do not fit, which a test rules out.
    pub(super) fn query(&self) -> Option<&Query> {
        self.compiled.get_or_init(|| Query::new(&(self.grammar)(), &self.queries.concat()).ok()).as_ref()
    }
}

#[cfg(feature = "grammars")]
const C: &str = include_str!("queries/c.scm");
#[cfg(feature = "grammars")]
const TYPESCRIPT: &str = include_str!("queries/typescript.scm");

/// How many there are. The grammar of shell scripts is always there, since permission rules need it; that of Ruby is 2 MB, so it is to
/// be asked for.
const COUNT: usize =
    1 + if cfg!(feature = "grammars") { 8 } else { 0 } + if cfg!(feature = "ruby") { 1 } else { 0 };

/// Every language. JavaScript is read with the grammar of TypeScript, of which it is nearly a part: one grammar less to
/// compile, and types in comments of neither matter here.
static LANGUAGES: [Language; COUNT] = [
    #[cfg(feature = "grammars")]
    Language::new("rust", &["rs"], || tree_sitter_rust::LANGUAGE.into(), &[include_str!("queries/rust.scm")]),
    #[cfg(feature = "grammars")]
    Language::new(
        "python",
        &["py", "pyi"],
        || tree_sitter_python::LANGUAGE.into(),
        &[include_str!("queries/python.scm")],
    ),
    #[cfg(feature = "grammars")]
    Language::new(
        "typescript",
        &["ts", "mts", "cts"],
        || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        &[TYPESCRIPT],
    ),
    #[cfg(feature = "grammars")]
    Language::new(
        "tsx",
        &["tsx", "js", "jsx", "mjs", "cjs"],
        || tree_sitter_typescript::LANGUAGE_TSX.into(),
        &[TYPESCRIPT, include_str!("queries/tsx.scm")],
    ),
    #[cfg(feature = "grammars")]
    Language::new("go", &["go"], || tree_sitter_go::LANGUAGE.into(), &[include_str!("queries/go.scm")]),
    #[cfg(feature = "grammars")]
    Language::new(
        "java",
        &["java"],
        || tree_sitter_java::LANGUAGE.into(),
        &[include_str!("queries/java.scm")],
    ),
    #[cfg(feature = "grammars")]
    Language::new("c", &["c"], || tree_sitter_c::LANGUAGE.into(), &[C]),
    // A header may be of either; the grammar of C++ reads nearly all of C.
    #[cfg(feature = "grammars")]
    Language::new(
        "cpp",
        &["h", "cpp", "cc", "cxx", "hpp", "hh", "hxx"],
        || tree_sitter_cpp::LANGUAGE.into(),
        &[C, include_str!("queries/cpp.scm")],
    ),
    #[cfg(feature = "ruby")]
    Language::new(
        "ruby",
        &["rb", "rake"],
        || tree_sitter_ruby::LANGUAGE.into(),
        &[include_str!("queries/ruby.scm")],
    ),
    Language::of_ascii(
        "bash",
        &["sh", "bash"],
        || tree_sitter_bash::LANGUAGE.into(),
        &[include_str!("queries/bash.scm")],
    ),
];

/// Every language.
pub(super) fn all() -> &'static [Language] {
    &LANGUAGES
}

/// The language of a file with this name; none where the map does not read it.
pub(super) fn of(file_name: &str) -> Option<&'static Language> {
    let (stem, extension) = file_name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    all().iter().find(|language| language.extensions.iter().any(|it| it.eq_ignore_ascii_case(extension)))
}

/// Changes whenever a language, its files or its queries do, so that tags of an older program are not taken for ours.
pub(super) fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    for language in all() {
        for text in [&[language.name], language.extensions, language.queries].concat() {
            hasher.update(text.as_bytes());
            hasher.update(&[0]);
        }
    }
    hasher.finalize().to_hex().to_string()
}
