//! `Toolbox`: a set of tools by name, with their schemas ready to check arguments.

use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::Validator;
use rheon_types::{Effect, Tool, ToolDefinition, ToolError, ToolName};
use serde_json::Value;

use crate::error::ToolboxError;

/// How many problems of one call the model is told at once.
const PROBLEMS_MAX: usize = 5;

/// How much of a name, a place or a value is quoted.
const QUOTE_CHARS_MAX: usize = 300;

/// How many tool names are listed to a model that called an unknown one.
const NAMES_MAX: usize = 40;

/// A set of tools, ready for use. Cheap to clone.
#[derive(Clone, Default)]
pub struct Toolbox {
    entries: Arc<HashMap<ToolName, Arc<Entry>>>,
    definitions: Arc<[ToolDefinition]>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    /// Absent where the tool is asked for it at every call.
    effect: Option<Effect>,
    schema: Validator,
}

/// A tool whose schema is ready to check arguments, with what the model is told of it.
#[derive(Clone)]
pub(crate) struct PreparedTool {
    pub(crate) definition: ToolDefinition,
    entry: Arc<Entry>,
}

impl PreparedTool {
    pub(crate) fn new(tool: Arc<dyn Tool>) -> Result<Self, ToolboxError> {
        let name = ToolName::from(tool.name());
        if name.as_str().is_empty() {
            return Err(ToolboxError::Unnamed);
        }
        let parameters = tool.parameters_schema();
        let schema = jsonschema::validator_for(&parameters).map_err(|error| ToolboxError::InvalidSchema {
            name: name.to_string(),
            problem: error.to_string(),
        })?;
        let description = tool.description().trim_end().to_owned();
        let definition = ToolDefinition { name, description, parameters: told(parameters) };
        let effect = Some(tool.effect());
        Ok(Self { definition, entry: Arc::new(Entry { tool, effect, schema }) })
    }
}

/// A tool that a call may use, with what it does to the world.
#[derive(Clone)]
pub(crate) struct ResolvedTool {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) effect: Effect,
}

impl Entry {
    fn resolved(&self) -> ResolvedTool {
        let effect = self.effect.unwrap_or_else(|| self.tool.effect());
        ResolvedTool { tool: Arc::clone(&self.tool), effect }
    }
}

impl Toolbox {
    /// A toolbox of `tools`, presented to the model in this order.
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Result<Self, ToolboxError> {
        let mut entries = HashMap::with_capacity(tools.len());
        let mut definitions = Vec::with_capacity(tools.len());
        for tool in tools {
            let PreparedTool { definition, entry } = PreparedTool::new(tool)?;
            if entries.insert(definition.name.clone(), entry).is_some() {
                return Err(ToolboxError::Duplicate(definition.name.to_string()));
            }
            definitions.push(definition);
        }
        Ok(Self { entries: Arc::new(entries), definitions: definitions.into() })
    }

    /// This set with more tools behind its own. Of two tools with one name the first counts.
    pub(crate) fn with(&self, more: &[PreparedTool]) -> Self {
        let mut entries = HashMap::clone(&self.entries);
        let mut definitions = self.definitions.to_vec();
        for PreparedTool { definition, entry } in more {
            if !entries.contains_key(&definition.name) {
                entries.insert(definition.name.clone(), Arc::clone(entry));
                definitions.push(definition.clone());
            }
        }
        Self { entries: Arc::new(entries), definitions: definitions.into() }
    }

    /// Whether there is a tool of this name.
    pub(crate) fn has(&self, name: &ToolName) -> bool {
        self.entries.contains_key(name)
    }

    /// Whether both are the same set.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    /// Does beforehand what the first toolbox of a process waits for: the schema that schemas are held to is made ready, which takes
    /// longer than all tools together. For programs that have something else to do meanwhile.
    pub fn prepare() {
        jsonschema::validator_for(&serde_json::json!({ "type": "object" })).ok();
    }

