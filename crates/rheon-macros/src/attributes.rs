//! What `#[tool(...)]` and the doc comment say.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitStr, Meta, Path, Result, Type, parse_quote};

use crate::name;

/// The keys that `#[tool(...)]` takes.
const KEYS: &str =
    "`read_only`, `name`, `label`, `description`, `effect`, `claim`, `arguments`, `state` and `crate`";

/// The words that `effect` takes, and the variants they stand for.
const EFFECTS: [(&str, &str); 3] = [("pure", "Pure"), ("idempotent", "Idempotent"), ("unsafe", "Unsafe")];

/// What the attributes of a struct say.
pub(crate) struct Attributes {
    pub(crate) name: Option<String>,
    /// An expression for the name that people read.
    pub(crate) label: Option<Expr>,
    /// An expression for the text.
    pub(crate) description: TokenStream,
    /// The variant of `Effect`.
    pub(crate) effect: syn::Ident,
    /// The function that takes what a call must have to itself.
    pub(crate) claim: Option<Expr>,
    pub(crate) holder: Holder,
    /// Where `rheon` is found.
    pub(crate) home: Path,
}

/// Who holds what all calls share.
pub(crate) enum Holder {
    /// Nobody: the struct is the arguments, and there is nothing to share.
    Nobody,
    /// A value of this type; the struct is the arguments.
    State(Type),
    /// The struct, which is the tool itself and takes arguments of this type.
    Tool(Type),
}

#[derive(Default)]
struct Given {
    name: Option<LitStr>,
    label: Option<Expr>,
    description: Option<Expr>,
    effect: Option<LitStr>,
    read_only: Option<Span>,
    claim: Option<Expr>,
    arguments: Option<Type>,
    state: Option<Type>,
    home: Option<LitStr>,
}

impl Attributes {
    /// Reads the attributes of the struct called at `span`.
    pub(crate) fn read(attributes: &[Attribute], span: Span) -> Result<Self> {
        let mut given = Given::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("tool")) {
            attribute.parse_nested_meta(|meta| given.take(&meta))?;
        }
        let name = given.name.map(|literal| match name::fault(&literal.value()) {
            Some(fault) => Err(Error::new(literal.span(), fault)),
            None => Ok(literal.value()),
        });
        let description = match given.description {
            Some(description) => described(description)?,
            None => doc_comment(attributes, span)?,
        };
        let home = match given.home {
            Some(literal) => literal.parse_with(Path::parse_mod_style)?,
            None => parse_quote!(::rheon),
        };
        let holder = match (given.arguments, given.state) {
            (None, None) => Holder::Nobody,
            (None, Some(state)) => Holder::State(state),
            (Some(arguments), None) => Holder::Tool(arguments),
            (Some(_), Some(state)) => {
                let problem = "a struct that names its `arguments` is the tool: give it the state as a field, and leave `state` out";
                return Err(Error::new(state.span(), problem));
            }
        };
        Ok(Self {
            name: name.transpose()?,
            label: given.label,
            description,
            effect: effect(given.effect, given.read_only)?,
            claim: given.claim,
            holder,
            home,
        })
    }
}

impl Given {
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match key.as_str() {
            "name" => once(&mut self.name, meta.value()?.parse()?, meta),
            "label" => once(&mut self.label, meta.value()?.parse()?, meta),
            "description" => once(&mut self.description, meta.value()?.parse()?, meta),
            "effect" => once(&mut self.effect, meta.value()?.parse()?, meta),
            "read_only" => once(&mut self.read_only, meta.path.span(), meta),
            "claim" => once(&mut self.claim, meta.value()?.parse()?, meta),
            "arguments" => once(&mut self.arguments, meta.value()?.parse()?, meta),
            "state" => once(&mut self.state, meta.value()?.parse()?, meta),
            "crate" => once(&mut self.home, meta.value()?.parse()?, meta),
            _ => Err(meta.error(format!("this is no key of `tool`; it takes {KEYS}"))),
        }
    }
}

fn once<T>(place: &mut Option<T>, value: T, meta: &ParseNestedMeta<'_>) -> Result<()> {
    match place.replace(value) {
        Some(_) => Err(meta.error("this is given twice; leave one out")),
        None => Ok(()),
    }
}

fn effect(given: Option<LitStr>, read_only: Option<Span>) -> Result<syn::Ident> {
    let literal = match (given, read_only) {
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
            let problem = format!("{word:?} is no effect; it is \"pure\", \"idempotent\" or \"unsafe\"");
            Err(Error::new(literal.span(), problem))
        }
    }
}

fn described(description: Expr) -> Result<TokenStream> {
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
                let problem = "text and an expression cannot be joined; give `#[tool(description = ...)]`";
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
    let problem = "the model has to know what the tool does: write a doc comment on the struct, or \
                   `#[tool(description = \"...\")]`";
    Error::new(span, problem)
}
