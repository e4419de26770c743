//! A file, a function, a parameter list or a struct that does not fit in a head lacks a concept.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, FnArg, ImplItemFn, ItemFn, ItemStruct, Signature, TraitItemFn};

use crate::repository::{Repository, Source};
use crate::violation::Violation;

/// How much of something is too much.
struct Limit {
    max: usize,
    unit: &'static str,
    advice: &'static str,
}

const FILE_LINES: Limit = Limit { max: 600, unit: "code lines", advice: "give each noun in it a file" };
const FUNCTION_LINES: Limit = Limit { max: 70, unit: "lines", advice: "name a part of it and move it out" };
const PARAMETERS: Limit =
    Limit { max: 6, unit: "parameters", advice: "gather those that belong together in a struct" };
const FIELDS: Limit =
    Limit { max: 12, unit: "fields", advice: "group those that change together in a struct of their own" };

/// The files, functions, parameter lists and structs that are too large.
pub fn check(repository: &Repository) -> Vec<Violation> {
    repository.sources().flat_map(violations_in).collect()
}

fn violations_in(source: &Source) -> Vec<Violation> {
    let Ok(syntax) = &source.syntax else { return Vec::new() };
    let file = FILE_LINES.exceeded_by(code_lines(&source.text));
    let violations = file.map(|excess| Violation::new(&source.path, 1, excess)).into_iter().collect();
    let mut measure = Measure { path: &source.path, violations };
    measure.visit_file(syntax);
    measure.violations
}

impl Limit {
    /// What to say if `count` is too much.
    fn exceeded_by(&self, count: usize) -> Option<String> {
        let Self { max, unit, advice } = self;
        (count > *max).then(|| format!("has {count} {unit}, at most {max} are allowed; {advice}"))
    }
}

/// The number of lines that hold more than blanks and comments.
pub(super) fn code_lines(text: &str) -> usize {
    let mut lines = BTreeSet::new();
    if let Ok(tokens) = text.parse::<TokenStream>() {
        mark_lines(tokens, &mut lines);
    }
    // A string can run over blank lines, which are no code.
    text.lines()
        .enumerate()
        .filter(|(index, line)| lines.contains(&(index + 1)) && !line.trim().is_empty())
        .count()
}

fn mark_lines(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let span = token.span();
        let (start, end) = (span.start(), span.end());
        match token {
            // A doc comment arrives as `#[doc = ".."]`, each token of which spans the whole comment.
            TokenTree::Punct(mark)
                if mark.as_char() == '#' && (start.line, start.column + 1) != (end.line, end.column) =>
            {
                while tokens.next_if(|next| next.span().start() == start).is_some() {}
            }
            TokenTree::Group(group) => {
                lines.extend([start.line, end.line]);
                mark_lines(group.stream(), lines);
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {
                lines.extend(start.line..=end.line)
            }
        }
    }
}

struct Measure<'a> {
    path: &'a str,
    violations: Vec<Violation>,
}

impl Measure<'_> {
    fn function(&mut self, signature: &Signature, body: Option<&Block>) {
        let start = signature.fn_token.span.start().line;
        let lines = body.map_or(0, |body| body.brace_token.span.close().end().line - start + 1);
        let parameters = signature.inputs.iter().filter(|input| matches!(input, FnArg::Typed(_))).count();
        self.item(&signature.ident, start, FUNCTION_LINES.exceeded_by(lines));
        self.item(&signature.ident, start, PARAMETERS.exceeded_by(parameters));
    }

    fn item(&mut self, name: &Ident, line: usize, excess: Option<String>) {
        let violation = excess.map(|excess| Violation::new(self.path, line, format!("{name} {excess}")));
        self.violations.extend(violation.map(|violation| violation.about(name.to_string())));
    }
}

impl<'ast> Visit<'ast> for Measure<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.sig, Some(&item.block));
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.sig, Some(&item.block));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        self.function(&item.sig, item.default.as_ref());
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        let line = item.struct_token.span.start().line;
        self.item(&item.ident, line, FIELDS.exceeded_by(item.fields.len()));
        visit::visit_item_struct(self, item);
    }
}
