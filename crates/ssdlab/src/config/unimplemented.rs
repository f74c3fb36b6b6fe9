//! Keys and values that the tree has but this version does not simulate. They are refused rather than ignored.
//!
//! This is the only place that knows of them: implementing one means taking its line out of [`RULES`].

use serde_json::Value;

use super::check::{flow_key, show};
use super::node::{Node, Shape, root};

/// A key of which this version does not simulate every value.
#[derive(Debug)]
pub struct Rule {
    /// The key.
    pub key: &'static str,
    /// What is simulated.
    pub available: Available,
}

/// The values of a key that are simulated.
#[derive(Debug)]
pub enum Available {
    /// These names.
    Only(&'static [&'static str]),
    /// All names but these.
    AllBut(&'static [&'static str]),
    /// The default.
    Default,
}

/// Every restriction of this version.
pub const RULES: &[Rule] = &[];

/// One message for each value of a complete, checked tree that this version does not simulate.
pub(super) fn refusals(tree: &Value) -> Vec<String> {
    RULES.iter().flat_map(|rule| rule.refusals(tree)).collect()
}

/// The names of a key's choices (in a list: of its entries' choices) that this version refuses.
pub(super) fn refused_choices(node: &Node) -> Vec<String> {
    let Some(rule) = RULES.iter().find(|rule| rule.key == node.path) else { return Vec::new() };
    let (choices, entries) = match &node.shape {
        Shape::Choice(choices) => (choices, false),
        Shape::List(entry) => match entry.as_ref() {
            Shape::Choice(choices) => (choices, true),
            _ => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let value = |name: &str| if entries { Value::from(vec![name]) } else { name.into() };
    choices.iter().map(|choice| choice.name.clone()).filter(|name| !rule.accepts(&value(name))).collect()
}

impl Rule {
    fn refusals(&self, tree: &Value) -> Vec<String> {
        let mut refusals: Vec<_> = self.refusal(self.key, at(tree, self.key)).into_iter().collect();
        let Some(name) = self.key.strip_prefix("workload.").filter(|name| flow_key(name).is_some()) else { return refusals };
        let flows = at(tree, "workload.flows").and_then(Value::as_array).into_iter().flatten().enumerate();
        refusals.extend(flows.filter_map(|(index, flow)| self.refusal(&format!("workload.flows[{index}].{name}"), flow.get(name))));
        refusals
    }

    fn refusal(&self, path: &str, value: Option<&Value>) -> Option<String> {
        let value = value.filter(|value| !self.accepts(value))?;
        let instead = match &self.available {
            Available::Default => format!("leave it at {}", show(self.default())),
            Available::Only(_) | Available::AllBut(_) => format!("available now: {}", self.names().join(", ")),
        };
        Some(format!("{path} = {}: not in this version; {instead}", show(value)))
    }

    fn accepts(&self, value: &Value) -> bool {
        match &self.available {
            Available::Only(names) => value.as_str().is_some_and(|name| names.contains(&name)),
            Available::AllBut(names) => value.as_str().is_some_and(|name| !names.contains(&name)),
            Available::Default => value == self.default(),
        }
    }

    fn default(&self) -> &'static Value {
        root().find(self.key).map_or(&Value::Null, |node| &node.default)
    }

    /// The names that are simulated, in quotes.
    pub(super) fn names(&self) -> Vec<String> {
        let Some(Shape::Choice(choices)) = root().find(self.key).map(|node| &node.shape) else { return Vec::new() };
        let names = choices.iter().map(|choice| Value::from(choice.name.as_str()));
        names.filter(|name| self.accepts(name)).map(|name| name.to_string()).collect()
    }
}

fn at<'a>(tree: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(tree, |tree, name| tree.get(name))
}
