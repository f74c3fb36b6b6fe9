//! Checks a raw tree against the schema: one message for each problem, with key, value, expected value and remedy.

use serde_json::{Map, Number, Value};

use super::names;
use super::node::{Bounds, KeyShape, Node, join, root};

/// A problem with one key of a raw tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the key, `gc.soft`, or of an entry of a list, `gc.suspend[1]`.
    pub key: String,
    /// Message with the key, the problem and the remedy.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Checks every key of `tree`, which may be incomplete, and returns the problems. Relations between keys are left to [`super::validate()`].
pub fn check(tree: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    match tree {
        Value::Object(entries) => table(root(), entries, &mut problems),
        other => problems
            .push(Problem { key: String::new(), message: format!("the configuration must be a table of sections, not {}", kind(other)) }),
    }
    problems
}

/// Writes whole numbers as integers where the key takes integers, and as floats where it takes any number, so that 5 and 5.0 are equal when
/// trees are compared or deserialised.
pub(super) fn normalise(tree: &mut Value) {
    normalise_node(tree, root());
    if let Some(flows) = tree.pointer_mut("/workload/flows") {
        normalise_flows(flows);
    }
}

fn normalise_flows(flows: &mut Value) {
    for flow in flows.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        for (key, value) in flow.iter_mut() {
            if let Some(node) = flow_key(key, true) {
                normalise_node(value, node);
            }
        }
        if let Some(flows) = flow.get_mut("flows") {
            normalise_flows(flows);
        }
    }
}

fn table(section: &Node, entries: &Map<String, Value>, problems: &mut Vec<Problem>) {
    for (name, value) in entries {
        match section.child(name) {
            None => unknown(join(&section.path, name), value, problems),
            Some(node) => node_value(node, &node.path, value, problems),
        }
    }
}

fn unknown(path: String, value: &Value, problems: &mut Vec<Problem>) {
    let Some(entries) = value.as_object().filter(|entries| !entries.is_empty()) else {
        let message = names::unknown(&path);
        return problems.push(Problem { key: path, message });
    };
    if let Some(message) = names::unknown_section(&path) {
        return problems.push(Problem { key: path, message });
    }
    // No section has a similar name; one of the keys may.
    for (name, value) in entries {
        unknown(join(&path, name), value, problems);
    }
}

fn node_value(node: &Node, path: &str, value: &Value, problems: &mut Vec<Problem>) {
    if value.is_null() && node.nullable {
        return;
    }
    let before = problems.len();
    shape_value(node, &node.shape, path, value, problems);
    if problems.len() == before && node.path == FLOWS {
        flows(path, value, problems);
    }
}

fn shape_value(node: &Node, shape: &KeyShape, path: &str, value: &Value, problems: &mut Vec<Problem>) {
    match (shape, value) {
        (KeyShape::Other, _) | (KeyShape::FreeTable, Value::Object(_)) => {}
        (KeyShape::Boolean, Value::Bool(_)) | (KeyShape::Text, Value::String(_)) => {}
        (KeyShape::Table(_), Value::Object(entries)) => table(node, entries, problems),
        (KeyShape::Choice(choices), Value::String(name)) if choices.iter().any(|choice| choice.name == *name) => {}
        (KeyShape::Integer(bounds), Value::Number(number)) if is_whole(number) && within(*bounds, number) => {}
        (KeyShape::Number(bounds), Value::Number(number)) if within(*bounds, number) => {}
        (KeyShape::List(entry), Value::Array(values)) => {
            for (index, value) in values.iter().enumerate() {
                shape_value(node, entry, &format!("{path}[{index}]"), value, problems);
            }
        }
        (KeyShape::Tuple(shapes), Value::Array(values)) if values.len() == shapes.len() => {
            for (index, (shape, value)) in shapes.iter().zip(values).enumerate() {
                shape_value(node, shape, &format!("{path}[{index}]"), value, problems);
            }
        }
        _ => problems.push(Problem { key: path.to_string(), message: mismatch(node, shape, path, value) }),
    }
}