    /// A toolbox that takes any name and any arguments.
    pub(crate) fn unchecked(tools: Vec<Arc<dyn Tool>>) -> Self {
        let anything = serde_json::Value::Bool(true);
        let entries = tools.into_iter().filter_map(|tool| {
            let schema = jsonschema::validator_for(&anything).ok()?;
            // In a log, a tool that changed between turns has another effect from there on.
            Some((ToolName::from(tool.name()), Arc::new(Entry { tool, effect: None, schema })))
        });
        Self { entries: Arc::new(entries.collect()), definitions: Arc::from([]) }
    }

    /// What the model is told of the tools.
    pub fn definitions(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.definitions)
    }

    /// The tool of this name.
    pub(crate) fn get(&self, name: &ToolName) -> Option<ResolvedTool> {
        self.entries.get(name).map(|entry| entry.resolved())
    }

    /// The tool of this name, if `arguments` fit it.
    pub(crate) fn find(&self, name: &ToolName, arguments: &Value) -> Result<ResolvedTool, ToolError> {
        let entry = self.entries.get(name).ok_or_else(|| self.unknown(name))?;
        if entry.schema.is_valid(arguments) {
            return Ok(entry.resolved());
        }
        let mut problems: Vec<String> = Vec::new();
        for error in entry.schema.iter_errors(arguments).take(PROBLEMS_MAX) {
            let place = shorten(error.instance_path().as_str());
            let place = if place.is_empty() { "the arguments".to_owned() } else { place };
            let problem = shorten(&error.to_string());
            problems.push(format!("{place}: {problem}"));
        }
        Err(ToolError::InvalidArgs(format!("invalid arguments for {name}: {}", problems.join("; "))))
    }

    fn unknown(&self, name: &ToolName) -> ToolError {
        let mut names: Vec<&str> =
            self.definitions.iter().map(|definition| definition.name.as_str()).take(NAMES_MAX).collect();
        if self.definitions.len() > NAMES_MAX {
            names.push("...");
        }
        let known = if names.is_empty() { "there are no tools".into() } else { names.join(", ") };
        ToolError::NotFound(format!(
            "there is no tool named {:?}; available: {known}",
            shorten(name.as_str())
        ))
    }
}

/// A schema without words that a model does not need: that further fields are forbidden, how long texts and lists may be at most,
/// and that what may be left out may also be null. Calls are held to the whole schema all the same; these words would go with
/// every request, for every field of every tool.
fn told(mut schema: Value) -> Value {
    shorten_schema(&mut schema);
    schema
}

fn shorten_schema(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    fields.retain(|key, value| match key.as_str() {
        "additionalProperties" => *value != false,
        "maxLength" | "maxItems" | "minLength" => !value.is_number(),
        _ => true,
    });
    let required = fields.get("required").cloned().unwrap_or_default();
    for (key, value) in fields {
        match (key.as_str(), value) {
            // Here keys are names that the tool's author chose.
            ("properties", Value::Object(named)) => {
                for (name, schema) in named {
                    let is_required =
                        required.as_array().is_some_and(|names| names.iter().any(|one| one == name));
                    if !is_required {
                        without_null(schema);
                    }
                    shorten_schema(schema);
                }
            }
            ("patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
                named.values_mut().for_each(shorten_schema);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(shorten_schema);
            }
            ("items" | "additionalProperties", schema) => shorten_schema(schema),
            _ => {}
        }
    }
}

/// The schema of something that may be left out, without that it may also be null.
fn without_null(schema: &mut Value) {
    let Value::Object(fields) = schema else { return };
    let only = match fields.get("type").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only, null] | [null, only]) if null == "null" => only.clone(),
        Some(_) | None => return,
    };
    fields.insert("type".to_owned(), only);
    if let Some(Value::Array(values)) = fields.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// What a model wrote may be large; it is quoted in part.
fn shorten(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}

#[cfg(test)]
#[path = "toolbox_tests.rs"]
mod tests;
