//! What `#[tool(...)]` and the doc comment say.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned;
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitStr, Meta, Path, Result, Type, parse_quote};

use crate::name;

/// The keys that `#[tool(...)]` takes.
const KEYS: &str = "`name`, `description`, `effect`, `state` and `crate`";

/// The words that `effect` takes, and the variants they stand for.
const EFFECTS: [(&str, &str); 3] = [("pure", "Pure"), ("idempotent", "Idempotent"), ("unsafe", "Unsafe")];

/// What the attributes of a struct say.
pub(crate) struct Attributes {
    pub(crate) name: Option<String>,
    /// An expression for the text.
    pub(crate) description: TokenStream,
    /// The variant of `Effect`.
    pub(crate) effect: syn::Ident,
    pub(crate) state: Option<Type>,
    /// Where `rheon` is found.
    pub(crate) home: Path,
}

#[derive(Default)]
struct Given {
    name: Option<LitStr>,
    description: Option<Expr>,
    effect: Option<LitStr>,
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
        Ok(Self {
            name: name.transpose()?,
            description,
            effect: effect(given.effect)?,
            state: given.state,
            home,
        })
    }
}

impl Given {
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        match key.as_str() {
            "name" => once(&mut self.name, meta.value()?.parse()?, meta),
            "description" => once(&mut self.description, meta.value()?.parse()?, meta),
            "effect" => once(&mut self.effect, meta.value()?.parse()?, meta),
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

fn effect(given: Option<LitStr>) -> Result<syn::Ident> {
    let Some(literal) = given else { return Ok(syn::Ident::new("Unsafe", Span::call_site())) };
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
