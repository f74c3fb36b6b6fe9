//! The configuration as JSON: how results carry it and how Python hands it over.

use serde_json::Value;

use crate::error::{Error, Result};

use super::check::normalise;
use super::validate::all_or;
use super::{Config, check, validate};

impl Config {
    /// Reads a configuration from JSON text. Keys that are not given have their defaults; a written configuration reads back equal.
    ///
    /// # Errors
    /// [`Error::Config`] with one line for each problem.
    pub fn from_json(text: &str) -> Result<Config> {
        let tree = serde_json::from_str(text).map_err(|error| Error::Config(format!("the configuration is not valid JSON: {error}")))?;
        Config::from_value(tree)
    }

    /// Reads a configuration from a JSON tree, as [`Config::from_json`].
    ///
    /// # Errors
    /// [`Error::Config`] with one line for each problem.
    pub fn from_value(mut tree: Value) -> Result<Config> {
        all_or(check(&tree).into_iter().map(|problem| problem.message).collect())?;
        normalise(&mut tree);
        let config = serde_json::from_value(tree).map_err(|error| Error::Config(format!("the configuration cannot be read: {error}")))?;
        validate(&config)?;
        Ok(config)
    }

    /// The whole configuration as JSON text, every key included.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a configuration is a JSON object")
    }
}
