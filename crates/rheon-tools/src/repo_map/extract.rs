//! Extracts the tags of one file, in bounded time for any input.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::time::Duration;

use rheon_policy::shell::mask_non_ascii;
use rheon_text::visible;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tree_sitter::{
    Node, ParseOptions, Parser, Query, QueryCursor, QueryCursorOptions, QueryMatch, StreamingIterator as _,
    Tree,
};

use super::language::{Charset, Language};
use super::limits::RepoMapLimits;
use super::tags::{
    DEFINITIONS_MAX, Definition, DefinitionKind, FileTags, NAME_BYTES_MAX, NAME_CHARACTERS_MIN,
    REFERENCES_MAX, Reference, SIGNATURE_CHARACTERS_MAX,
};

/// A file up to this size counts as written by a person, however long its lines are.
const SMALL_BYTES_MAX: usize = 64 * 1024;

/// The longest average line, in bytes, of a file written by a person.
const LINE_BYTES_MAX: usize = 300;

/// The most query matches in progress at once.
const MATCHES_MAX: u32 = 1_024;

/// The longest run of tokens that the parser could not make sense of.
const ERROR_RUN_MAX: usize = 200;

const SIGNATURE_BYTES_MAX: usize = 1_024;

/// The outcome for one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Extraction {
    Tags(FileTags),
    /// Not text written by a person.
    NotSource,
    /// The parser took too many steps or too much time.
    TooComplex,
    Cancelled,
}

/// Extracts tags. Holds what can be reused from file to file.
pub(super) struct Extractor<'a> {
    parser: Parser,
    cursor: QueryCursor,
    limits: RepoMapLimits,
    cancel: &'a CancellationToken,
}

impl<'a> Extractor<'a> {
    /// Gives up on a file after the steps and time in `limits`.
    pub(super) fn new(limits: RepoMapLimits, cancel: &'a CancellationToken) -> Self {
        let mut cursor = QueryCursor::new();
        cursor.set_match_limit(MATCHES_MAX);
        Self { parser: Parser::new(), cursor, limits, cancel }
    }

    pub(super) fn extract(&mut self, language: &Language, content: &[u8]) -> Extraction {
        if !is_source(content) {
            return Extraction::NotSource;
        }
        let Some(query) = language.query() else { return Extraction::TooComplex };
        if self.parser.set_language(&(language.grammar)()).is_err() {
            return Extraction::TooComplex;
        }
        let mut budget = Budget {
            left: self.limits.parse_steps_max,
            started: Instant::now(),
            time_max: self.limits.parse_time_max,
            cancel: self.cancel,
        };
        let source = match language.charset {
            Charset::Any => Cow::Borrowed(content),
            Charset::Ascii => Cow::Owned(mask_non_ascii(content)),
        };
        let tree = parse(&mut self.parser, &source, &mut budget).filter(|tree| !has_long_error_run(tree));
        let found = tree.and_then(|tree| find(&mut self.cursor, query, &tree, content, &mut budget));
        match found {
            Some(found) => Extraction::Tags(found.into_tags(content)),
            None if self.cancel.is_cancelled() => Extraction::Cancelled,
            None => Extraction::TooComplex,
        }
    }
}

/// Whether a file is text and not generated.
fn is_source(content: &[u8]) -> bool {
    if memchr::memchr(0, content).is_some() {
        return false;
    }
    let lines = memchr::memchr_iter(b'\n', content).count() + 1;
    content.len() <= SMALL_BYTES_MAX || content.len() / lines <= LINE_BYTES_MAX
}

/// The steps and time left for one file.
struct Budget<'a> {
    left: usize,
    started: Instant,
    time_max: Duration,
    cancel: &'a CancellationToken,
}

