//! Keys in the units of data sheets (`device.read_us`), each converted to the key of the tree (`device.read_ns`) when text is read.
//!
//! Nothing behind this file knows of them: presets, results and the schema have the key of the tree alone.

use serde_json::{Value, json};

use super::check::{check, expected, show};
use super::node::root;
use super::{Problem, text};

/// A key in the unit of a data sheet.
pub(super) struct Alias {
    /// Whole name of the alias.
    pub path: &'static str,
    /// Whole name of the key that it sets.
    pub key: &'static str,
    /// Type of the value, for the reference.
    pub kind: &'static str,
    /// Meaning of the value, with its unit.
    pub about: &'static str,
    convert: fn(&Value) -> Option<u64>,
}

/// All aliases, in the order of the reference.
pub(super) const ALIASES: [Alias; 6] = [
    Alias {
        path: "device.read_us",
        key: "device.read_ns",
        kind: "number",
        about: "Array time of a page read (tR), us.",
        convert: |value| scaled(value, 1e3),
    },
    Alias {
        path: "device.program_us",
        key: "device.program_ns",
        kind: "number",
        about: "Array time of a program (tPROG), us.",
        convert: |value| scaled(value, 1e3),
    },
    Alias {
        path: "device.program_ms",
        key: "device.program_ns",
        kind: "number",
        about: "Array time of a program (tPROG), ms.",
        convert: |value| scaled(value, 1e6),
    },
    Alias {
        path: "device.erase_us",
        key: "device.erase_ns",
        kind: "number",
        about: "Array time of a block erase (tBERS), us.",
        convert: |value| scaled(value, 1e3),
    },
    Alias {
        path: "device.erase_ms",
        key: "device.erase_ns",
        kind: "number",
        about: "Array time of a block erase (tBERS), ms.",
        convert: |value| scaled(value, 1e6),
    },
    Alias {
        path: "device.transfer_mt_s",
        key: "device.transfer_ps_per_byte",
        kind: "number, or string",
        about: "Transfer rate of a channel, MT/s, on a bus of 8 bits: 1200, or of 16: \"400x16\". The time of a byte is 1,000,000 / rate ps on \
                8 bits, and half of that on 16, rounded to the nearest ps.",
        convert: ps_per_byte,
    },
];

/// There is an alias of this name.
pub(super) fn exists(path: &str) -> bool {
    ALIASES.iter().any(|alias| alias.path == path)
}

/// The raw tree of an alias set by hand.
pub(super) fn tree(path: &str, raw: &str, problems: &mut Vec<Problem>) -> Value {
    let value = match raw.parse::<toml::Value>() {
        Ok(parsed) => text::to_json(path, parsed, problems),
        Err(_) => Some(raw.into()),
    };
    value.map_or_else(|| json!({}), |value| path.rsplit('.').fold(value, |tree, name| json!({ name: tree })))
}

/// Replaces aliases by the keys that they set. An alias beside its key, or beside another alias of it, is reported.
pub(super) fn resolve(tree: &mut Value, problems: &mut Vec<Problem>) {
    for alias in &ALIASES {
        let (section, name) = split(alias.path);
        let Some(entries) = tree.get_mut(section).and_then(Value::as_object_mut) else { continue };
        let Some(value) = entries.remove(name) else { continue };
        let key = split(alias.key).1;
        let refused = if entries.contains_key(key) {
            Some(format!("{} = {}: {} is set too, here or in another unit; leave one of them out", alias.path, show(&value), alias.key))
        } else {
            match (alias.convert)(&value) {
                Some(number) => {
                    entries.insert(key.into(), number.into());
                    out_of_range(alias, &value, number)
                }
                None => Some(format!("{} = {}: must be {} ({})", alias.path, show(&value), form(alias), alias.about)),
            }
        };
        if let Some(message) = refused {
            entries.insert(key.into(), root().find(alias.key).expect("a test checks it").default.clone()); // refused once is enough
            problems.push(Problem { key: alias.path.into(), message });
        }
    }
}

fn out_of_range(alias: &Alias, value: &Value, number: u64) -> Option<String> {
    let (section, key) = split(alias.key);
    let node = root().find(alias.key).expect("a test checks it");
    let is_valid = check(&json!({ section: { key: number } })).is_empty();
    let message = || format!("{} = {}: is {} = {number}, which must be {}", alias.path, show(value), alias.key, expected(&node.shape));
    (!is_valid).then(message)
}

fn form(alias: &Alias) -> &'static str {
    if alias.key == "device.transfer_ps_per_byte" {
        "a number above 0, or such a number with x8 or x16 behind it"
    } else {
        "a number above 0"
    }
}

