//! The reference of a result, made of the doc comments of its types.

use schemars::schema_for;
use serde_json::{Map, Value, json};

use ssdlab_keys::remark::CODES;
use ssdlab_result::stats::schema;
use ssdlab_trace::workload::TraceCounters;

const INTRODUCTION: &str = "\
# Statistics

Every figure of a result: of `ssdlab run --json`, of `result.json`, of each run in `comparison.json`, and of what `ssdlab.run` returns. A dot
goes down a level: `gc.jobs` is `jobs` in the object `gc`, and in Python `result.gc.jobs`.

- What a run does not have is absent, never null: there is no `cache` without a cache, and no mean of no reads.
- A share is a number from 0 to 1, a ratio may be above 1. \"List\" means one number for each of what the sentence names.
- Nothing of preconditioning is counted, but for `wear`, `precondition` and `prepare_s`.
- [What is simulated](../model/index.md) has the rules by which things are counted.
";

/// What `ssdlab run` and `ssdlab.run` add to the core's result.
const ADDED: &str = "
## Added by the command line and Python

| entry | unit | meaning |
|---|---|---|
| `command` | list of text | The command that repeats the run, word by word. Absent where none does, as with a policy of one's own. |
| `fit.to` | text or bytes | What the device was fitted to (`--fit`): `trace`, or so many bytes. Absent without it, like all of `fit`. |
| `fit.blocks_per_plane_before` | count | Blocks a plane before. |
| `fit.blocks_per_plane` | count | Blocks a plane after. |
| `fit.overprovisioning_before` | share | Over-provisioning before (`device.overprovisioning`). |
| `fit.overprovisioning` | share | Over-provisioning after: at least that, more where whole blocks or thresholds need it. |
| `fit.needed_bytes` | bytes | What it must export at least. |
| `fit.exported_bytes` | bytes | What the fitted device exports. |
";

const REMARKS: &str = "
## Remarks

`remarks` is a list of objects. `code` is one of those below, `severity` is `warning` where a number holds only under a condition, else `note`.
`about` is the place of the number in the result (`gc.write_amplification`, or a part such as `latency_ns`); it is absent where the remark is
about the whole run. `sentence` says what holds, `remedy` what to do, `why` what else to know (reports fold it). Tables, pages and notebooks show remarks below the numbers and mark the
numbers that they are about; a comparison and a sweep have remarks of their own beside those of their runs.

| code | severity | rule |
|---|---|---|
";

/// The page of statistics: every figure of a result with its unit and sentence.
pub fn statistics() -> String {
    let mut whole = schema();
    whole["properties"]["workload"] = json!({
        "description": "Properties of the workload: for example lines of the trace, requests clipped or wrapped. Empty for generated requests.",
        "properties": {
            "trace": schema_for!(TraceCounters).to_value(),
            "remarks": { "unit": "list of remarks", "description": "What a reader must know of the requests. Absent without any." },
        },
    });
    let properties = properties(&whole).expect("a result is an object");
    let is_single = |field: &Value| field.get("unit").is_some();
    let mut text = format!("{INTRODUCTION}\n## The run\n\n{HEAD}");
    for (name, field) in properties.iter().filter(|(_, field)| is_single(field)) {
        text += &row(name, field, "");
    }
    for (name, field) in properties.iter().filter(|(_, field)| !is_single(field)) {
        text += &section(name, field);
    }
    text + &remarks() + ADDED
}

/// The table of all codes of remarks.
fn remarks() -> String {
    let rows = CODES.iter().map(|code| {
        let severity = serde_json::to_value(code.severity).expect("a severity is text");
        format!("| `{}` | {} | {} |\n", code.name, severity.as_str().unwrap_or_default(), code.rule)
    });
    format!("{REMARKS}{}", rows.collect::<String>())
}

const HEAD: &str = "| entry | unit | meaning |\n|---|---|---|\n";

fn section(name: &str, field: &Value) -> String {
    let mut text = format!("\n## `{name}`\n\n{}\n\n", described(field));
    let inner = properties(field).unwrap_or_else(|| panic!("{name} is neither a figure nor an object"));
    match classes(inner) {
        Some(leaves) => {
            text += "| `CLASS` | |\n|---|---|\n";
            text += &inner.iter().map(|(class, field)| format!("| `{class}` | {} |\n", described(field))).collect::<String>();
            text += "\n";
            text += HEAD;
            text += &leaves.iter().map(|(leaf, field)| row(&format!("{name}.CLASS.{leaf}"), field, "")).collect::<String>();
        }
        None => {
            text += HEAD;
            text += &rows(name, inner, "");
        }
    }
    text
}

/// The entries that all members have, if they are objects with the same entries.
fn classes(members: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let mut objects = members.values().map(properties);
    let first = objects.next()??;
    let same = |other: Option<&Map<String, Value>>| other.is_some_and(|other| other.keys().eq(first.keys()));
    (members.len() > 1 && objects.all(same) && first.values().all(|leaf| leaf.get("unit").is_some())).then_some(first)
}

fn rows(name: &str, fields: &Map<String, Value>, context: &str) -> String {
    let each = |(key, field): (&String, &Value)| {
        let name = format!("{name}.{key}");
        match properties(field) {
            Some(inner) if field.get("unit").is_none() => rows(&name, inner, &format!("{context}{} ", described(field))),
            _ => row(&name, field, context),
        }
    };
    fields.iter().map(each).collect()
}

fn row(name: &str, field: &Value, context: &str) -> String {
    let unit = field["unit"].as_str().unwrap_or_else(|| panic!("{name} has no unit"));
    let list = if field["type"] == "array" { "list: " } else { "" };
    let link = if name == "config" { " See [Configuration](../configuration.md)." } else { "" };
    format!("| `{name}` | {list}{unit} | {context}{}{link} |\n", described(field))
}

/// The doc comment; it is wrapped, which a table is not.
fn described(field: &Value) -> String {
    let text = field["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.ends_with('.'), "{field}");
    text.replace('|', "\\|")
}

/// The fields of an object, or of the object that an optional field may hold.
fn properties(field: &Value) -> Option<&Map<String, Value>> {
    let field = match field.get("anyOf") {
        Some(choices) => choices.as_array()?.iter().find(|choice| choice.get("properties").is_some())?,
        None => field,
    };
    field.get("properties")?.as_object()
}
