//! Paths inside tokens that have no syntax tree: the arguments of macros and attributes.

use proc_macro2::{Ident, Spacing, Span, TokenStream, TokenTree};
use syn::LitStr;
use syn::ext::IdentExt;

/// Every path in the tokens, at any depth: `crate::a::b`, also a lone identifier unless it follows a dot.
pub(crate) fn paths(tokens: TokenStream) -> Vec<(String, Span)> {
    let mut scanner = Scanner::default();
    scanner.scan(tokens);
    scanner.found
}

/// Every string literal in the tokens that is a path into this crate, such as `with = "crate::hex"`.
pub(crate) fn quoted_paths(tokens: TokenStream) -> Vec<(String, Span)> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => found.extend(quoted_paths(group.stream())),
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<LitStr>(&literal.to_string()).map(|text| text.value());
                let inward = |text: &String| {
                    ["crate::", "super::", "self::"].iter().any(|start| text.starts_with(start))
                };
                found.extend(text.ok().filter(inward).map(|text| (text, literal.span())));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
    found
}

#[derive(Default)]
struct Scanner {
    found: Vec<(String, Span)>,
    open: Option<(String, Span)>,
    before: Before,
}

/// What stands before the next token.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Before {
    #[default]
    Other,
    Identifier,
    OneColon,
    TwoColons,
    Dot,
}

impl Scanner {
    fn scan(&mut self, tokens: TokenStream) {
        for token in tokens {
            self.before = match token {
                TokenTree::Ident(ident) => self.identifier(&ident),
                TokenTree::Punct(punct) => self.punctuation(punct.as_char(), punct.spacing()),
                TokenTree::Group(group) => {
                    self.close();
                    self.before = Before::Other;
                    self.scan(group.stream());
                    Before::Other
                }
                TokenTree::Literal(_) => self.close(),
            };
        }
        self.close();
    }

    fn identifier(&mut self, ident: &Ident) -> Before {
        let name = ident.unraw().to_string();
        match (self.before, &mut self.open) {
            (Before::TwoColons, Some((path, _))) => *path = format!("{path}::{name}"),
            (Before::Dot, _) => return self.close(),
            _ => {
                self.close();
                self.open = Some((name, ident.span()));
            }
        }
        Before::Identifier
    }

    fn punctuation(&mut self, mark: char, spacing: Spacing) -> Before {
        match (mark, self.before) {
            (':', Before::OneColon) => Before::TwoColons,
            (':', Before::Identifier) if spacing == Spacing::Joint => Before::OneColon,
            ('.', _) => {
                self.close();
                Before::Dot
            }
            _ => self.close(),
        }
    }

    fn close(&mut self) -> Before {
        self.found.extend(self.open.take());
        Before::Other
    }
}
