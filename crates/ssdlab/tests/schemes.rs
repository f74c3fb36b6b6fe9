//! What `docs/schemes.md` shows is what the presets set and what the drive does: its table and its drawings are made again and compared. To
//! renew them: `UPDATE=1 cargo test --release --test main schemes`.

#[allow(dead_code)]
#[path = "../examples/timelines.rs"]
mod timelines;

use std::path::{Path, PathBuf};

use ssdlab::config::Config;
use ssdlab::config::presets::{Kind, list, text};

const RENEW: &str = "run `UPDATE=1 cargo test --release --test main schemes`";
const BEGIN: &str = "<!-- schemes: written by the test `schemes` -->\n";
const END: &str = "<!-- end of schemes -->\n";
/// The axes that have a column. What else a preset sets is named in the last one.
const AXES: [&str; 6] = ["gc.scope", "gc.priority", "gc.suspend", "gc.pipeline", "gc.merge", "gc.hard"];
/// Axes that few presets set: a column for each would make the table wider than its page.
const FURTHER: [&str; 7] = ["gc.begin", "gc.until", "gc.advance", "gc.moves_in_flight", "gc.trigger", "gc.victim", "scheduler.order"];
/// By paper, from the baseline to the proposal. A preset that is not named comes at the end.
const ORDER: &str = "npgc pgc-none pgc-merge pgc-pipeline pgc pgc-se fpgc npgc-idle pgc-idle npgc-wear pgc-wear msr \
                     cbgc pbgc bbgc dqgc bbgc-dqgc cep rwp fcfs fr-fcfs \
                     dynalloc dynalloc-slacker rbyp rbyp-wp slacker wbyp wp lru cflru bplru fab gcar-lru gcar-cflru gcar-bplru gcar-fab";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/schemes.md")
}

fn update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// A value as on the command line, without quotes.
fn word(value: &str) -> String {
    value.replace('"', "")
}

fn row(name: &str, value: impl Fn(&str) -> Option<String>, rest: &str) -> String {
    let cells: Vec<String> = AXES.iter().map(|axis| value(axis).unwrap_or_default()).collect();
    format!("| {name} | {} | {rest} |\n", cells.join(" | "))
}

fn table() -> String {
    let names: Vec<&str> = AXES.iter().map(|axis| axis.split_once('.').expect("a section").1).collect();
    let mut lines = format!("| scheme | {} | besides |\n{}|\n", names.join(" | "), "|---".repeat(AXES.len() + 2));
    let defaults = Config::default().to_value();
    let default = |axis: &str| {
        let (section, key) = axis.split_once('.')?;
        Some(word(&defaults[section][key].to_string().replace("0.0", "0")))
    };
    let further = FURTHER.map(|axis| format!("`{axis}={}`", default(axis).expect("it has a default")));
    lines += &row("*default*", default, &further.join(" "));
    let mut schemes: Vec<String> = list(Kind::Scheme).iter().map(|preset| preset.name.to_string()).collect();
    let rank = |name: &str| ORDER.split_whitespace().position(|other| other == name).unwrap_or(usize::MAX);
    schemes.sort_by_key(|name| (rank(name), name.clone()));
    for scheme in &schemes {
        let preset: toml::Table = text(Kind::Scheme, scheme).expect("a preset").parse().expect("TOML");
        let mut set = Vec::new();
        for (section, keys) in preset.iter().filter_map(|(name, value)| value.as_table().map(|keys| (name, keys))) {
            set.extend(keys.iter().map(|(key, value)| (format!("{section}.{key}"), word(&value.to_string()))));
        }
        let value = |axis: &str| set.iter().find(|(key, _)| key == axis).map(|(_, value)| value.clone());
        let rest: Vec<String> =
            set.iter().filter(|(key, _)| !AXES.contains(&key.as_str())).map(|(key, value)| format!("`{key}={value}`")).collect();
        lines += &row(&format!("`{scheme}`"), value, &rest.join(" "));
    }
    lines
}

#[test]
fn the_table_is_that_of_the_presets() {
    let found = std::fs::read_to_string(page()).expect("the page can be read");
    let (before, rest) = found.split_once(BEGIN).expect("the table's begin");
    let (_, after) = rest.split_once(END).expect("the table's end");
    let expected = format!("{before}{BEGIN}\n{}\n{END}{after}", table());
    if update() {
        std::fs::write(page(), &expected).expect("the page can be written");
        return;
    }
    assert!(found == expected, "the table of docs/schemes.md is not that of presets/schemes: {RENEW}");
}

#[test]
fn the_drawings_are_what_the_drive_does() {
    let files = timelines::files();
    for (name, text) in &files {
        let path = timelines::folder().join(name);
        if update() {
            std::fs::write(&path, text).expect("the drawing can be written");
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == *text, "docs/images/schemes/{name} is not current: {RENEW}");
    }
    let there = std::fs::read_dir(timelines::folder()).expect("the folder can be read").count();
    assert_eq!(there, files.len(), "docs/images/schemes has files that nobody draws");
    if !update() {
        let page = std::fs::read_to_string(page()).expect("the page can be read");
        let missing: Vec<_> =
            files.iter().map(|(name, _)| name).filter(|name| !page.contains(&format!("(images/schemes/{name})"))).collect();
        assert!(missing.is_empty(), "docs/schemes.md does not show {missing:?}");
    }
}
