//! Builds a configuration from layers, each over the layers before it.
//!
//! The order: defaults, the device preset, the scheme presets, the workload preset, the user's file, single keys set by hand. A later layer
//! replaces key by key; schemes are of one rank, so that two schemes with different values of a key are an error.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use ssdlab_base::error::{Error, Result};

use super::node::{KeyShape, Node, join, root};
use super::presets::{self, Kind};
use super::validate::all_or;
use super::{Config, Problem, aliases, amounts, check, overrides, text, workload_rules};

/// The layers of a configuration, as a user gives them. Keys that no layer sets have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layers {
    /// A device preset: a name, or the path of a TOML file (it has a `/` or ends in `.toml`).
    pub device: Option<String>,
    /// Scheme presets: names, or paths of TOML files (with a `/`, or ending in `.toml`). One string may name several, joined by `+`.
    pub schemes: Vec<String>,
    /// A workload preset: a name, or the path of a TOML file (it has a `/` or ends in `.toml`).
    pub workload: Option<String>,
    /// The name (for messages) and text of a TOML file that may set any key.
    pub file: Option<(String, String)>,
    /// Keys set by hand, `("gc.soft", "0.05")`. Values are TOML or plain words; of several values for a key the last counts.
    pub set: Vec<(String, String)>,
}

/// The keys that one layer sets.
#[derive(Debug)]
struct Layer {
    /// Name of the layer for messages: `scheme npgc`.
    name: String,
    /// Names and values of the keys.
    values: Vec<(String, Value)>,
    /// The user wrote the layer: it is not a preset that comes with ssdlab.
    own: bool,
}

/// A configuration, and the keys that the user wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// The checked configuration.
    pub config: Config,
    /// Names of the keys in the user's own files or set by hand, in the order of the layers; a name may occur twice.
    pub written: Vec<String>,
}

impl Layers {
    /// Merges and checks the layers.
    ///
    /// # Errors
    /// [`Error::Config`] with one line for each problem found, each with its layer and, in a file, the line; [`Error::Io`] if a preset file
    /// cannot be read; [`Error::Usage`] for keys set by hand that have no effect in this workload.
    pub fn build(&self) -> Result<Config> {
        Ok(self.build_noting_keys()?.config)
    }

    /// Merges and checks the layers; returns the keys that the user wrote as well.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_noting_keys(&self) -> Result<Built> {
        self.build_checked(Config::from_value)
    }

    /// Merges and checks the layers for a drive whose number of blocks and over-provisioning are still to be found ([`super::Fit`]):
    /// whether it has enough spare blocks is not checked. Returns the keys that the user wrote as well.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_of_any_size(&self) -> Result<Built> {
        self.build_checked(Config::from_value_of_any_size)
    }

    fn build_checked(&self, read: fn(Value) -> Result<Config>) -> Result<Built> {
        let mut messages = Vec::new();
        let layers = self.layers(&mut messages)?;
        all_or(messages)?;
        let by_hand = layers.last().into_iter().flat_map(|layer| &layer.values).filter(|(_, value)| !value.is_null());
        let by_hand: Vec<String> = by_hand.map(|(key, _)| key.clone()).collect();
        let own = layers.iter().filter(|layer| layer.own).flat_map(|layer| &layer.values).filter(|(_, value)| !value.is_null());
        let written = own.map(|(key, _)| key.clone()).collect();
        let mut tree = serde_json::to_value(Config::default()).expect("a configuration is a JSON object");
        for (key, value) in layers.into_iter().flat_map(|layer| layer.values) {
            put(&mut tree, &key, value);
        }
        presets_of_flows(&mut tree)?;
        let config = read(tree)?;
        match workload_rules::refused(by_hand.iter().map(String::as_str), &config.workload) {
            Some(message) => Err(Error::Usage(message)),
            None => Ok(Built { config, written }),
        }
    }

    fn layers(&self, messages: &mut Vec<String>) -> Result<Vec<Layer>> {
        let mut layers = Vec::new();
        if let Some(device) = &self.device {
            layers.extend(keep(preset(Kind::Device, device), messages)?);
        }
        layers.extend(self.scheme_layers(messages)?);
        if let Some(workload) = &self.workload {
            layers.extend(keep(preset(Kind::Workload, workload), messages)?);
        }
        if let Some((name, content)) = &self.file {
            layers.extend(keep(file(name, content), messages)?);
        }
        layers.extend(keep(by_hand(&self.set), messages)?);
        Ok(layers)
    }

    fn scheme_layers(&self, messages: &mut Vec<String>) -> Result<Vec<Layer>> {
        let mut layers = Vec::new();
        for name in self.schemes.iter().flat_map(|schemes| schemes.split('+')) {
            layers.extend(keep(preset(Kind::Scheme, name.trim()), messages)?);
        }
        messages.extend(conflicts(&layers));
        Ok(layers)
    }
}

