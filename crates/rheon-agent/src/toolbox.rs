//! `Toolbox`: a set of tools by name, with compiled schemas.

use std::collections::HashMap;
use std::sync::Arc;

use jsonschema::Validator;
use rheon_types::{Effect, Tool, ToolCall, ToolDefinition, ToolError, ToolName};
use serde_json::Value;

use crate::coerce::coerced;
use crate::error::ToolboxError;

/// The maximum number of problems reported per call.
const PROBLEMS_MAX: usize = 5;

/// The maximum length of a quoted name, path or value.
const QUOTE_CHARS_MAX: usize = 300;

/// The maximum number of tool names listed after an unknown one.
const NAMES_MAX: usize = 40;

/// A set of tools, ready for use. Cheap to clone.
#[derive(Clone, Default)]
pub struct Toolbox {
    entries: Arc<HashMap<ToolName, Arc<Entry>>>,
    /// The tools by every name that models may use, in lower case.
    names: Arc<HashMap<String, ToolName>>,
    definitions: Arc<[ToolDefinition]>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    /// `None` if the tool is asked at every call.
    effect: Option<Effect>,
    schema: Validator,
    /// What the schema was compiled from.
    parameters: Value,
}

/// A tool with its compiled schema and its definition for the model.
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
        let definition = ToolDefinition { name, description, parameters: for_model(parameters.clone()) };
        let effect = Some(tool.effect());
        Ok(Self { definition, entry: Arc::new(Entry { tool, effect, schema, parameters }) })
    }
}

/// A tool with its side effects.
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
        Ok(Self::of(entries, definitions))
    }

    fn of(entries: HashMap<ToolName, Arc<Entry>>, definitions: Vec<ToolDefinition>) -> Self {
        let mut names = HashMap::new();
        let own = definitions.iter().map(|definition| definition.name.clone());
        for name in own.clone() {
            names.entry(name.as_str().to_lowercase()).or_insert(name);
        }
        for name in own {
            let other = entries.get(&name).map(|entry| entry.tool.other_names()).unwrap_or_default();
            for other in other {
                names.entry(other.to_lowercase()).or_insert_with(|| name.clone());
            }
        }
        Self { entries: Arc::new(entries), names: Arc::new(names), definitions: definitions.into() }
    }

    /// This set with more tools appended. The first tool with a name counts.
    pub(crate) fn with(&self, more: &[PreparedTool]) -> Self {
        let mut entries = HashMap::clone(&self.entries);
        let mut definitions = self.definitions.to_vec();
        for PreparedTool { definition, entry } in more {
            if !entries.contains_key(&definition.name) {
                entries.insert(definition.name.clone(), Arc::clone(entry));
                definitions.push(definition.clone());
            }
        }
        Self::of(entries, definitions)
    }

    /// The call under the tool's own name and with arguments that match its schema, if it is clear what is meant. Each
    /// refusal would cost a turn.
    pub(crate) fn understood(&self, mut call: ToolCall) -> ToolCall {
        if !self.entries.contains_key(&call.name)
            && let Some(name) = self.names.get(&bare(call.name.as_str()).to_lowercase())
        {
            call.name = name.clone();
        }
        let Some(entry) = self.entries.get(&call.name).filter(|_| call.malformed.is_none()) else {
            return call;
        };
        // To a schema 1.0 is an integer, but not to the tool behind it.
        if entry.schema.is_valid(&call.arguments) && !has_whole_float(&call.arguments) {
            return call;
        }
        let plain = coerced(&entry.parameters, &call.arguments);
        let adapted = || entry.tool.adapt(&plain).map(|adapted| coerced(&entry.parameters, &adapted));
        let fitting = if entry.schema.is_valid(&plain) { Some(plain) } else { adapted() };
        if let Some(arguments) = fitting.filter(|arguments| entry.schema.is_valid(arguments)) {
            call.arguments = Arc::new(arguments);
        }
        call
    }

    /// Whether there is a tool of this name.
    pub(crate) fn has(&self, name: &ToolName) -> bool {
        self.entries.contains_key(name)
    }

    /// Whether both are the same set.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    /// Compiles the meta-schema in advance, which takes longer than all tools together. Call this early to keep it out
    /// of the critical path.
    pub fn prepare() {
        jsonschema::validator_for(&serde_json::json!({ "type": "object" })).ok();
    }

    /// A toolbox that takes any name and any arguments.
    pub(crate) fn unchecked(tools: Vec<Arc<dyn Tool>>) -> Self {
        let anything = serde_json::Value::Bool(true);
        let entries = tools.into_iter().filter_map(|tool| {
            let schema = jsonschema::validator_for(&anything).ok()?;
            // In a log, a tool that changed between turns has another effect from then on.
            let parameters = anything.clone();
            Some((ToolName::from(tool.name()), Arc::new(Entry { tool, effect: None, schema, parameters })))
        });
        Self { entries: Arc::new(entries.collect()), ..Self::default() }
    }

    /// The definitions for the model.
    pub fn definitions(&self) -> Arc<[ToolDefinition]> {
        Arc::clone(&self.definitions)
    }

    /// The tool of this name.
    pub(crate) fn get(&self, name: &ToolName) -> Option<ResolvedTool> {
        self.entries.get(name).map(|entry| entry.resolved())
    }

    /// The tool with this name, if `arguments` match its schema.
    pub(crate) fn find(&self, name: &ToolName, arguments: &Value) -> Result<ResolvedTool, ToolError> {
        let entry = self.entries.get(name).ok_or_else(|| self.unknown(name))?;
        if entry.schema.is_valid(arguments) {
            return Ok(entry.resolved());
        }
        let mut problems: Vec<String> = Vec::new();
        for error in entry.schema.iter_errors(arguments).take(PROBLEMS_MAX) {
            let path = shorten(error.instance_path().as_str());
            let path = if path.is_empty() { "the arguments".to_owned() } else { path };
            let problem = shorten(&error.to_string());
            problems.push(format!("{path}: {problem}"));
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

/// Whether a number is written with a fraction of zero.
fn has_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_f64() && number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        Value::Array(items) => items.iter().any(has_whole_float),
        Value::Object(fields) => fields.values().any(has_whole_float),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// A name without the namespace that some models put before it.
fn bare(name: &str) -> &str {
    let name = name.trim();
    let spaces = ["functions.", "functions:", "default_api.", "default_api:", "tools.", "tool."];
    spaces.iter().find_map(|space| name.strip_prefix(space)).unwrap_or(name)
}

/// A schema without keywords that a model does not need: that further fields are forbidden, maximum lengths, and that
/// optional fields may be null. Calls are still checked against the whole schema; these keywords would cost tokens in
/// every request.
fn for_model(mut schema: Value) -> Value {
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
            // These keys are field names.
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

/// The schema of an optional field, without null as a value.
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

/// Model output may be large, so quote only a part.
fn shorten(text: &str) -> String {
    text.chars().take(QUOTE_CHARS_MAX).collect()
}

#[cfg(test)]
#[path = "toolbox_tests.rs"]
mod tests;