impl Budget<'_> {
    fn step(&mut self) -> ControlFlow<()> {
        match self.left.checked_sub(1) {
            Some(left) if !self.cancel.is_cancelled() && self.started.elapsed() < self.time_max => {
                self.left = left;
                ControlFlow::Continue(())
            }
            Some(_) | None => ControlFlow::Break(()),
        }
    }
}

fn parse(parser: &mut Parser, content: &[u8], budget: &mut Budget<'_>) -> Option<Tree> {
    let mut progress = |_: &_| budget.step();
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree =
        parser.parse_with_options(&mut |at, _| content.get(at..).unwrap_or_default(), None, Some(options));
    if tree.is_none() {
        // Otherwise the parser would continue with the next file as the rest of this one.
        parser.reset();
    }
    tree
}

/// Whether there is such a long run of unparsed tokens that a query would take forever: at each of them it looks for
/// the next named node, and those steps are not counted.
fn has_long_error_run(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    let mut run = 0;
    loop {
        let node = cursor.node();
        run = if node.is_named() { 0 } else { run + 1 };
        if run > ERROR_RUN_MAX {
            return true;
        }
        // Without errors, the grammar keeps runs short.
        if node.has_error() && cursor.goto_first_child() {
            run = 0;
            continue;
        }
        while !cursor.goto_next_sibling() {
            run = 0;
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// A definition as matched: its range, the end of its head, and the range of its name.
struct RawDefinition {
    kind: DefinitionKind,
    whole: Range<usize>,
    head_end: Option<usize>,
    name: Range<usize>,
    row: usize,
}

/// The matches of a query.
#[derive(Default)]
struct RawTags {
    /// By the position of the name: several patterns may match one definition, and the widest wins.
    definitions: BTreeMap<usize, RawDefinition>,
    references: BTreeMap<usize, usize>,
}

fn find(
    cursor: &mut QueryCursor,
    query: &Query,
    tree: &Tree,
    content: &[u8],
    budget: &mut Budget<'_>,
) -> Option<RawTags> {
    let mut is_stopped = false;
    let mut progress = |_: &_| {
        let step = budget.step();
        is_stopped = step.is_break();
        step
    };
    let options = QueryCursorOptions::new().progress_callback(&mut progress);
    let mut tags = RawTags::default();
    let mut matches = cursor.matches_with_options(query, tree.root_node(), content, options);
    while let Some(found) = matches.next() {
        tags.add(query, found);
    }
    drop(matches);
    (!is_stopped).then_some(tags)
}

impl RawTags {
    fn add(&mut self, query: &Query, found: &QueryMatch<'_, '_>) {
        let mut name = None;
        let mut definition = None;
        for capture in found.captures() {
            let label = query.capture_names().get(capture.index as usize).copied().unwrap_or_default();
            match label {
                "name" => name = Some(capture.node),
                "reference" => {
                    self.references.insert(capture.node.start_byte(), capture.node.end_byte());
                }
                _ => definition = kind_of(label).map(|kind| (kind, capture.node)),
            }
        }
        if let (Some(name), Some((kind, node))) = (name, definition) {
            self.define(kind, node, name);
        }
    }

    fn define(&mut self, kind: DefinitionKind, node: Node<'_>, name: Node<'_>) {
        let whole = node.byte_range();
        let known = self.definitions.get(&name.start_byte());
        if known.is_some_and(|known| known.whole.len() >= whole.len()) {
            return;
        }
        let head_end = node.child_by_field_name("body").map(|body| body.start_byte());
        let row = name.start_position().row;
        let found = RawDefinition { kind, whole, head_end, name: name.byte_range(), row };
        self.definitions.insert(name.start_byte(), found);
    }

    fn into_tags(self, content: &[u8]) -> FileTags {
        let mut counts: BTreeMap<Box<str>, u32> = BTreeMap::new();
        for (start, end) in self.references {
            let defines = self
                .definitions
                .get(&start)
                .is_some_and(|definition| definition.kind != DefinitionKind::Scope);
            if let Some(name) = name_at(content, start..end)
                && !defines
                && name.chars().count() >= NAME_CHARACTERS_MIN
                && (counts.len() < REFERENCES_MAX || counts.contains_key(&name))
            {
                *counts.entry(name).or_default() += 1;
            }
        }
        let mut found: Vec<RawDefinition> = self.definitions.into_values().collect();
        found.sort_by_key(|definition| {
            (definition.whole.start, std::cmp::Reverse(definition.whole.end), definition.name.start)
        });
        let references = counts.into_iter().map(|(name, count)| Reference { name, count }).collect();
        FileTags { definitions: nested(&found, content), references }
    }
}

/// The definitions in file order, each with the one that encloses it.
fn nested(found: &[RawDefinition], content: &[u8]) -> Vec<Definition> {
    let mut definitions: Vec<Definition> = Vec::new();
    let mut open: Vec<(u32, usize)> = Vec::new();
    for definition in found {
        if definitions.len() == DEFINITIONS_MAX {
            break;
        }
        let Some(name) = name_at(content, definition.name.clone()) else { continue };
        while open.pop_if(|(_, end)| *end < definition.whole.end || *end <= definition.whole.start).is_some()
        {
        }
        let parent = open.last().map(|(at, _)| *at);
        open.push((u32::try_from(definitions.len()).unwrap_or(u32::MAX), definition.whole.end));
        let line = u32::try_from(definition.row + 1).unwrap_or(u32::MAX);
        definitions.push(Definition {
            name,
            kind: definition.kind,
            line,
            signature: signature(content, definition),
            parent,
        });
    }
    definitions
}

fn kind_of(label: &str) -> Option<DefinitionKind> {
    match label {
        "definition.function" => Some(DefinitionKind::Function),
        "definition.type" => Some(DefinitionKind::Type),
        "definition.module" => Some(DefinitionKind::Module),
        "definition.constant" => Some(DefinitionKind::Constant),
        "definition.scope" => Some(DefinitionKind::Scope),
        _ => None,
    }
}

/// A name. `None` if it is empty or too long to be written by a person.
fn name_at(content: &[u8], range: Range<usize>) -> Option<Box<str>> {
    let bytes = content.get(range)?;
    if bytes.is_empty() || bytes.len() > NAME_BYTES_MAX {
        return None;
    }
    Some(visible(&String::from_utf8_lossy(bytes)).into())
}

/// The signature on one line: from the line of the name to the body, or just that line if there is no body.
fn signature(content: &[u8], found: &RawDefinition) -> Box<str> {
    let before = content.get(..found.name.start).unwrap_or_default();
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    // Text before the definition on its line belongs to it (`export`, `type`), unless it is other code.
    let lead = content.get(line_start..found.whole.start).unwrap_or_default();
    let is_apart = memchr::memchr3(b'{', b';', b'(', lead).is_some();
    let start = if is_apart { found.whole.start } else { line_start };
    // Only the part of a long line near the name matters.
    let start = start.max(found.name.start.saturating_sub(SIGNATURE_BYTES_MAX));
    let after = content.get(found.name.end..).unwrap_or_default();
    let line_end = memchr::memchr(b'\n', after).map_or(content.len(), |at| found.name.end + at);
    let line_end = if is_apart { line_end.min(found.whole.end) } else { line_end };
    let end = found.head_end.filter(|end| *end > found.name.end).unwrap_or(line_end);
    let end = end.min(found.name.end + SIGNATURE_BYTES_MAX);
    let text = String::from_utf8_lossy(content.get(start..end).unwrap_or_default()).into_owned();
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.replace("( ", "(").replace(", )", ")");
    let line = line.trim_end_matches([' ', '{', ':']);
    let mut signature: String = line.chars().take(SIGNATURE_CHARACTERS_MAX).collect();
    if signature.len() < line.len() {
        signature.push('…');
    }
    visible(&signature).into()
}
