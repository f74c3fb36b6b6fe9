//! The JSON Schema of the configuration as a tree that is easy to walk, made once from [`super::schema::schema`].
//!
//! Checking, normalising, suggestions and the documentation are all driven by this tree, so that a new field of the configuration needs no
//! change in any of them.

use std::sync::LazyLock;

use serde_json::Value;

use super::schema::Choice;

/// A section or a key of the configuration.
#[derive(Debug)]
pub(super) struct Node {
    /// Whole name of the section or key: `gc.soft`. Empty for the root.
    pub path: String,
    /// Description of the section or key: its doc comment.
    pub description: String,
    /// Default value of the key.
    pub default: Value,
    /// The key may be absent (`null`).
    pub nullable: bool,
    /// Shape of the value.
    pub shape: KeyShape,
}

/// The shape of a key's value.
#[derive(Debug)]
pub(super) enum KeyShape {
    /// A section: its sections and keys.
    Table(Vec<Node>),
    /// A table of keys, checked elsewhere.
    FreeTable,
    /// A list of entries of one shape.
    List(Box<KeyShape>),
    /// A list of a fixed number of entries.
    Tuple(Vec<KeyShape>),
    /// One name of a list of names.
    Choice(Vec<Choice>),
    /// A whole number.
    Integer(Bounds),
    /// A number.
    Number(Bounds),
    /// True or false.
    Boolean,
    /// A string.
    Text,
    /// A construct of JSON Schema that this module does not know; serde alone checks it. A test asserts that no key has one.
    Other,
}

/// The allowed range of a number, both ends included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub multiple_of: Option<f64>,
}

/// The root of the tree of sections and keys.
pub(super) fn root() -> &'static Node {
    static ROOT: LazyLock<Node> = LazyLock::new(|| {
        let schema = super::schema::schema();
        node(String::new(), &schema, &schema["$defs"])
    });
    &ROOT
}

impl Node {
    /// Last part of the name: `soft`.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().expect("rsplit yields at least one part")
    }

    /// The sections and keys of a section; none for a key.
    pub fn children(&self) -> &[Node] {
        match &self.shape {
            KeyShape::Table(children) => children,
            _ => &[],
        }
    }

    /// The child section or key of this name.
    pub fn child(&self, name: &str) -> Option<&Node> {
        self.children().iter().find(|child| child.name() == name)
    }

    /// The section or key with this whole name, such as `gc.soft`.
    pub fn find(&self, path: &str) -> Option<&Node> {
        path.split('.').try_fold(self, |node, name| node.child(name))
    }

    /// Every key of the section and its subsections, in the order of declaration.
    pub fn keys(&self) -> Vec<&Node> {
        match &self.shape {
            KeyShape::Table(children) => children.iter().flat_map(Node::keys).collect(),
            _ => vec![self],
        }
    }

    /// Every subsection, each before its own subsections.
    pub fn sections(&self) -> Vec<&Node> {
        let below = self.children().iter().filter(|child| matches!(child.shape, KeyShape::Table(_)));
        below.flat_map(|section| std::iter::once(section).chain(section.sections())).collect()
    }

    /// The first sentence of the description, without its full stop: short enough for an error message.
    pub fn summary(&self) -> &str {
        let end = self.description.find(". ").unwrap_or(self.description.len());
        self.description[..end].trim_end_matches('.')
    }
}

fn node(path: String, schema: &Value, definitions: &Value) -> Node {
    let (target, nullable) = resolve(schema, definitions);
    let text = |schema: &Value| schema["description"].as_str().map(|text| text.replace('\n', " "));
    Node {
        description: text(schema).or_else(|| text(target)).unwrap_or_default(),
        default: schema["default"].clone(),
        nullable,
        shape: shape(&path, target, definitions),
        path,
    }
}

