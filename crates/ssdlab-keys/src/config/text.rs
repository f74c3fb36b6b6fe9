//! Reads TOML text as a JSON tree, and finds positions in it for messages.

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use ssdlab_base::error::{Error, Result};

use super::Problem;
use super::node::join;

/// Parses TOML text; `name`: its name in messages.
///
/// # Errors
/// [`Error::Config`] with line and column of a syntax error.
pub(super) fn parse(name: &str, text: &str) -> Result<toml::Table> {
    text.parse().map_err(|error: toml::de::Error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        let reason = error.message().trim().replace('\n', "; ");
        Error::Config(format!("{name}:{line}:{column}: not valid TOML: {reason}"))
    })
}

/// A TOML value as JSON. Values that JSON cannot express (dates, infinity, NaN) are left out and reported.
pub(super) fn to_json(path: &str, value: toml::Value, problems: &mut Vec<Problem>) -> Option<Value> {
    match value {
        toml::Value::String(text) => Some(text.into()),
        toml::Value::Integer(integer) => Some(integer.into()),
        toml::Value::Boolean(boolean) => Some(boolean.into()),
        toml::Value::Float(float) => Number::from_f64(float).map(Value::Number).or_else(|| {
            refuse(path, &float.to_string(), "must be a finite number", problems);
            None
        }),
        toml::Value::Datetime(date) => {
            refuse(path, &date.to_string(), "no key takes a date; put it in quotes if it is a name", problems);
            None
        }
        toml::Value::Array(values) => {
            let entry = |(index, value)| to_json(&format!("{path}[{index}]"), value, problems);
            Some(Value::Array(values.into_iter().enumerate().filter_map(entry).collect()))
        }
        toml::Value::Table(table) => Some(Value::Object(table_to_json(path, table, problems))),
    }
}

/// A TOML table as JSON. Values that JSON cannot express (dates, infinity, NaN) are left out and reported.
pub(super) fn table_to_json(path: &str, table: toml::Table, problems: &mut Vec<Problem>) -> Map<String, Value> {
    let entry = |(name, value): (String, toml::Value)| {
        let value = to_json(&join(path, &name), value, problems)?;
        Some((name, value))
    };
    table.into_iter().filter_map(entry).collect()
}

fn refuse(path: &str, value: &str, why: &str, problems: &mut Vec<Problem>) {
    problems.push(Problem { key: path.to_string(), message: format!("{path} = {value}: {why}") });
}

/// The line on which a key, or else the section around it, is set, from 1; `None` if the text has neither.
pub(super) fn line_of(text: &str, key: &str) -> Option<usize> {
    let whole = key.split('[').next()?;
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut found = None;
    for name in whole.split('.') {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { break };
        found = Some(position(text, key.span().start).0);
        match value.get_ref() {
            DeValue::Table(below) => table = below,
            _ => break,
        }
    }
    found
}

/// Line and column, from 1, of a byte offset.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}
