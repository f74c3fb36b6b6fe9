//! Finds the name that the user may have meant for one that does not exist.

use std::borrow::Borrow;
use std::sync::LazyLock;

use super::node::{Node, root};

/// The message for a key or section that does not exist.
pub(super) fn unknown(path: &str) -> String {
    if let (Some(key), Some((section, name))) = (root().find(path), path.rsplit_once('.')) {
        // Quoted in TOML, or a dictionary's key: the dots are part of the name.
        return format!("{}: a name may not have dots here; put {name} into the section {section}", key.path);
    }
    let near = nearest_keys(path);
    if !near.is_empty() {
        return format!("{path}: unknown key; did you mean {}?", near.join(" or "));
    }
    let section = path.rsplit_once('.').and_then(|(section, _)| root().find(section)).unwrap_or(root());
    let names: Vec<_> = section.children().iter().map(Node::name).collect();
    let of = if section.path.is_empty() { "the sections are".to_string() } else { format!("{} has", section.path) };
    format!("{path}: unknown key; {of} {}", names.join(", "))
}

/// The message for an unknown table whose name is close to that of a section; `None` if it is close to none.
pub(super) fn unknown_section(path: &str) -> Option<String> {
    let sections = root().sections();
    let near = nearest(path, sections.iter().map(|section| section.path.as_str()))?;
    Some(format!("{path}: unknown section; did you mean {near}?"))
}

/// The candidate closest to `name`, if it is close enough for a typing error.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    closest(name, candidates.map(|candidate| (Letters::of(candidate), candidate)))
}

/// The value of the candidate whose letters are closest to those of `name`, if they are close enough for a typing error.
fn closest<T>(name: &str, candidates: impl Iterator<Item = (impl Borrow<Letters>, T)>) -> Option<T> {
    let (written, most) = (Letters::of(name), slips(name));
    let near = candidates.filter_map(|(letters, candidate)| Some((written.slips_to(letters.borrow(), most)?, candidate)));
    near.min_by_key(|(slips, _)| *slips).map(|(_, best)| best)
}

/// A key, and the letters with which a name is compared.
struct Key {
    path: &'static str,
    whole: Letters,
    last: Letters,
}

fn keys() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
        let keys = root().keys();
        keys.iter().map(|key| Key { path: &key.path, whole: Letters::of(&key.path), last: Letters::of(key.name()) }).collect()
    });
    &KEYS
}

/// The keys that the author of `path` may have meant: the same letters, else the same last part in another section, else a few letters
/// different.
fn nearest_keys(path: &str) -> Vec<&'static str> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let (whole, last) = (Letters::of(path), Letters::of(name));
    let same_letters: Vec<_> = keys().iter().filter(|key| key.whole == whole).map(|key| key.path).collect();
    if !same_letters.is_empty() {
        return same_letters;
    }
    let same_last: Vec<_> = keys().iter().filter(|key| key.last == last).map(|key| key.path).collect();
    if !same_last.is_empty() {
        return same_last;
    }
    let near = closest(path, keys().iter().map(|key| (&key.whole, key.path)));
    near.or_else(|| closest(&last.plain, keys().iter().map(|key| (&key.last, key.path)))).into_iter().collect()
}

/// The letters and digits of a name in lower case, to compare names of different spelling styles.
#[derive(PartialEq)]
struct Letters {
    plain: String,
    count: usize,
    /// Set of the letters, as bits: a letter has the bit of its code modulo 64.
    kinds: u64,
}

impl Letters {
    fn of(name: &str) -> Self {
        let plain: String = name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        let kinds = plain.chars().fold(0, |kinds, letter| kinds | 1 << (u32::from(letter) % u64::BITS));
        Self { count: plain.chars().count(), plain, kinds }
    }

    /// Number of typing errors (edit distance with transpositions) from one name to the other; `None` above `most`.
    fn slips_to(&self, other: &Self, most: usize) -> Option<usize> {
        // An error changes the length by one at most, and exchanges one letter for another at most: that decides most names.
        let may_be = self.count.abs_diff(other.count) <= most && (self.kinds ^ other.kinds).count_ones() as usize <= 2 * most;
        may_be.then(|| strsim::osa_distance(&self.plain, &other.plain)).filter(|&slips| slips <= most)
    }
}

/// Number of typing errors with which a name of this length is still recognised.
fn slips(name: &str) -> usize {
    match name.len() {
        0..=2 => 0,
        3..=4 => 1,
        5..=9 => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn config_unknown_keys_are_guessed() {
        let cases = [
            ("gc.sfot", "gc.sfot: unknown key; did you mean gc.soft?"),
            ("gc_soft", "gc_soft: unknown key; did you mean gc.soft?"),
            ("soft", "soft: unknown key; did you mean gc.soft?"),
            ("GC.Soft", "GC.Soft: unknown key; did you mean gc.soft?"),
            ("scheduler.soft", "scheduler.soft: unknown key; did you mean gc.soft?"),
            ("device.chanels", "device.chanels: unknown key; did you mean device.channels?"),
            ("pipeline", "pipeline: unknown key; did you mean gc.pipeline or scheduler.pipeline?"),
            ("ftl.kind", "ftl.kind: unknown key; did you mean ftl.precondition.kind?"),
            ("garbage.victm", "garbage.victm: unknown key; did you mean gc.victim?"),
            (
                "scheduler.xyzzy",
                "scheduler.xyzzy: unknown key; scheduler has order, pipeline, alpha, read_queue, write_queue, read_bypass, write_bypass, write_pausing, \
                 suspend, estimates, error_feedback, flow_weights, fair_epoch_us, fair_low_mb_s, fair_ratio",
            ),
            (
                "xyzzy.plugh",
                "xyzzy.plugh: unknown key; the sections are device, ftl, errors, slc, wear, zones, gc, scheduler, cache, buffer, host, energy, power_states, thermal, array, workload",
            ),
            ("cache.polcy", "cache.polcy: unknown key; did you mean cache.policy?"),
        ];
        for (path, message) in cases {
            assert_eq!(unknown(path), message);
        }
    }

    #[test]
    fn config_unknown_sections_are_guessed() {
        assert_eq!(unknown_section("devices").as_deref(), Some("devices: unknown section; did you mean device?"));
        let nested = "precondition: unknown section; did you mean ftl.precondition?";
        assert_eq!(unknown_section("precondition").as_deref(), Some(nested));
        assert_eq!(unknown_section("xyzzy"), None);
    }
}