/// Message for a value that a key does not take: `gc.scope = "chp": must be one of ...; did you mean "chip"? (The scope of blocking: ...)`
fn mismatch(node: &Node, shape: &KeyShape, path: &str, value: &Value) -> String {
    let mut message = format!("{path} = {}: must be {}", show(value), expected(shape));
    if !right_type(shape, value) {
        message += &format!(", not {}", kind(value));
    }
    if let (KeyShape::Choice(choices), Value::String(name)) = (shape, value)
        && let Some(near) = names::nearest(name, choices.iter().map(|choice| choice.name.as_str()))
    {
        message += &format!("; did you mean \"{near}\"?");
    }
    if !matches!(shape, KeyShape::Table(_)) {
        message += &format!(" ({})", node.summary());
    }
    message
}

fn right_type(shape: &KeyShape, value: &Value) -> bool {
    match shape {
        KeyShape::Integer(_) | KeyShape::Number(_) => value.is_number(),
        KeyShape::Choice(_) | KeyShape::Text => value.is_string(),
        KeyShape::List(_) | KeyShape::Tuple(_) => value.is_array(),
        KeyShape::Table(_) | KeyShape::FreeTable => value.is_object(),
        KeyShape::Boolean => value.is_boolean(),
        KeyShape::Other => true,
    }
}

/// The values that a shape allows, as text behind "must be".
pub(super) fn expected(shape: &KeyShape) -> String {
    match shape {
        KeyShape::Table(_) => "a section of keys".into(),
        KeyShape::FreeTable => "a table of keys".into(),
        KeyShape::List(entry) => format!("a list, each entry {}", expected(entry)),
        KeyShape::Tuple(entries) => {
            format!("a list of {} entries: {}", entries.len(), entries.iter().map(expected).collect::<Vec<_>>().join(", "))
        }
        KeyShape::Choice(choices) => one_of(choices.iter().map(|choice| choice.name.as_str()).collect()),
        KeyShape::Integer(bounds) => format!("a whole number{}", range(*bounds)),
        KeyShape::Number(bounds) => format!("a number{}", range(*bounds)),
        KeyShape::Boolean => "true or false".into(),
        KeyShape::Text | KeyShape::Other => "a string".into(),
    }
}

fn one_of(names: Vec<&str>) -> String {
    // The permutations of CWDP would fill the screen; the description of their key has the rule.
    const MANY: usize = 16;
    let quoted = |names: &[&str]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    if names.len() <= MANY {
        format!("one of {}", quoted(&names))
    } else {
        format!("one of {}, ... ({} in all)", quoted(&names[..4]), names.len())
    }
}

/// The allowed range, as text behind a noun: ` from 1 to 1024`.
pub(super) fn range(bounds: Bounds) -> String {
    let mut text = match (bounds.minimum, bounds.maximum) {
        (Some(minimum), Some(maximum)) => format!(" from {minimum} to {maximum}"),
        (Some(minimum), None) => format!(" from {minimum} on"),
        (None, Some(maximum)) => format!(" up to {maximum}"),
        (None, None) => String::new(),
    };
    if let Some(step) = bounds.multiple_of {
        text += &format!(", a multiple of {step}");
    }
    text
}

fn within(bounds: Bounds, number: &Number) -> bool {
    // Every bound is far below 2^53, so that a number which f64 rounds is not near one.
    let Some(value) = number.as_f64() else { return false };
    value.is_finite()
        && bounds.minimum.is_none_or(|minimum| value >= minimum)
        && bounds.maximum.is_none_or(|maximum| value <= maximum)
        && bounds.multiple_of.is_none_or(|step| value % step == 0.0)
}

fn is_whole(number: &Number) -> bool {
    number.is_u64() || number.is_i64() || whole(number).is_some()
}

