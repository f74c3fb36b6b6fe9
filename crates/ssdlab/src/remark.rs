//! Remarks: what a reader must know beside a number that holds only under a condition.
//!
//! A remark is decided where its facts are (the trace reader for units and times, the run for what has not settled), and every table,
//! page and export shows it beside the number that it is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One remark of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// A short name that stays the same between versions: `not-settled`, `overloaded`, `no-times`.
    #[schemars(extend("unit" = "text"))]
    pub code: String,
    /// How much the number may mislead.
    #[schemars(with = "String", extend("unit" = "text"))]
    pub severity: Severity,
    /// The figure that the remark is about, as a path in the result (`gc.write_amplification`); empty for the whole run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(extend("unit" = "text"))]
    pub about: String,
    /// What holds, with its numbers: one sentence.
    #[schemars(extend("unit" = "text"))]
    pub sentence: String,
    /// What to do: one sentence that names keys or options.
    #[schemars(extend("unit" = "text"))]
    pub remedy: String,
}

/// How much a number may mislead without its remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; the number holds.
    Note,
    /// The number holds only under the condition that the sentence states.
    Warning,
}

impl Remark {
    /// A number that holds, and what to know of it.
    pub fn note(code: &str, about: &str, sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, about, sentence.into(), remedy.into())
    }

    /// A number that holds only under a condition.
    pub fn warning(code: &str, about: &str, sentence: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, about, sentence.into(), remedy.into())
    }

    fn new(severity: Severity, code: &str, about: &str, sentence: String, remedy: String) -> Self {
        Remark { code: code.into(), severity, about: about.into(), sentence, remedy }
    }
}
