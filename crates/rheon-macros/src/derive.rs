//! The code that `#[derive(Tool)]` writes.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result, parse_quote};

use crate::attributes::Attributes;
use crate::name;

/// What is written for a struct, or what is wrong with it.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    check_shape(&input)?;
    let attributes = Attributes::read(&input.attrs, input.ident.span())?;
    let name = name_of(&input, &attributes)?;
    let Attributes { description, effect, state, home, .. } = attributes;
    let (arguments, visibility, span) = (&input.ident, &input.vis, input.ident.span());
    let private = quote!(#home::__private);
    let state_type = state.clone().unwrap_or_else(|| parse_quote!(()));
    // An error in `run`, or that there is none, is shown at the struct's name.
    let run = match &state {
        Some(_) => quote_spanned!(span=> #arguments::run(self, state, context)),
        None => quote_spanned!(span=> #arguments::run(self, context)),
    };
    let output = quote_spanned!(span=> #private::IntoToolOutput::into_output(#run.await));
    let constructor = match &state {
        Some(state) => quote! {
            /// The tool that takes these arguments; all its calls share `state`.
            #visibility fn tool_with(state: #state) -> #private::DerivedTool<Self> {
                #private::DerivedTool::new(state)
            }
        },
        None => quote! {
            /// The tool that takes these arguments.
            #visibility fn tool() -> #private::DerivedTool<Self> {
                #private::DerivedTool::new(())
            }
        },
    };
    Ok(quote! {
        #[automatically_derived]
        impl #private::ToolArguments for #arguments {
            type State = #state_type;
            const NAME: &'static str = #name;
            const DESCRIPTION: &'static str = #description;
            const EFFECT: #private::Effect = #private::Effect::#effect;

            #[allow(unused_variables, clippy::unused_async)]
            fn run_with<'a>(
                self,
                state: &'a Self::State,
                context: #private::ToolContext,
            ) -> #private::BoxFuture<'a, ::core::result::Result<#private::ToolResult, #private::ToolError>> {
                #private::Box::pin(async move { #output })
            }
        }

        #[automatically_derived]
        impl #arguments {
            #constructor
        }
    })
}

/// Arguments are an object, so only a struct with named fields will do.
fn check_shape(input: &DeriveInput) -> Result<()> {
    if !input.generics.params.is_empty() {
        let problem = "a tool has no generic parameters: the model can only call one that is fixed";
        return Err(Error::new(input.generics.span(), problem));
    }
    let problem = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => return Ok(()),
            Fields::Unnamed(_) | Fields::Unit => {
                "the arguments of a tool have names: write `struct Name { field: Type }`, or `struct Name {}` for none"
            }
        },
        Data::Enum(_) | Data::Union(_) => {
            "only a struct can be the arguments of a tool; make this the type of one of its fields"
        }
    };
    Err(Error::new(input.ident.span(), problem))
}

fn name_of(input: &DeriveInput, attributes: &Attributes) -> Result<String> {
    if let Some(name) = &attributes.name {
        return Ok(name.clone());
    }
    let name = name::snake_case(&input.ident.unraw().to_string());
    match name::fault(&name) {
        Some(fault) => {
            let problem = format!("{fault}; give one with `#[tool(name = \"...\")]`");
            Err(Error::new(input.ident.span(), problem))
        }
        None => Ok(name),
    }
}