fn split(path: &'static str) -> (&'static str, &'static str) {
    path.split_once('.').expect("every key is in a section")
}

/// `value` x `scale`, rounded to the nearest whole number; `None` if it is not a number above 0.
fn scaled(value: &Value, scale: f64) -> Option<u64> {
    let number = value.as_f64().filter(|number| *number > 0.0)?;
    Some(libm::round(number * scale) as u64)
}

/// Time of a byte, ps, of a rate in MT/s.
fn ps_per_byte(value: &Value) -> Option<u64> {
    let (rate, bits) = match value {
        Value::String(text) => {
            let (rate, bits) = text.split_once('x').unwrap_or((text, "8"));
            (rate.trim().parse().ok()?, bits.trim().parse::<u32>().ok().filter(|bits| [8, 16].contains(bits))?)
        }
        other => (other.as_f64()?, 8),
    };
    let is_rate = rate > 0.0 && f64::is_finite(rate);
    is_rate.then(|| libm::round(8e6 / (rate * f64::from(bits))) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(device: Value) -> (Value, Vec<String>) {
        let (mut tree, mut problems) = (json!({ "device": device }), Vec::new());
        resolve(&mut tree, &mut problems);
        (tree["device"].clone(), problems.into_iter().map(|problem| problem.message).collect())
    }

    #[test]
    fn config_aliases_name_keys_that_exist_and_are_no_keys_themselves() {
        for alias in &ALIASES {
            assert!(root().find(alias.key).is_some(), "{}", alias.key);
            assert!(root().find(alias.path).is_none(), "{}", alias.path);
        }
    }

    #[test]
    fn config_aliases_are_converted_to_the_unit_of_their_key() {
        let cases = [
            (json!({ "read_us": 56.5 }), json!({ "read_ns": 56_500 })),
            (json!({ "program_us": 1900 }), json!({ "program_ns": 1_900_000 })),
            (json!({ "program_ms": 1.9 }), json!({ "program_ns": 1_900_000 })),
            (json!({ "erase_ms": 3.5 }), json!({ "erase_ns": 3_500_000 })),
            (json!({ "erase_us": 3500 }), json!({ "erase_ns": 3_500_000 })),
            (json!({ "transfer_mt_s": 400 }), json!({ "transfer_ps_per_byte": 2500 })),
            (json!({ "transfer_mt_s": 1200 }), json!({ "transfer_ps_per_byte": 833 })),
            (json!({ "transfer_mt_s": "400x16" }), json!({ "transfer_ps_per_byte": 1250 })),
            (json!({ "transfer_mt_s": "400 x8" }), json!({ "transfer_ps_per_byte": 2500 })),
        ];
        for (given, wanted) in cases {
            assert_eq!(resolved(given), (wanted, vec![]));
        }
    }

    #[test]
    fn config_an_alias_beside_its_key_is_refused() {
        let twice = [json!({ "read_us": 56, "read_ns": 56_000 }), json!({ "erase_us": 3500, "erase_ms": 3.5 })];
        for device in twice {
            let (_, messages) = resolved(device);
            assert_eq!(messages.len(), 1);
            assert!(messages[0].ends_with("is set too, here or in another unit; leave one of them out"), "{}", messages[0]);
        }
    }

    #[test]
    fn config_aliases_refuse_what_is_no_rate_or_time() {
        let none = [
            json!({ "read_us": 0 }),
            json!({ "read_us": -3 }),
            json!({ "read_us": "fast" }),
            json!({ "program_us": 0.0001 }),
            json!({ "erase_ms": 1e12 }),
            json!({ "transfer_mt_s": 0 }),
            json!({ "transfer_mt_s": "400x12" }),
            json!({ "transfer_mt_s": "inf" }),
            json!({ "transfer_mt_s": true }),
        ];
        for device in none {
            let (_, messages) = resolved(device.clone());
            assert_eq!(messages.len(), 1, "{device}");
            let name = device.as_object().unwrap().keys().next().unwrap();
            assert!(messages[0].starts_with(&format!("device.{name} = ")), "{}", messages[0]);
        }
    }

    #[test]
    fn config_an_alias_set_by_hand_is_read_like_in_a_file() {
        let mut problems = Vec::new();
        assert_eq!(tree("device.read_us", "56.5", &mut problems), json!({ "device": { "read_us": 56.5 } }));
        assert_eq!(tree("device.transfer_mt_s", "400x16", &mut problems), json!({ "device": { "transfer_mt_s": "400x16" } }));
        assert_eq!(problems, []);
    }
}
