//! The JSON Schema of the configuration, and its keys as a flat list.

use std::sync::LazyLock;

use serde_json::Value;

use super::node::{Bounds, KeyShape, Node, root};

/// The JSON Schema (draft 2020-12) of the whole configuration: descriptions, ranges, choices and defaults of every key.
pub fn schema() -> Value {
    static SCHEMA: LazyLock<Value> =
        LazyLock::new(|| serde_json::to_value(schemars::schema_for!(super::Config)).expect("a schema is a JSON object"));
    SCHEMA.clone()
}

/// One of the names that a key accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The name as it is written in a configuration.
    pub name: String,
    /// Meaning of the name; empty if the description of the key has it.
    pub description: String,
}

/// Kind of value that a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Any string.
    Text,
    /// One of the names in [`KeyInfo::choices`].
    Choice,
    /// A list.
    List,
}

impl Kind {
    /// Name of the kind, in one word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Text => "string",
            Kind::Choice => "choice",
            Kind::List => "list",
        }
    }
}

/// Name, description, type, range and default of a configuration key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyInfo {
    /// Whole name of the key: `gc.soft`.
    pub name: String,
    /// Meaning of the key, with its unit.
    pub description: String,
    /// Kind of value that the key takes.
    pub kind: Kind,
    /// The key may be absent (`null`).
    pub optional: bool,
    /// Default value of the key.
    pub default: Value,
    /// Least value of a number (for a list of numbers: of each entry); `None` without a limit.
    pub minimum: Option<f64>,
    /// Greatest value of a number (for a list of numbers: of each entry); `None` without a limit.
    pub maximum: Option<f64>,
    /// Names that the key accepts (for a list of names: for each entry); empty for other kinds.
    pub choices: Vec<Choice>,
}

/// Every key of the configuration, in the order of declaration.
pub fn keys() -> Vec<KeyInfo> {
    root().keys().into_iter().map(key_info).collect()
}

fn key_info(node: &Node) -> KeyInfo {
    let entry = match &node.shape {
        KeyShape::List(entry) => entry,
        shape => shape,
    };
    let (bounds, choices) = match entry {
        KeyShape::Integer(bounds) | KeyShape::Number(bounds) => (*bounds, Vec::new()),
        KeyShape::Choice(choices) => (Bounds::default(), choices.clone()),
        _ => (Bounds::default(), Vec::new()),
    };
    KeyInfo {
        name: node.path.clone(),
        description: node.description.clone(),
        kind: kind(&node.shape),
        optional: node.nullable,
        default: node.default.clone(),
        minimum: bounds.minimum,
        maximum: bounds.maximum,
        choices,
    }
}

fn kind(shape: &KeyShape) -> Kind {
    match shape {
        KeyShape::Boolean => Kind::Boolean,
        KeyShape::Integer(_) => Kind::Integer,
        KeyShape::Number(_) => Kind::Number,
        KeyShape::Choice(_) => Kind::Choice,
        KeyShape::List(_) | KeyShape::Tuple(_) => Kind::List,
        KeyShape::Text | KeyShape::Table(_) | KeyShape::FreeTable | KeyShape::Other => Kind::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> KeyInfo {
        keys().into_iter().find(|key| key.name == name).expect(name)
    }

    #[test]
    fn config_keys_carry_what_the_schema_says() {
        let soft = key("gc.soft");
        assert_eq!((soft.kind, soft.minimum, soft.maximum), (Kind::Number, Some(0.0), Some(1_000_000.0)));
        assert_eq!(soft.default, 0.05);
        let suspend = key("gc.suspend");
        assert_eq!(suspend.kind, Kind::List);
        assert_eq!(suspend.choices.iter().map(|choice| choice.name.as_str()).collect::<Vec<_>>(), ["read", "program", "erase"]);
        assert_eq!(key("device.read_ns_by_page").minimum, Some(1.0));
        assert!(key("ftl.precondition.range").optional);
        assert_eq!(key("gc.victim").choices[0].name, "greedy");
        assert!(!key("gc.victim").choices[0].description.is_empty());
    }

    #[test]
    fn config_keys_are_in_the_order_of_declaration() {
        let names: Vec<_> = keys().into_iter().map(|key| key.name).collect();
        assert_eq!(&names[..3], ["device.channels", "device.chips_per_channel", "device.dies_per_chip"]);
        let section = |name: &str| names.iter().position(|key| key.starts_with(name)).expect(name);
        assert!(section("device.") < section("ftl.") && section("gc.") < section("scheduler."));
    }

    #[test]
    fn config_schema_names_its_draft() {
        assert_eq!(schema()["$schema"], "https://json-schema.org/draft/2020-12/schema");
    }
}
