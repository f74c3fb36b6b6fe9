//! Keys whose change may leave every result as it is, each with its reason. A key that is not listed must change something:
//! an end-to-end test perturbs them all.

use std::sync::LazyLock;

use super::unimplemented::{Available, RULES};

/// Pairs of a key and the reason why changing it may change no result.
pub fn reasons() -> &'static [(&'static str, &'static str)] {
    static REASONS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| RULES.iter().filter_map(refused).collect());
    &REASONS
}

/// Of a key that has one value only, any change is refused; one that has several must still be felt.
fn refused(rule: &super::unimplemented::Rule) -> Option<(&'static str, &'static str)> {
    let single = match rule.available {
        Available::Only(names) => names.len() == 1,
        Available::AllBut(_) => false,
        Available::Default => true,
    };
    single.then_some((rule.key, "not in this version: every value but the default is refused"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn config_refused_keys_have_a_reason() {
        let keys: Vec<_> = super::reasons().iter().map(|(key, _)| *key).collect();
        assert!(keys.contains(&"gc.hard") && keys.contains(&"gc.merge"));
        assert!(!keys.contains(&"gc.scope"), "scope has values to choose from");
    }
}
