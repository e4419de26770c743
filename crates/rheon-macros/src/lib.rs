//! A struct becomes a tool: the derive behind `#[derive(Tool)]`.
//!
//! It is used through the crate `rheon`, whose guide to tools shows it at work; the code it writes refers to that crate.

mod attributes;
mod derive;
mod name;

use proc_macro::TokenStream;

/// Makes a tool of a struct that holds its arguments, or of one that holds what its calls need.
///
/// The struct's name in snake case is the tool's name, its doc comment the description, and the doc comments of its fields
/// are the descriptions of the arguments. What the tool does is `async fn run(self, context: ToolContext)` of the struct,
/// which returns a `ToolResult`, a text, or a `Result` of either with a `ToolError`. The tool itself is what `tool()`
/// returns.
///
/// `#[tool(...)]` on the struct takes:
///
/// - `name = "..."`, `label = "..."` for what people read, and `description = "..."`; for both texts any constant
///   expression, such as `include_str!("name.md")`;
/// - `effect = "pure"`, `"idempotent"` or `"unsafe"`, which it is unless given;
/// - `state = Type`, for what all calls share: `run` then takes a `&Type` before the context, and the tool is what
///   `tool_with(state)` returns;
/// - `arguments = Type`, where the struct is the tool itself: its fields are what all calls share, of whatever shape it is.
///   What it does is then `async fn run(&self, arguments: Type, context: ToolContext)`; `label` and `description` may
///   be expressions of `self`, and the constant `NAME` of the struct is the name;
/// - `claim = function`, which takes what a call must have to itself: given `&self` (or the state), the arguments as a
///   `&Value` and a `&ToolContext`, it returns a `Result<Claim, ToolError>`;
/// - `crate = "path"`, where `rheon` goes by another name.
///
/// The struct that holds the arguments has to derive `Deserialize` and `JsonSchema` as well.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(input: TokenStream) -> TokenStream {
    derive::expand(input.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

#[cfg(test)]
mod derive_tests;