/// The number as an integer, if it is whole and at most 2^53.
fn whole(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let value = number.as_f64()?;
    (value.fract() == 0.0 && value.abs() <= EXACT).then_some(value as i64)
}

fn normalise_node(value: &mut Value, node: &Node) {
    match (&node.shape, value) {
        (KeyShape::Table(children), Value::Object(entries)) => {
            for child in children {
                if let Some(value) = entries.get_mut(child.name()) {
                    normalise_node(value, child);
                }
            }
        }
        (shape, value) => normalise_shape(value, shape),
    }
}

fn normalise_shape(value: &mut Value, shape: &KeyShape) {
    match (shape, value) {
        (KeyShape::List(entry), Value::Array(values)) => values.iter_mut().for_each(|value| normalise_shape(value, entry)),
        (KeyShape::Tuple(shapes), Value::Array(values)) => {
            values.iter_mut().zip(shapes).for_each(|(value, shape)| normalise_shape(value, shape));
        }
        (KeyShape::Integer(_), Value::Number(number)) if number.is_f64() => {
            if let Some(integer) = whole(number) {
                *number = integer.into();
            }
        }
        (KeyShape::Number(_), Value::Number(number)) => {
            if let Some(float) = number.as_f64().and_then(Number::from_f64) {
                *number = float;
            }
        }
        _ => {}
    }
}

const FLOWS: &str = "workload.flows";
/// Key of a flow with a name: the workload preset with which the flow begins. Layers replace it by the keys of the preset.
pub(super) const PRESET: &str = "preset";
/// Keys of the whole workload, which a flow cannot set.
const OF_ALL: [&str; 2] = ["max_outstanding", "only"];
/// Keys of generated requests and of traces alike, which parts of a flow may set.
const OF_HANDLES: [&str; 2] = ["handle", "handle_ranges"];

/// The key `name` of a workload, if a flow may set it: a flow without a name (`is_separate` is false) keys of generated requests and
/// handles, one with a name all but those of the whole workload.
pub(super) fn flow_key(name: &str, is_separate: bool) -> Option<&'static Node> {
    let allowed = |node: &&Node| {
        let of_a_part = || node.path != FLOWS && (node.description.starts_with("Generated") || OF_HANDLES.contains(&node.name()));
        if is_separate { !OF_ALL.contains(&node.name()) } else { of_a_part() }
    };
    root().find("workload")?.child(name).filter(allowed)
}

fn flows(path: &str, value: &Value, problems: &mut Vec<Problem>) {
    for (index, flow) in value.as_array().into_iter().flatten().enumerate() {
        let Some(keys) = flow.as_object() else { continue };
        let is_separate = keys.contains_key("name");
        for (name, value) in keys {
            let path = format!("{path}[{index}].{name}");
            match flow_key(name, is_separate) {
                Some(node) => node_value(node, &path, value, problems),
                None if is_separate && name == PRESET && value.is_string() => {}
                None => {
                    let message = unknown_flow_key(&path, name, is_separate);
                    problems.push(Problem { key: path, message });
                }
            }
        }
    }
}

fn unknown_flow_key(path: &str, name: &str, is_separate: bool) -> String {
    if !is_separate && (name == PRESET || flow_key(name, true).is_some()) {
        return format!("{path}: only a flow with a name of its own may have this key; give it one (name = \"backup\")");
    }
    if name == PRESET {
        return format!("{path}: must be a string, the name of a workload preset");
    }
    let section = root().find("workload").map(Node::children).unwrap_or_default();
    let allowed: Vec<_> = section.iter().map(Node::name).filter(|name| flow_key(name, is_separate).is_some()).collect();
    match names::nearest(name, allowed.iter().copied()) {
        Some(near) => format!("{path}: unknown key; did you mean {near}?"),
        None => format!("{path}: a flow has no such key; it has {}", allowed.join(", ")),
    }
}

/// A value as text for messages: a whole number without `.0`, a long value cut short.
pub(super) fn show(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = match value {
        Value::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain("...".chars()).collect()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a table",
    }
}
