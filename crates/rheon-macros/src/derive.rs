//! The code that `#[derive(Tool)]` writes.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result, Type, parse_quote};

use crate::attributes::{Attributes, Holder};
use crate::name;

/// What is written for a struct, or what is wrong with it.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let attributes = Attributes::read(&input.attrs, input.ident.span())?;
    let name = name_of(&input, &attributes)?;
    match &attributes.holder {
        Holder::Nobody => arguments(&input, &attributes, &name, None),
        Holder::State(state) => arguments(&input, &attributes, &name, Some(state)),
        Holder::Tool(arguments) => tool(&input, &attributes, &name, arguments),
    }
}

/// For a struct that is the arguments: the trait that `DerivedTool` makes a tool of, and how to make that.
fn arguments(
    input: &DeriveInput,
    attributes: &Attributes,
    name: &str,
    state: Option<&Type>,
) -> Result<TokenStream> {
    check_shape(input)?;
    let Attributes { label, description, effect, home, .. } = attributes;
    let (arguments, visibility, span) = (&input.ident, &input.vis, input.ident.span());
    let private = quote!(#home::__private);
    let state_type = state.cloned().unwrap_or_else(|| parse_quote!(()));
    // An error in `run`, or that there is none, is shown at the struct's name.
    let run = match state {
        Some(_) => quote_spanned!(span=> #arguments::run(self, state, context)),
        None => quote_spanned!(span=> #arguments::run(self, context)),
    };
    let output = quote_spanned!(span=> #private::IntoToolOutput::into_output(#run.await));
    let constructor = match state {
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
    let label = label.as_ref().map(|label| quote!(const LABEL: &'static str = #label;));
    let claim = claim_of(attributes, &quote!(state: &Self::State), &quote!(state));
    Ok(quote! {
        #[automatically_derived]
        impl #private::ToolArguments for #arguments {
            type State = #state_type;
            const NAME: &'static str = #name;
            #label
            const DESCRIPTION: &'static str = #description;
            const EFFECT: #private::Effect = #private::Effect::#effect;

            #claim

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

/// For a struct that is the tool itself: the trait `Tool`, and the name for whoever looks for its calls.
fn tool(input: &DeriveInput, attributes: &Attributes, name: &str, arguments: &Type) -> Result<TokenStream> {
    if !matches!(input.data, Data::Struct(_)) {
        return Err(Error::new(input.ident.span(), "only a struct can be a tool"));
    }
    let Attributes { label, description, effect, home, .. } = attributes;
    let (tool, visibility, span) = (&input.ident, &input.vis, input.ident.span());
    let (parameters, of_type, bounds) = input.generics.split_for_impl();
    let private = quote!(#home::__private);
    let run = quote_spanned!(span=> Self::run(self, arguments, context));
    let output = quote_spanned!(span=> #private::IntoToolOutput::into_output(#run.await));
    let label = label.as_ref().map(|label| {
        quote! {
            fn label(&self) -> &str {
                #label
            }
        }
    });
    let claim = claim_of(attributes, &quote!(&self), &quote!(self));
    Ok(quote! {
        #[automatically_derived]
        impl #parameters #private::Tool for #tool #of_type #bounds {
            fn name(&self) -> &str {
                Self::NAME
            }

            #label

            fn description(&self) -> &str {
                #description
            }

            fn parameters_schema(&self) -> #private::Value {
                #private::arguments_schema::<#arguments>()
            }

            fn effect(&self) -> #private::Effect {
                #private::Effect::#effect
            }

            #claim

            fn execute<'a>(
                &'a self,
                arguments: #private::Arc<#private::Value>,
                context: #private::ToolContext,
            ) -> #private::BoxFuture<'a, ::core::result::Result<#private::ToolResult, #private::ToolError>> {
                #private::Box::pin(async move {
                    let arguments = #private::read_arguments::<#arguments>(Self::NAME, &arguments)?;
                    #output
                })
            }
        }

        #[automatically_derived]
        impl #parameters #tool #of_type #bounds {
            /// The name the model calls the tool by.
            #[allow(dead_code)]
            #visibility const NAME: &'static str = #name;
        }
    })
}

/// The function `claim`, if the struct has one: `parameter` is its first parameter, `holder` what that is called.
fn claim_of(attributes: &Attributes, parameter: &TokenStream, holder: &TokenStream) -> Option<TokenStream> {
    let Attributes { claim, home, .. } = attributes;
    let private = quote!(#home::__private);
    claim.as_ref().map(|claim| {
        quote! {
            fn claim(
                #parameter,
                arguments: &#private::Value,
                context: &#private::ToolContext,
            ) -> ::core::result::Result<#private::Claim, #private::ToolError> {
                (#claim)(#holder, arguments, context)
            }
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
