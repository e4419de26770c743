//! No document names a path that does not exist.

use globset::GlobBuilder;
use pulldown_cmark::{Event, Options, Parser, Tag};

use crate::position::line_at;
use crate::repository::Repository;
use crate::violation::Violation;

/// The documents at the root that are read; so is every document in `docs/`.
const ROOT_DOCUMENTS: [&str; 3] = ["README.md", "AGENTS.md", "CHANGELOG.md"];

/// Directories at the root whose paths are recognised even while they do not exist.
const ROOT_DIRS: [&str; 7] = ["crates", "docs", "xtask", ".ci", ".cargo", "benches", "web"];

/// What stands for something else in a path that is only an example.
const PLACEHOLDERS: [&str; 4] = ["<", "…", "...", "$"];

/// The paths in documents that lead nowhere.
pub fn check(repository: &Repository) -> Vec<Violation> {
    let judge = |(document, text)| {
        let dead = |(named, line): (Named, usize)| violation(repository, document, &named, line);
        names_in(text).into_iter().filter_map(dead).collect::<Vec<_>>()
    };
    documents(repository).flat_map(judge).collect()
}

/// The documents that are read, each with its text.
pub(super) fn documents(repository: &Repository) -> impl Iterator<Item = (&str, &str)> {
    let is_document = |path: &&str| {
        let in_docs = path.strip_prefix("docs/").is_some_and(|name| {
            let name = name.strip_prefix("decisions/").unwrap_or(name);
            !name.contains('/') && name.ends_with(".md")
        });
        in_docs || ROOT_DOCUMENTS.contains(path)
    };
    let with_text = |path| (path, repository.text(path).unwrap_or_default());
    repository.files().filter(is_document).map(with_text)
}

/// The words in backticks of a document, each with its line.
pub(super) fn words_in_code(text: &str) -> impl Iterator<Item = (String, usize)> {
    names_in(text).into_iter().filter_map(|(named, line)| match named {
        Named::InCode(word) => Some((word, line)),
        Named::AsLink(_) => None,
    })
}

/// How a document names a path.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    /// As a word in backticks, which may be no path at all.
    InCode(String),
    /// As the target of a link or an image.
    AsLink(String),
}

/// What may be a path in the text outside fenced blocks, each with its line.
fn names_in(text: &str) -> Vec<(Named, usize)> {
    let mut names = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let found: Vec<Named> = match event {
            Event::Code(code) => code.split_whitespace().map(|word| Named::InCode(word.to_owned())).collect(),
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                vec![Named::AsLink(dest_url.to_string())]
            }
            Event::Html(html) | Event::InlineHtml(html) => html_targets(&html).map(Named::AsLink).collect(),
            _ => Vec::new(),
        };
        names.extend(found.into_iter().map(|name| (name, line_at(text, range.start))));
    }
    names
}

/// The values of `src` and `href` in a piece of HTML.
fn html_targets(html: &str) -> impl Iterator<Item = String> {
    let after = |attribute| html.split(attribute).skip(1);
    let values = after("src=\"").chain(after("href=\""));
    values.filter_map(|rest| rest.split('"').next()).map(str::to_owned)
}

fn violation(repository: &Repository, document: &str, named: &Named, line: usize) -> Option<Violation> {
    let (written, candidates) = match named {
        Named::InCode(word) => (word, code_candidates(repository, document, word)?),
        Named::AsLink(target) => (target, link_candidates(document, target)?),
    };
    if PLACEHOLDERS.iter().any(|mark| written.contains(mark)) {
        return None;
    }
    let exists = candidates.iter().any(|path| leads_somewhere(repository, path));
    let fault = if is_glob(written) { "matches nothing" } else { "does not exist" };
    let message = format!("names {written}, which {fault}; correct the path or remove it");
    (!exists).then(|| Violation::new(document, line, message).about(written))
}

/// The paths that a word in backticks may mean; none if it does not look like a path.
fn code_candidates(repository: &Repository, document: &str, word: &str) -> Option<Vec<String>> {
    let path = bare(word);
    if path.starts_with("./") {
        // In a command it is meant from the root, in a sentence often from the document.
        return Some(vec![normal("", path), normal(dir_of(document), path)]);
    }
    let (top, _) = path.split_once('/')?;
    let is_known = ROOT_DIRS.contains(&top) || repository.dirs().any(|dir| dir == top);
    is_known.then(|| vec![normal("", path)])
}

/// The path that a link means; none if it leads to another site or stays on the page.
fn link_candidates(document: &str, target: &str) -> Option<Vec<String>> {
    let path = bare(target);
    let is_foreign = target.contains("://") || target.starts_with("mailto:") || path.is_empty();
    let from_root = path.strip_prefix('/').map(|path| normal("", path));
    (!is_foreign).then(|| vec![from_root.unwrap_or_else(|| normal(dir_of(document), path))])
}

/// The path without punctuation, `#anchor` and `:line` at its end.
fn bare(written: &str) -> &str {
    let path = written.split('#').next().unwrap_or_default();
    let path = path.trim_end_matches([',', ';']);
    match path.split_once(':') {
        Some((path, place)) if place.starts_with(|mark: char| mark.is_ascii_digit()) => path,
        _ => path,
    }
}

/// `path` as seen from `dir`, without `.`, `..` and a slash at the end.
fn normal(dir: &str, path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in dir.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." if names.last().is_none_or(|last| *last == "..") => names.push(".."),
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

fn dir_of(document: &str) -> &str {
    document.rsplit_once('/').map_or("", |(dir, _)| dir)
}

fn leads_somewhere(repository: &Repository, path: &str) -> bool {
    if !is_glob(path) {
        return path.is_empty() || repository.contains(path);
    }
    let glob = GlobBuilder::new(path).literal_separator(true).build().map(|glob| glob.compile_matcher());
    glob.is_ok_and(|glob| repository.files().chain(repository.dirs()).any(|path| glob.is_match(path)))
}

fn is_glob(path: &str) -> bool {
    path.contains(['*', '{', '?'])
}
