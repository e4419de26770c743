//! The languages of the map: one row each, and a query file that says what is a definition and what a reference.

use std::sync::OnceLock;

use tree_sitter::{Language as Grammar, Query};

pub(super) struct Language {
    pub(super) name: &'static str,
    /// File extensions without the dot.
    extensions: &'static [&'static str],
    pub(super) grammar: fn() -> Grammar,
    /// Queries, which are concatenated.
    queries: &'static [&'static str],
    /// The characters its grammar supports.
    pub(super) charset: Charset,
    compiled: OnceLock<Option<Query>>,
}

/// The characters a grammar supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    #[cfg_attr(not(feature = "grammars"), allow(dead_code, reason = "shell scripts are read as ASCII"))]
    Any,
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
        Self { name, extensions, grammar, queries, charset: Charset::Any, compiled: OnceLock::new() }
    }

    /// A language whose grammar only supports ASCII.
    const fn ascii_only(
        name: &'static str,
        extensions: &'static [&'static str],
        grammar: fn() -> Grammar,
        queries: &'static [&'static str],
    ) -> Self {
        Self { name, extensions, grammar, queries, charset: Charset::Ascii, compiled: OnceLock::new() }
    }

    /// The query, compiled once. `None` only if query and grammar do not match, which a test rules out.
    pub(super) fn query(&self) -> Option<&Query> {
        self.compiled.get_or_init(|| Query::new(&(self.grammar)(), &self.queries.concat()).ok()).as_ref()
    }
}

#[cfg(feature = "grammars")]
const C: &str = include_str!("queries/c.scm");
#[cfg(feature = "grammars")]
const TYPESCRIPT: &str = include_str!("queries/typescript.scm");

/// The number of languages. The grammar of shell scripts is always there, since permission rules need it; the Ruby grammar
/// is 2 MB, so it is behind a feature.
const COUNT: usize =
    1 + if cfg!(feature = "grammars") { 8 } else { 0 } + if cfg!(feature = "ruby") { 1 } else { 0 };

/// All languages. JavaScript uses the TypeScript grammar, of which it is nearly a subset, so that there is one grammar
/// less to compile.
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
    // A header may be C or C++; the C++ grammar reads nearly all of C.
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
    Language::ascii_only(
        "bash",
        &["sh", "bash"],
        || tree_sitter_bash::LANGUAGE.into(),
        &[include_str!("queries/bash.scm")],
    ),
];

pub(super) fn all() -> &'static [Language] {
    &LANGUAGES
}

/// The language of a file with this name, if the map supports it.
pub(super) fn of(file_name: &str) -> Option<&'static Language> {
    let (stem, extension) = file_name.rsplit_once('.')?;
    if stem.is_empty() {
        return None;
    }
    all().iter().find(|language| language.extensions.iter().any(|it| it.eq_ignore_ascii_case(extension)))
}

/// Changes with any language, extension or query, so that tags of an older version are not reused.
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
