//! The version that results name.

use std::sync::OnceLock;

static VERSION: OnceLock<String> = OnceLock::new();

/// The version of the workspace, and the commit if the program told it by [`built_from`]: `1.1.0.dev0+g1a2b3c4` (PEP 440).
#[must_use]
pub fn version() -> &'static str {
    VERSION.get_or_init(|| labelled(""))
}

/// Adds a commit to the version of all results of this program; call it before the first. An empty label adds nothing.
///
/// The commit comes from the program and not from a build script here: each commit would compile all crates again.
pub fn built_from(label: &str) {
    VERSION.get_or_init(|| labelled(label));
}

fn labelled(label: &str) -> String {
    // Cargo writes `1.1.0-dev0` for what Python's packages call `1.1.0.dev0`.
    let version = env!("CARGO_PKG_VERSION").replacen('-', ".", 1);
    if label.is_empty() { version } else { format!("{version}+{label}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_becomes_a_local_label() {
        let plain = labelled("");
        assert!(plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.'), "{plain}");
        assert_eq!(labelled("g1a2b3c4.dirty"), format!("{plain}+g1a2b3c4.dirty"));
    }
}
