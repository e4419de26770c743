//! Plain English: phrases that documents, messages and comments do not use, and words that no type name contains.

use std::sync::LazyLock;

use regex::Regex;
use syn::visit::{self, Visit};
use syn::{Ident, ItemEnum, ItemStruct, ItemTrait, ItemType};

use super::docs;
use crate::repository::{Repository, Source};
use crate::violation::Violation;

/// A pattern that counts as a whole word whatever its case, and what to write instead.
struct Phrase {
    pattern: &'static str,
    instead: &'static str,
}

/// Phrases that make a reader look twice.
const PHRASES: &[Phrase] = &[
    Phrase { pattern: "anew", instead: "again" },
    Phrase { pattern: "mend(s|ed|ing)?", instead: "fix, repair" },
    Phrase { pattern: "under way", instead: "running, in progress" },
    Phrase { pattern: "(go|goes|going|gone|went) on with", instead: "resume, continue" },
    Phrase { pattern: "(bring|brings|brought) along", instead: "provide, contain" },
    Phrase { pattern: "passed over", instead: "skipped" },
    Phrase { pattern: "as (it|they) stands?", instead: "as is, unchanged" },
    Phrase { pattern: "whoever", instead: "the caller, the user, the client" },
    Phrase { pattern: "(somebody|nobody)", instead: "the user, another process, a name for the actor" },
    Phrase { pattern: "(is|are|was|were|be) told", instead: "Rheon tells, shows, reports" },
    Phrase { pattern: "(is|are) no (regular )?(file|folder|directory|number)", instead: "is not a ..." },
    Phrase { pattern: "this is none", instead: "invalid ..." },
    Phrase { pattern: "must be mended", instead: "problem found" },
];

/// Words that say nothing about what a type holds.
const TYPE_WORDS: &[&str] = &[
    "Because", "Desk", "Doing", "Ground", "Herald", "Keeper", "Kept", "Lent", "Murmur", "Purse", "Said",
    "Told", "Wanted", "What", "Which", "Whose", "Workshop",
];

static PATTERNS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let compile = |phrase: &Phrase| {
        let regex = Regex::new(&format!(r"(?i)\b{}\b", phrase.pattern)).ok()?;
        Some((regex, phrase.instead))
    };
    PHRASES.iter().filter_map(compile).collect()
});

/// Phrases in documents and sources, and types named by such words. The changelog keeps the words of its time, and the
/// glossary lists the words that are not used.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let documents =
        docs::documents(repository).filter(|(path, _)| !["CHANGELOG.md", "docs/GLOSSARY.md"].contains(path));
    let in_documents = documents.flat_map(|(path, text)| phrases_in(path, text));
    let sources = repository.sources().filter(|source| source.path != "xtask/src/rules/words.rs");
    let in_sources = sources
        .filter(|source| !source.is_test())
        .flat_map(|source| phrases_in(&source.path, &source.text).into_iter().chain(types_in(source)));
    in_documents.chain(in_sources).collect()
}

fn phrases_in(path: &str, text: &str) -> Vec<Violation> {
    let lines = text.lines().enumerate();
    let hits = lines.flat_map(|(index, line)| {
        PATTERNS.iter().filter_map(move |(regex, instead)| {
            let hit = regex.find(line)?.as_str();
            Some(Violation::new(path, index + 1, format!("says \"{hit}\"; write plainly: {instead}")))
        })
    });
    hits.collect()
}

fn types_in(source: &Source) -> Vec<Violation> {
    let mut names = TypeNames(Vec::new());
    if let Ok(syntax) = &source.syntax {
        names.visit_file(syntax);
    }
    let violation = |name: &Ident| {
        let text = name.to_string();
        let word = words_of(&text).find(|word| TYPE_WORDS.contains(word))?;
        let message = format!("the type {text} is named by \"{word}\"; use a noun that says what it holds");
        Some(Violation::new(&source.path, name.span().start().line, message).about(&text))
    };
    names.0.iter().filter_map(violation).collect()
}

/// The words of a name in camel case.
fn words_of(name: &str) -> impl Iterator<Item = &str> {
    let starts = name.char_indices().filter(|(_, letter)| letter.is_uppercase()).map(|(index, _)| index);
    let starts: Vec<usize> = starts.collect();
    let ends = starts.iter().skip(1).copied().chain([name.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).filter_map(|(start, end)| name.get(start..end))
}

/// The names of all types in a file.
struct TypeNames(Vec<Ident>);

impl<'ast> Visit<'ast> for TypeNames {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.0.push(item.ident.clone());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.0.push(item.ident.clone());
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.0.push(item.ident.clone());
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast ItemType) {
        self.0.push(item.ident.clone());
        visit::visit_item_type(self, item);
    }
}
