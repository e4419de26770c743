//! Parses `#[tool(...)]` and the doc comment of a struct.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitStr, Meta, Path, Result, Type, parse_quote};

use crate::name;

const KEYS: &str = "`read_only`, `name`, `label`, `description`, `effect`, `claim`, `precheck`, `arguments`, `state` and `crate`";

/// The values of `effect` and their variants of `Effect`.
const EFFECTS: [(&str, &str); 3] = [("pure", "Pure"), ("idempotent", "Idempotent"), ("unsafe", "Unsafe")];

/// The parsed attributes of a struct.
pub(crate) struct Attributes {
    pub(crate) name: Option<String>,
    /// An expression for the name shown to people.
    pub(crate) label: Option<Expr>,
    pub(crate) description: TokenStream,
    pub(crate) effect: syn::Ident,
    /// The function that claims what a call needs for itself.
    pub(crate) claim: Option<Expr>,
    /// The function that says whether a call can succeed at all.
    pub(crate) precheck: Option<Expr>,
    pub(crate) state_source: StateSource,
    /// The path of the `rheon` crate.
    pub(crate) crate_path: Path,
}

/// Where the shared state of all calls lives.
pub(crate) enum StateSource {
    /// There is none: the struct holds the arguments.
    None,
    /// In a value of this type: the struct holds the arguments.
    State(Type),
    /// In the struct, which is the tool itself and takes arguments of this type.
    Tool(Type),
}

#[derive(Default)]
struct RawAttributes {
    name: Option<LitStr>,
    label: Option<Expr>,
    description: Option<Expr>,
    effect: Option<LitStr>,
    read_only: Option<Span>,
    claim: Option<Expr>,
    precheck: Option<Expr>,
    arguments: Option<Type>,
    state: Option<Type>,
    crate_path: Option<LitStr>,
}

impl Attributes {
    /// Parses the attributes of the struct named at `span`.
    pub(crate) fn read(attributes: &[Attribute], span: Span) -> Result<Self> {
        let mut raw = RawAttributes::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tool")) {
            attribute.parse_nested_meta(|meta| raw.take(&meta))?;
        }
        let name = raw.name.map(|literal| match name::name_problem(&literal.value()) {
            Some(name_problem) => Err(Error::new(literal.span(), name_problem)),
            None => Ok(literal.value()),
        });
        let description = match raw.description {
            Some(description) => checked_description(description)?,
            None => doc_comment(attributes, span)?,
        };
        let crate_path = match raw.crate_path {
            Some(literal) => literal.parse_with(Path::parse_mod_style)?,
            None => parse_quote!(::rheon),
        };
        if let (Some(precheck), None) = (&raw.precheck, &raw.arguments) {
            return Err(Error::new(
                precheck.span(),
                "`precheck` needs a struct that is the tool itself: add `arguments`",
            ));
        }
        let state_source = match (raw.arguments, raw.state) {
            (None, None) => StateSource::None,
            (None, Some(state)) => StateSource::State(state),
            (Some(arguments), None) => StateSource::Tool(arguments),
            (Some(_), Some(state)) => {
                let problem =
                    "a struct with `arguments` is the tool itself: make the state a field and remove `state`";
                return Err(Error::new(state.span(), problem));
            }
        };
        Ok(Self {
            name: name.transpose()?,
            label: raw.label,
            description,
            effect: effect(raw.effect, raw.read_only)?,
            claim: raw.claim,
            precheck: raw.precheck,
            state_source,
            crate_path,
        })
    }
}

impl RawAttributes {
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match key.as_str() {
            "name" => once(&mut self.name, meta.value()?.parse()?, meta),
            "label" => once(&mut self.label, meta.value()?.parse()?, meta),
            "description" => once(&mut self.description, meta.value()?.parse()?, meta),
            "effect" => once(&mut self.effect, meta.value()?.parse()?, meta),
            "read_only" => once(&mut self.read_only, meta.path.span(), meta),
            "claim" => once(&mut self.claim, meta.value()?.parse()?, meta),
            "precheck" => once(&mut self.precheck, meta.value()?.parse()?, meta),
            "arguments" => once(&mut self.arguments, meta.value()?.parse()?, meta),
            "state" => once(&mut self.state, meta.value()?.parse()?, meta),
            "crate" => once(&mut self.crate_path, meta.value()?.parse()?, meta),
            _ => Err(meta.error(format!("unknown key of `tool`; the keys are {KEYS}"))),
        }
    }
}

fn once<T>(slot: &mut Option<T>, value: T, meta: &ParseNestedMeta<'_>) -> Result<()> {
    match slot.replace(value) {
        Some(_) => Err(meta.error("duplicate key; remove one of them")),
        None => Ok(()),
    }
}

fn effect(value: Option<LitStr>, read_only: Option<Span>) -> Result<syn::Ident> {
    let literal = match (value, read_only) {
        (None, None) => return Ok(syn::Ident::new("Unsafe", Span::call_site())),
        (None, Some(span)) => return Ok(syn::Ident::new("Pure", span)),
        (Some(literal), None) => literal,
        (Some(_), Some(span)) => {
            return Err(Error::new(span, "`read_only` is `effect = \"pure\"`; leave one of them out"));
        }
    };
    let word = literal.value();
    match EFFECTS.iter().find(|(known, _)| *known == word) {
        Some((_, variant)) => Ok(syn::Ident::new(variant, literal.span())),
        None => {
            let problem = format!("unknown effect {word:?}; use \"pure\", \"idempotent\" or \"unsafe\"");
            Err(Error::new(literal.span(), problem))
        }
    }
}

fn checked_description(description: Expr) -> Result<TokenStream> {
    match text_of(&description) {
        Some(text) if text.trim().is_empty() => Err(missing(description.span())),
        Some(_) | None => Ok(description.into_token_stream()),
    }
}

/// The doc comment: lines of text, or one expression such as `include_str!`.
fn doc_comment(attributes: &[Attribute], span: Span) -> Result<TokenStream> {
    let mut lines = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        // `#[doc(hidden)]` and the like say nothing.
        let Meta::NameValue(doc) = &attribute.meta else { continue };
        match text_of(&doc.value) {
            Some(text) => {
                lines.extend(text.split('\n').map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned()));
            }
            None if lines.is_empty() => return Ok(doc.value.to_token_stream()),
            None => {
                let problem =
                    "a doc comment cannot mix text and an expression; use `#[tool(description = ...)]`";
                return Err(Error::new(doc.value.span(), problem));
            }
        }
    }
    let text = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    match text.trim() {
        "" => Err(missing(span)),
        text => Ok(quote!(#text)),
    }
}

fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Str(literal), .. }) => Some(literal.value()),
        _ => None,
    }
}

fn missing(span: Span) -> Error {
    let problem = "a tool needs a description for the model: write a doc comment on the struct, or \
                   `#[tool(description = \"...\")]`";
    Error::new(span, problem)
}
