//! The reference of the configuration, made from the schema and the presets.

use super::aliases::ALIASES;
use super::amounts::in_bytes;
use super::check::{range, show};
use super::node::{Bounds, KeyShape, Node, root};
use super::presets::{self, Kind};

const INTRODUCTION: &str = "\
# Configuration

A configuration is one tree of sections and keys. It is the same in TOML, in Python and on the
command line. It is built in layers; each layer replaces keys of the layers before it:

1. defaults,
2. the device preset,
3. the scheme presets,
4. the workload preset,
5. the user's TOML file,
6. single keys set by hand (`--set gc.soft=0.05`). If a key is set several times, the last value
   counts.

A *preset* is a named set of keys. Chip, die, plane, block and page are the parts of flash memory,
from large to small. GC is garbage collection: it empties and erases a block. Other terms are
under [Terms](model/index.md#terms).

- A preset is given by name, or as the path of a TOML file (with a `/` or ending in `.toml`).
  Several schemes are joined by `+`. Two schemes that set one key to different values are an error.
- A value set by hand is TOML: `0.05`, `true`, `\"text\"`, `[1, 2]`. Other text counts as a string,
  so quotes may be left out: `none`, `[read, erase]`. `null` clears a key that may be absent.
- A key of type bytes also takes a unit: `--set cache.bytes=64MiB`, in TOML as a string:
  `bytes = \"64MiB\"`. `k`, `Ki` and `KiB` are 1024 bytes, `kB` is 1000 bytes. The same holds for M,
  G and T. Upper and lower case are equal.
- File names are relative to the directory in which the program runs.
- Unknown keys and values out of range are refused. The error names all of them at once.
- A key is *idle* if it has no effect: its mechanism is off, or the device does not support it.
  `gc.pipeline` needs a cache register; `cache.clean_window` needs the policy `cflru`. Presets and
  files may have idle keys, so that every scheme fits every device. The result lists them in
  `idle_keys`, with what each needs, and tables and pages name them. Of a device or workload that
  comes with ssdlab no idle key is listed; of your own file every one is. If a key set by hand is
  idle in all runs of a command, there is a warning.
";

/// The page of the configuration: presets, and every key with its type, range, default and meaning.
pub fn reference_markdown() -> String {
    let mut text = INTRODUCTION.to_string();
    text += &presets_table();
    for section in root().sections() {
        text += &section_table(section);
        if section.path == "device" {
            text += &aliases_table();
        }
    }
    text
}

fn aliases_table() -> String {
    let about = "In place of a key, a file or `--set` may have the same in the unit of data sheets. It is converted when it is read; results\nand presets have the key. Both of one key in one file are refused.";
    let mut text = format!("\n{about}\n\n| in place of | write | type | meaning |\n|---|---|---|---|\n");
    for alias in &ALIASES {
        text += &format!("| `{}` | `{}` | {} | {} |\n", alias.key, alias.path, alias.kind, cell(alias.about));
    }
    text
}

fn presets_table() -> String {
    let mut text = "\n## Presets\n".to_string();
    for kind in Kind::ALL {
        text +=
            &format!("\nA {} preset sets {}.\n\n| {} | description | source |\n|---|---|---|\n", kind.name(), kind.scope(), kind.name());
        for preset in presets::list(kind) {
            text += &format!("| `{}` | {} | {} |\n", preset.name, cell(&preset.description), cell(&preset.source));
        }
    }
    text
}

fn section_table(section: &Node) -> String {
    let keys: Vec<_> = section.children().iter().filter(|child| !matches!(child.shape, KeyShape::Table(_))).collect();
    let head = "| key | type | range | default | meaning |\n|---|---|---|---|---|\n";
    let mut text = format!("\n## `{}`\n\n{}\n\n{head}", section.path, section.description);
    for key in keys {
        let kind = if in_bytes(key) { "bytes".into() } else { kind(&key.shape) };
        let default = if key.default.is_null() { "absent".to_string() } else { format!("`{}`", show(&key.default)) };
        text += &format!("| `{}` | {kind} | {} | {default} | {} |\n", key.path, allowed(&key.shape), meaning(key));
    }
    text
}

fn kind(shape: &KeyShape) -> String {
    match shape {
        KeyShape::Boolean => "boolean".into(),
        KeyShape::Integer(_) => "integer".into(),
        KeyShape::Number(_) => "number".into(),
        KeyShape::Choice(_) => "choice".into(),
        KeyShape::Text | KeyShape::Other => "string".into(),
        KeyShape::Table(_) | KeyShape::FreeTable => "table".into(),
        KeyShape::List(entry) => format!("list of {}", kind(entry)),
        KeyShape::Tuple(entries) => format!("({})", entries.iter().map(kind).collect::<Vec<_>>().join(", ")),
    }
}

fn allowed(shape: &KeyShape) -> String {
    match shape {
        KeyShape::Boolean => "`true`, `false`".into(),
        KeyShape::Integer(bounds) | KeyShape::Number(bounds) => bounds_text(*bounds),
        KeyShape::Choice(choices) => choices.iter().map(|choice| format!("`{}`", choice.name)).collect::<Vec<_>>().join(", "),
        KeyShape::List(entry) => allowed(entry),
        _ => String::new(),
    }
}

fn bounds_text(bounds: Bounds) -> String {
    range(bounds).trim_start().trim_start_matches("from ").to_string()
}

fn meaning(key: &Node) -> String {
    let mut text = cell(&key.description);
    let entry = match &key.shape {
        KeyShape::List(entry) => entry,
        shape => shape,
    };
    if let KeyShape::Choice(choices) = entry {
        for choice in choices.iter().filter(|choice| !choice.description.is_empty()) {
            text += &format!("<br>`{}`: {}", choice.name, cell(&choice.description));
        }
    }
    text
}

/// The text of a table cell: a bar, which would end the cell, is escaped, and line breaks become spaces.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use crate::config::schema::keys;

    #[test]
    fn the_reference_has_every_key() {
        let page = super::reference_markdown();
        for key in keys() {
            assert!(page.contains(&format!("| `{}` |", key.name)), "{}", key.name);
        }
    }
}
