//! Reads and writes the configuration as JSON, as results and the Python package have it.

use serde_json::Value;

use ssdlab_base::error::{Error, Result};

use super::check::normalise;
use super::validate::{all_or, validate_at_any_size};
use super::{Config, check, validate};

impl Config {
    /// Reads a configuration from JSON text. Missing keys have their defaults; a written configuration reads back equal.
    ///
    /// # Errors
    /// [`Error::Config`] with one line for each problem.
    pub fn from_json(text: &str) -> Result<Config> {
        let tree = serde_json::from_str(text).map_err(|error| Error::Config(format!("the configuration is not valid JSON: {error}")))?;
        Config::from_value(tree)
    }

    /// Reads a configuration from a JSON tree. Missing keys have their defaults.
    ///
    /// # Errors
    /// [`Error::Config`] with one line for each problem.
    pub fn from_value(tree: Value) -> Result<Config> {
        let config = Self::from_value_of_any_size(tree)?;
        validate(&config)?;
        Ok(config)
    }

    /// Reads a configuration from a JSON tree and checks all of it, except whether the drive has enough spare blocks.
    ///
    /// # Errors
    /// [`Error::Config`] with one line for each problem.
    pub(super) fn from_value_of_any_size(mut tree: Value) -> Result<Config> {
        all_or(check(&tree).into_iter().map(|problem| problem.message).collect())?;
        normalise(&mut tree);
        let config = serde_json::from_value(tree).map_err(|error| Error::Config(format!("the configuration cannot be read: {error}")))?;
        validate_at_any_size(&config)?;
        Ok(config)
    }

    /// The configuration as a JSON tree, as in results: absent values are left out, not null.
    pub fn to_value(&self) -> Value {
        let mut tree = serde_json::to_value(self).expect("a configuration is a JSON object");
        remove_nulls(&mut tree);
        tree
    }

    /// The configuration as JSON text with every key: absent values are null.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a configuration is a JSON object")
    }
}

fn remove_nulls(value: &mut Value) {
    if let Value::Object(entries) = value {
        entries.retain(|_, entry| !entry.is_null());
        entries.values_mut().for_each(remove_nulls);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_a_value_without_nulls_reads_back_equal() {
        let config = Config::default();
        assert!(config.to_json().contains("null"));
        assert!(!config.to_value().to_string().contains("null"));
        assert_eq!(Config::from_value(config.to_value()).unwrap(), config);
    }
}
