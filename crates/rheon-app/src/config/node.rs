//! `Node`: a value of a configuration with its line, whether it was written as TOML, as JSON or as a flag.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The maximum nesting of tables and lists.
const DEPTH_MAX: usize = 16;

/// A value and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Counted from 1; absent where it is not known.
    pub(super) line: Option<usize>,
    pub(super) kind: NodeKind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeKind {
    Text(String),
    /// As it was written, so that sums of money stay what they are.
    Number(String),
    Switch(bool),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
    /// A date, or nothing at all: no key takes either.
    Other,
}

/// A syntax problem and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextProblem {
    pub(super) line: Option<usize>,
    pub(super) what: String,
}

impl Node {
    /// Reads TOML. Reports syntax errors and reads the rest anyway.
    pub(super) fn from_toml(text: &str) -> (Self, Vec<TextProblem>) {
        let (table, errors) = DeTable::parse_recoverable(text);
        let lines = Lines::of(text);
        let problem = |error: toml::de::Error| TextProblem {
            line: error.span().map(|span| lines.at(span.start)),
            what: error.message().trim_end().replace('\n', "; "),
        };
        let mut problems: Vec<TextProblem> = errors.into_iter().map(problem).collect();
        let table = of_table(table.into_inner(), &lines, 0).unwrap_or_else(|| {
            let what = format!("tables and lists are nested more than {DEPTH_MAX} deep");
            problems.push(TextProblem { line: None, what });
            Vec::new()
        });
        (Self { line: None, kind: NodeKind::Table(table) }, problems)
    }

    /// Reads JSON.
    pub(super) fn from_json(text: &str) -> Result<Self, TextProblem> {
        serde_json::from_str::<Self>(text).map_err(|error| {
            let message = error.to_string();
            let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            TextProblem { line: Some(error.line().max(1)), what: what.to_owned() }
        })
    }

    /// The value of `key`, if this is a table.
    pub(super) fn child(&self, key: &str) -> Option<&Self> {
        match &self.kind {
            NodeKind::Table(table) => table.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            NodeKind::Text(_)
            | NodeKind::Number(_)
            | NodeKind::Switch(_)
            | NodeKind::List(_)
            | NodeKind::Other => None,
        }
    }

    /// What it is, for people.
    pub(super) fn kind_name(&self) -> &'static str {
        match &self.kind {
            NodeKind::Text(_) => "a string",
            NodeKind::Number(_) => "a number",
            NodeKind::Switch(_) => "true or false",
            NodeKind::List(_) => "a list",
            NodeKind::Table(_) => "a table",
            NodeKind::Other => "a date or nothing",
        }
    }

    /// The same as JSON, for readers of JSON.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.kind {
            NodeKind::Text(text) => text.clone().into(),
            NodeKind::Number(number) => serde_json::from_str(number).unwrap_or_default(),
            NodeKind::Switch(value) => (*value).into(),
            NodeKind::List(list) => list.iter().map(Self::to_json).collect(),
            NodeKind::Table(table) => table.iter().map(|(key, node)| (key.clone(), node.to_json())).collect(),
            NodeKind::Other => serde_json::Value::Null,
        }
    }
}

/// Where lines begin, so that a place is found without reading the text again for each.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(
            text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(index, _)| index + 1).collect(),
        )
    }

    /// The line, counted from 1, of the byte `offset`.
    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset) + 1
    }
}

fn of_table(table: DeTable<'_>, lines: &Lines, depth: usize) -> Option<Vec<(String, Node)>> {
    let mut entries = Vec::new();
    for (key, value) in table {
        let line = lines.at(key.span().start);
        entries.push((line, key.into_inner().into_owned(), of_value(value, lines, Some(line), depth + 1)?));
    }
    // The parser sorts keys by name; problems are reported in the order of the file.
    entries.sort_by_key(|(line, ..)| *line);
    Some(entries.into_iter().map(|(_, key, node)| (key, node)).collect())
}

fn of_value(value: Spanned<DeValue<'_>>, lines: &Lines, line: Option<usize>, depth: usize) -> Option<Node> {
    if depth > DEPTH_MAX {
        return None;
    }
    let line = line.or_else(|| Some(lines.at(value.span().start)));
    let kind = match value.into_inner() {
        DeValue::String(value) => NodeKind::Text(value.into_owned()),
        DeValue::Integer(number) => NodeKind::Number(
            i128::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| number.as_str().to_owned(), |number| number.to_string()),
        ),
        DeValue::Float(number) => NodeKind::Number(number.as_str().to_owned()),
        DeValue::Boolean(value) => NodeKind::Switch(value),
        DeValue::Datetime(_) => NodeKind::Other,
        DeValue::Array(list) => {
            let nodes = list.into_iter().map(|value| of_value(value, lines, None, depth + 1));
            NodeKind::List(nodes.collect::<Option<_>>()?)
        }
        DeValue::Table(table) => NodeKind::Table(of_table(table, lines, depth)?),
    };
    Some(Node { line, kind })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyNode)
    }
}

/// Reads any JSON. How deep it may be is limited by the reader itself.
struct AnyNode;

impl<'de> Visitor<'de> for AnyNode {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(plain(NodeKind::Switch(value)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(plain(NodeKind::Number(number.to_string())))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(plain(NodeKind::Number(number.to_string())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(plain(NodeKind::Number(number.to_string())))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(plain(NodeKind::Text(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(plain(NodeKind::Other))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(plain(NodeKind::List(nodes)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut seen = std::collections::BTreeSet::new();
        let mut entries = Vec::new();
        while let Some((key, node)) = map.next_entry::<String, Node>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key {key:?} is defined twice; merge the two")));
            }
            entries.push((key, node));
        }
        Ok(plain(NodeKind::Table(entries)))
    }
}

fn plain(kind: NodeKind) -> Node {
    Node { line: None, kind }
}
