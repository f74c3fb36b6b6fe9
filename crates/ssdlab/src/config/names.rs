//! Names that do not exist: what the user may have meant.

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

/// The message for a table that is no section, if its name is close to that of one.
pub(super) fn unknown_section(path: &str) -> Option<String> {
    let sections = root().sections();
    let near = nearest(path, sections.iter().map(|section| section.path.as_str()))?;
    Some(format!("{path}: unknown section; did you mean {near}?"))
}

/// The name closest to `name`, if it is close enough for a slip of the keyboard.
pub(super) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (written, slips) = (plain(name), slips(name));
    let letters = |text: &str| text.chars().count();
    let distance = |candidate: &str| {
        let candidate = plain(candidate);
        // Each slip changes the length by one at most, and most candidates are much longer or shorter.
        let is_near = letters(&candidate).abs_diff(letters(&written)) <= slips;
        is_near.then(|| strsim::osa_distance(&written, &candidate)).filter(|&distance| distance <= slips)
    };
    let near = candidates.filter_map(|candidate| Some((distance(candidate)?, candidate)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, best)| best)
}

/// The keys that someone who wrote `path` may have meant: the same letters, else the same last part in another section,
/// else a few letters off.
fn nearest_keys(path: &str) -> Vec<&'static str> {
    let last = plain(path.rsplit('.').next().unwrap_or(path));
    let keys = root().keys();
    let all = |matches: &dyn Fn(&Node) -> bool| -> Vec<&'static str> {
        keys.iter().filter(|key| matches(key)).map(|key| key.path.as_str()).collect()
    };
    let same_letters = all(&|key| plain(&key.path) == plain(path));
    if !same_letters.is_empty() {
        return same_letters;
    }
    let same_last = all(&|key| plain(key.name()) == last);
    if !same_last.is_empty() {
        return same_last;
    }
    let whole = nearest(path, keys.iter().map(|key| key.path.as_str()));
    whole.or_else(|| nearest_by_last(&last, &keys)).into_iter().collect()
}

fn nearest_by_last(last: &str, keys: &[&'static Node]) -> Option<&'static str> {
    let near = nearest(last, keys.iter().map(|key| key.name()))?;
    keys.iter().find(|key| key.name() == near).map(|key| key.path.as_str())
}

/// The letters and digits of a name in lower case, to compare names of different spelling styles.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many slips a name of this length may have and still be recognised.
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
                 suspend, estimates, error_feedback",
            ),
            ("xyzzy.plugh", "xyzzy.plugh: unknown key; the sections are device, ftl, gc, scheduler, cache, buffer, host, array, workload"),
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
