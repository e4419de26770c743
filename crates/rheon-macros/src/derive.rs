//! Generates the code of `#[derive(Tool)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Result, Type, parse_quote};

use crate::attributes::{Attributes, StateSource};
use crate::name;

/// Generates the code for a struct, or says why it cannot be a tool.
pub(crate) fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let attributes = Attributes::read(&input.attrs, input.ident.span())?;
    let name = name_of(&input, &attributes)?;
    match &attributes.state_source {
        StateSource::None => arguments(&input, &attributes, &name, None),
        StateSource::State(state) => arguments(&input, &attributes, &name, Some(state)),
        StateSource::Tool(arguments) => tool(&input, &attributes, &name, arguments),
    }
}

/// For a struct that holds the arguments: implements the trait that `DerivedTool` needs, and a constructor.
fn arguments(
    input: &DeriveInput,
    attributes: &Attributes,
    name: &str,
    state: Option<&Type>,
) -> Result<TokenStream> {
    check_shape(input)?;
    let Attributes { label, description, effect, crate_path, .. } = attributes;
    let (arguments, visibility, span) = (&input.ident, &input.vis, input.ident.span());
    let private = quote!(#crate_path::__private);
    let state_type = state.cloned().unwrap_or_else(|| parse_quote!(()));
    // A missing or wrong `run` is reported at the struct's name.
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

/// For a struct that is the tool itself: implements `Tool`, and a constant for its name.
fn tool(input: &DeriveInput, attributes: &Attributes, name: &str, arguments: &Type) -> Result<TokenStream> {
    if !matches!(input.data, Data::Struct(_)) {
        return Err(Error::new(input.ident.span(), "only a struct can be a tool"));
    }
    let Attributes { label, description, effect, crate_path, .. } = attributes;
    let (tool, visibility, span) = (&input.ident, &input.vis, input.ident.span());
    let (parameters, of_type, bounds) = input.generics.split_for_impl();
    let private = quote!(#crate_path::__private);
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
    let precheck = precheck_of(attributes);
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

            #precheck

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

/// The method `claim`, if the struct has one. `parameter` is its first parameter and `state_source` the name of that.
fn claim_of(
    attributes: &Attributes,
    parameter: &TokenStream,
    state_source: &TokenStream,
) -> Option<TokenStream> {
    let Attributes { claim, crate_path, .. } = attributes;
    let private = quote!(#crate_path::__private);
    claim.as_ref().map(|claim| {
        quote! {
            fn claim(
                #parameter,
                arguments: &#private::Value,
                context: &#private::ToolContext,
            ) -> ::core::result::Result<#private::Claim, #private::ToolError> {
                (#claim)(#state_source, arguments, context)
            }
        }
    })
}

/// The method `precheck`, if the struct has one.
fn precheck_of(attributes: &Attributes) -> Option<TokenStream> {
    let Attributes { precheck, crate_path, .. } = attributes;
    let private = quote!(#crate_path::__private);
    precheck.as_ref().map(|precheck| {
        quote! {
            fn precheck(
                &self,
                arguments: &#private::Value,
            ) -> ::core::result::Result<(), #private::ToolError> {
                (#precheck)(self, arguments)
            }
        }
    })
}

/// Arguments are a JSON object, so only a struct with named fields works.
fn check_shape(input: &DeriveInput) -> Result<()> {
    if !input.generics.params.is_empty() {
        let problem = "a tool cannot have generic parameters";
        return Err(Error::new(input.generics.span(), problem));
    }
    let problem = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(_) => return Ok(()),
            Fields::Unnamed(_) | Fields::Unit => {
                "the arguments of a tool need names: write `struct Name { field: Type }`, or `struct Name {}` for none"
            }
        },
        Data::Enum(_) | Data::Union(_) => {
            "only a struct can hold the arguments of a tool; use this as the type of a field"
        }
    };
    Err(Error::new(input.ident.span(), problem))
}

fn name_of(input: &DeriveInput, attributes: &Attributes) -> Result<String> {
    if let Some(name) = &attributes.name {
        return Ok(name.clone());
    }
    let name = name::snake_case(&input.ident.unraw().to_string());
    match name::name_problem(&name) {
        Some(name_problem) => {
            let problem = format!("{name_problem}; set one with `#[tool(name = \"...\")]`");
            Err(Error::new(input.ident.span(), problem))
        }
        None => Ok(name),
    }
}
