//! Parses `KEY=VALUE`: one key set by hand.

use serde_json::{Number, Value, json};

use super::node::{KeyShape, Node, root};
use super::{Problem, aliases, names, text};

/// The raw tree of one key set by hand. The value is read as TOML (`0.05`, `true`, `"text"`, `[1, 2]`); a word that is not TOML is a
/// string, also in a list (`[read, erase]`); `null` clears a key that may be absent.
pub(super) fn tree(key: &str, raw: &str, problems: &mut Vec<Problem>) -> Value {
    if aliases::exists(key) {
        return aliases::tree(key, raw.trim(), problems);
    }
    let Some(node) = root().find(key).filter(|_| !key.is_empty()) else {
        let message = if key.is_empty() { format!("\"={raw}\": a key is missing; write KEY=VALUE") } else { names::unknown(key) };
        problems.push(Problem { key: key.to_string(), message });
        return json!({});
    };
    match value(node, raw.trim(), problems) {
        Some(value) => key.rsplit('.').fold(value, |tree, name| json!({ name: tree })),
        None => json!({}),
    }
}

fn value(node: &Node, raw: &str, problems: &mut Vec<Problem>) -> Option<Value> {
    if raw == "null" && node.nullable {
        return Some(Value::Null);
    }
    if let KeyShape::List(entry) = &node.shape
        && let Some(words) = words(raw)
    {
        return Some(words.into_iter().map(|word| plain(entry, word)).collect());
    }
    match raw.parse::<toml::Value>() {
        // On a command line all values are text: a disk number or a date is a name where a name is expected.
        Ok(parsed) if wants_text(&node.shape) && !parsed.is_str() => Some(raw.into()),
        Ok(parsed) => text::to_json(&node.path, parsed, problems),
        Err(_) => Some(plain(&node.shape, raw)),
    }
}

/// The words of a list such as `[read, erase]`; `None` if it is TOML.
fn words(raw: &str) -> Option<Vec<&str>> {
    let inside = raw.strip_prefix('[')?.strip_suffix(']')?;
    let is_toml = raw.parse::<toml::Value>().is_ok() || inside.contains(['[', '"', '\'']);
    (!is_toml).then(|| inside.split(',').map(str::trim).filter(|word| !word.is_empty()).collect())
}

/// The value of a word that is not TOML: a number in a spelling that TOML does not have (`.5`), else a string.
fn plain(shape: &KeyShape, word: &str) -> Value {
    let number = match shape {
        KeyShape::Integer(_) | KeyShape::Number(_) => word.parse().ok().and_then(Number::from_f64),
        _ => None,
    };
    number.map_or_else(|| word.into(), Value::Number)
}

fn wants_text(shape: &KeyShape) -> bool {
    matches!(shape, KeyShape::Text | KeyShape::Choice(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(key: &str, raw: &str) -> Value {
        let mut problems = Vec::new();
        let tree = tree(key, raw, &mut problems);
        assert_eq!(problems, []);
        key.split('.').fold(tree, |tree, name| tree[name].clone())
    }

    #[test]
    fn config_override_values_are_toml_or_words() {
        let cases = [
            ("gc.soft", "0.05", json!(0.05)),
            ("gc.soft", ".05", json!(0.05)),
            ("gc.soft", "5", json!(5)),
            ("device.read_ns", "25_000", json!(25_000)),
            ("gc.merge", " true ", json!(true)),
            ("gc.scope", "none", json!("none")),
            ("gc.scope", "\"none\"", json!("none")),
            ("gc.suspend", "[\"read\", \"erase\"]", json!(["read", "erase"])),
            ("gc.suspend", "[read, erase]", json!(["read", "erase"])),
            ("gc.suspend", "[]", json!([])),
            ("device.read_ns_by_page", "[1, 2]", json!([1, 2])),
            ("workload.size_table", "[[4, 1], [8, 0.5]]", json!([[4, 1], [8, 0.5]])),
            ("workload.device", "0", json!("0")),
            ("workload.device", "1979-05-27", json!("1979-05-27")),
            ("workload.trace", "a dir/x.csv", json!("a dir/x.csv")),
            ("workload.trace", "null", json!(null)),
            ("ftl.precondition.range", "null", json!(null)),
            ("gc.scope", "null", json!("null")),
        ];
        for (key, raw, value) in cases {
            assert_eq!(parsed(key, raw), value, "{key}={raw}");
        }
    }
}