/// Collects the message of an invalid layer, so that the problems of the other layers are reported with it.
///
/// # Errors
/// Any error but [`Error::Config`].
fn keep(layer: Result<Layer>, messages: &mut Vec<String>) -> Result<Option<Layer>> {
    match layer {
        Ok(layer) => Ok(Some(layer)),
        Err(Error::Config(message)) => {
            messages.push(message);
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// A message for each key that two layers set to different values.
fn conflicts(layers: &[Layer]) -> Vec<String> {
    let mut first: BTreeMap<&str, (&str, &Value)> = BTreeMap::new();
    let mut messages = Vec::new();
    for layer in layers {
        for (key, value) in &layer.values {
            let (name, before) = *first.entry(key).or_insert((&layer.name, value));
            if before != value {
                let other = &layer.name;
                messages.push(format!("{key}: {name} sets {before} and {other} sets {value}; leave out one of the schemes"));
            }
        }
    }
    messages
}

fn preset(kind: Kind, name: &str) -> Result<Layer> {
    if name.is_empty() {
        return Err(Error::Config(format!("{} \"\": expected the name of a preset, or the path of a TOML file", kind.name())));
    }
    let content;
    let own = name.contains('/') || name.ends_with(".toml");
    let (label, text) = if own {
        let path = Path::new(name);
        content = std::fs::read_to_string(path).map_err(|error| Error::io("read", path, error))?;
        (name.to_string(), content.as_str())
    } else {
        (format!("{}/{name}.toml", kind.plural()), presets::text(kind, name)?)
    };
    let mut table = text::parse(&label, text)?;
    presets::take_head(&mut table);
    let values = values(&label, text, table, |key| (!kind.may_set(key)).then(|| not_allowed(kind, key)))?;
    Ok(Layer { name: format!("{} {name}", kind.name()), values, own })
}

/// Adds the keys of a workload preset below those of each flow that begins with one (`preset`).
///
/// # Errors
/// [`Error::Config`] if a preset does not exist or is invalid; [`Error::Io`] if its file cannot be read.
fn presets_of_flows(tree: &mut Value) -> Result<()> {
    let flows = tree.pointer_mut("/workload/flows").and_then(Value::as_array_mut);
    for keys in flows.into_iter().flatten().filter_map(Value::as_object_mut) {
        let Some(Value::String(name)) = keys.remove(check::PRESET) else { continue };
        for (key, value) in preset(Kind::Workload, &name)?.values {
            keys.entry(key.trim_start_matches("workload.")).or_insert(value);
        }
    }
    Ok(())
}

fn not_allowed(kind: Kind, key: &str) -> String {
    let by = Kind::ALL.into_iter().find(|kind| kind.may_set(key)).map(|kind| format!("; put it into a {} preset", kind.name()));
    format!("{key}: a {} preset sets only {}{}", kind.name(), kind.scope(), by.unwrap_or_default())
}

fn file(name: &str, content: &str) -> Result<Layer> {
    let values = values(name, content, text::parse(name, content)?, |_| None)?;
    Ok(Layer { name: name.to_string(), values, own: true })
}

/// The checked values of a TOML text; messages begin with its label and the line. `refusal`: the message for a key that the text may not
/// set.
///
/// # Errors
/// [`Error::Config`] with one line for each problem.
fn values(label: &str, content: &str, table: toml::Table, refusal: impl Fn(&str) -> Option<String>) -> Result<Vec<(String, Value)>> {
    let mut problems = Vec::new();
    let tree = Value::Object(text::table_to_json("", table, &mut problems));
    let values = checked(tree, &mut problems);
    for (key, _) in &values {
        if let Some(message) = refusal(key) {
            problems.push(Problem { key: key.clone(), message });
        }
    }
    // TOML tables are sorted by name; messages are sorted by line.
    let mut located: Vec<_> = problems.into_iter().map(|problem| (text::line_of(content, &problem.key), problem)).collect();
    located.sort_by_key(|(line, _)| *line);
    let message = |(line, problem): (Option<usize>, Problem)| match line {
        Some(line) => format!("{label}:{line}: {problem}"),
        None => format!("{label}: {problem}"),
    };
    all_or(located.into_iter().map(message).collect())?;
    Ok(values)
}

fn by_hand(set: &[(String, String)]) -> Result<Layer> {
    let mut problems = Vec::new();
    let mut values = Vec::new();
    for (key, raw) in set {
        let tree = overrides::tree(key.trim(), raw, &mut problems);
        values.extend(checked(tree, &mut problems));
    }
    all_or(problems.into_iter().map(|problem| problem.message).collect())?;
    Ok(Layer { name: "set by hand".into(), values, own: true })
}

/// The keys that settings by hand name; of a setting with a table, each key in it.
///
/// # Errors
/// [`Error::Config`] if a setting cannot be read.
pub(super) fn keys_by_hand(set: &[(String, String)]) -> Result<Vec<String>> {
    Ok(by_hand(set)?.values.into_iter().map(|(key, _)| key).collect())
}

/// The keys of a tree with their values; none of them if the tree has a problem.
fn checked(mut tree: Value, problems: &mut Vec<Problem>) -> Vec<(String, Value)> {
    let before = problems.len();
    aliases::resolve(&mut tree, problems);
    amounts::resolve(&mut tree, problems);
    let found = check(&tree);
    if problems.len() > before || !found.is_empty() {
        problems.extend(found);
        return Vec::new();
    }
    super::check::normalise(&mut tree);
    let mut values = Vec::new();
    if let Value::Object(entries) = tree {
        flatten(root(), entries, &mut values);
    }
    values
}

fn flatten(section: &Node, entries: Map<String, Value>, values: &mut Vec<(String, Value)>) {
    for (name, value) in entries {
        match (section.child(&name), value) {
            (Some(node), Value::Object(entries)) if matches!(node.shape, KeyShape::Table(_)) => flatten(node, entries, values),
            (_, value) => values.push((join(&section.path, &name), value)),
        }
    }
}

fn put(tree: &mut Value, key: &str, value: Value) {
    // The tree holds every section, since it began with the defaults.
    *key.split('.').fold(tree, |tree, name| &mut tree[name]) = value;
}
