//! The `#[derive(Tool)]` macro.
//!
//! Use it through the crate `rheon`. The code it generates refers to that crate, and its guide to tools shows examples.

mod attributes;
mod derive;
mod name;

use proc_macro::TokenStream;

/// Turns a struct into a tool. The struct holds either the arguments of a call or the state of the tool.
///
/// The tool's name is the struct's name in snake case, its description is the struct's doc comment, and the doc
/// comments of the fields describe the arguments. Implement `async fn run(self, context: ToolContext)` on the struct;
/// it returns a `ToolResult`, text, or a `Result` of either with a `ToolError`. `tool()` returns the tool.
///
/// `#[tool(...)]` on the struct accepts:
///
/// - `name = "..."`, `label = "..."` (shown to people) and `description = "..."`; label and description may be any
///   constant expression, such as `include_str!("name.md")`;
/// - `read_only` for a tool that changes nothing: it runs without approval;
/// - `effect = "pure"` (the same as `read_only`), `"idempotent"` or `"unsafe"` (the default);
/// - `state = Type` for state that all calls share: `run` takes a `&Type` before the context, and `tool_with(state)`
///   returns the tool;
/// - `arguments = Type` if the struct is the tool itself and its fields are the shared state: implement `async fn
///   run(&self, arguments: Type, context: ToolContext)`. `label` and `description` may use `self`, and the constant
///   `NAME` of the struct is the tool's name;
/// - `claim = function` to claim what a call needs for itself: it takes `&self` (or the state), the arguments as a
///   `&Value` and a `&ToolContext`, and returns a `Result<Claim, ToolError>`;
/// - `precheck = function`, with `arguments`, to refuse calls that cannot succeed before the user is asked: it takes `&self`
///   and the arguments as a `&Value`, and returns a `Result<(), ToolError>`;
/// - `crate = "path"` if the crate `rheon` has another name.
///
/// The struct that holds the arguments must also derive `Deserialize` and `JsonSchema`.
#[proc_macro_derive(Tool, attributes(tool))]
pub fn derive_tool(input: TokenStream) -> TokenStream {
    derive::expand(input.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

#[cfg(test)]
mod derive_tests;