/// Follows references and takes `null` out of a choice of types. The second value: `null` was one of the types.
fn resolve<'a>(schema: &'a Value, definitions: &'a Value) -> (&'a Value, bool) {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
        return resolve(&definitions[name], definitions);
    }
    if let Some([one, other]) = schema["anyOf"].as_array().map(Vec::as_slice)
        && other["type"] == "null"
    {
        return (resolve(one, definitions).0, true);
    }
    let nullable = schema["type"].as_array().is_some_and(|types| types.iter().any(|one| one == "null"));
    (schema, nullable)
}

fn shape(path: &str, schema: &Value, definitions: &Value) -> KeyShape {
    if let Some(choices) = choices(schema) {
        return KeyShape::Choice(choices);
    }
    match type_name(schema) {
        Some("object") => match schema["properties"].as_object() {
            Some(properties) => {
                let child = |(name, schema): (&String, &Value)| node(join(path, name), schema, definitions);
                KeyShape::Table(properties.iter().map(child).collect())
            }
            None => KeyShape::FreeTable,
        },
        Some("array") => list(path, schema, definitions),
        Some("integer") => KeyShape::Integer(bounds(schema)),
        Some("number") => KeyShape::Number(bounds(schema)),
        Some("boolean") => KeyShape::Boolean,
        Some("string") => KeyShape::Text,
        _ => KeyShape::Other,
    }
}

fn type_name(schema: &Value) -> Option<&str> {
    match &schema["type"] {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

fn list(path: &str, schema: &Value, definitions: &Value) -> KeyShape {
    let entry = |schema: &Value| shape(path, resolve(schema, definitions).0, definitions);
    match schema["prefixItems"].as_array() {
        Some(entries) => KeyShape::Tuple(entries.iter().map(entry).collect()),
        None => KeyShape::List(Box::new(entry(&schema["items"]))),
    }
}

/// The names of an enum, with the descriptions of its variants if they have doc comments. `None` if the schema is not an enum.
fn choices(schema: &Value) -> Option<Vec<Choice>> {
    if let Some(names) = schema["enum"].as_array() {
        let choice = |name: &Value| Some(Choice { name: name.as_str()?.to_string(), description: String::new() });
        return names.iter().map(choice).collect();
    }
    let variants = schema["oneOf"].as_array()?;
    variants.iter().map(variant).collect::<Option<Vec<_>>>().map(|nested| nested.into_iter().flatten().collect())
}

fn variant(schema: &Value) -> Option<Vec<Choice>> {
    match schema["const"].as_str() {
        Some(name) => {
            let description = schema["description"].as_str().unwrap_or_default().replace('\n', " ");
            Some(vec![Choice { name: name.to_string(), description }])
        }
        None => choices(schema),
    }
}

fn bounds(schema: &Value) -> Bounds {
    // An unsigned type of fewer than 64 bits bounds its values even where no range is stated.
    let by_type = match schema["format"].as_str() {
        Some("uint8") => Some(f64::from(u8::MAX)),
        Some("uint16") => Some(f64::from(u16::MAX)),
        Some("uint32") => Some(f64::from(u32::MAX)),
        _ => None,
    };
    Bounds {
        minimum: schema["minimum"].as_f64(),
        maximum: schema["maximum"].as_f64().or(by_type),
        multiple_of: schema["multipleOf"].as_f64(),
    }
}

/// The whole name of `name` in the section `path`.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_every_construct_of_the_schema_is_understood() {
        fn known(shape: &KeyShape) -> bool {
            match shape {
                KeyShape::Other => false,
                KeyShape::List(entry) => known(entry),
                KeyShape::Tuple(entries) => entries.iter().all(known),
                _ => true,
            }
        }
        for key in root().keys() {
            assert!(known(&key.shape), "{}: its JSON Schema is not understood by config/node.rs", key.path);
            assert!(!key.description.is_empty(), "{}: has no doc comment", key.path);
        }
    }

    #[test]
    fn config_summary_is_the_first_sentence() {
        let summary = |path| root().find(path).expect(path).summary();
        assert_eq!(summary("device.read_ns"), "Array time of a page read, ns");
        assert_eq!(summary("gc.soft"), "Soft threshold T_soft: a pool with fewer free blocks triggers GC");
    }
}
