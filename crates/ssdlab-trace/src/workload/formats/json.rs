//! Files of JSON: a command that makes a CSV file of their requests, or what they are instead.

use serde_json::Value;

use super::csv::{self, HEADER};
use super::{kinds, names};

/// Whether text is JSON: a log may begin with a bracket, too (`[2026-06-24 10:11:12]`).
pub(super) fn is_json(lines: &[&[u8]]) -> bool {
    let text = |at: usize| lines.get(at).map_or(&b""[..], |line| line.trim_ascii());
    match text(0) {
        [b'{', ..] => true,
        [b'[', rest @ ..] if rest.trim_ascii().is_empty() => matches!(text(1), [b'{' | b'[' | b'"' | b']', ..]),
        [b'[', rest @ ..] => matches!(rest.trim_ascii_start(), [b'{' | b'[' | b'"', ..]),
        _ => false,
    }
}

/// Message about a file of JSON.
pub(super) fn message(lines: &[&[u8]]) -> String {
    let fields = fields(lines);
    let name = |field: &&(String, Value)| field.0.rsplit('.').next().unwrap_or_default().trim_matches('"').to_ascii_lowercase();
    let parts = |path: &str| path.to_ascii_lowercase().split('.').map(|part| part.trim_matches('"').to_string()).collect::<Vec<_>>();
    let has = |names: &[&str]| fields.iter().flat_map(|(path, _)| parts(path)).any(|part| names.contains(&part.as_str()));
    let find = |names: &[&str]| names.iter().find_map(|wanted| fields.iter().find(|field| name(field) == *wanted));
    let is_kernel = has(&["rwbs", "nr_sector", "nr_sectors"]);
    // Files and keys have offsets and sizes of their own.
    if !is_kernel && let Some(what) = kinds::of_names(|names| has(names)).or_else(|| kinds::message(lines)) {
        return what;
    }
    let time = || {
        let with =
            |stated: bool| fields.iter().find(|field| names::unit_of_time(&name(field)).is_some_and(|unit| unit.is_some() == stated));
        with(true).or_else(|| with(false))
    };
    let is_kind = |field: &&(String, Value)| field.1.as_str().is_some_and(|text| csv::kind(text.as_bytes()).is_ok());
    let operation =
        || find(&["rwbs", "op", "operation", "type", "kind", "rw", "io_type", "opcode", "cmd", "direction", "dir"]).filter(is_kind);
    let offset = || find(&["offset_bytes", "sector", "offset", "slba", "lba", "address", "addr", "block", "pos"]);
    let size = || find(&["size_bytes", "nr_sector", "nr_sectors", "sectors", "bytes", "size", "length", "len", "blocks", "nlb"]);
    let (Some(time), Some(operation), Some(offset), Some(size)) = (time(), operation(), offset(), size()) else {
        let keys: Vec<String> = fields.iter().take(12).map(|field| name(&field)).collect();
        return format!(
            "JSON, which ssdlab reads only as iotrace (one object a line), and of its keys ({}) none are the time, operation, address and \
             size of a request; record block requests: ssdlab trace record, or blktrace",
            keys.join(", ")
        );
    };
    let is_ns = names::absolute_ns(time.1.to_string().as_bytes()).is_some();
    let open_time = !is_ns && names::unit_of_time(&name(&time)) == Some(None);
    let time_name = if is_ns {
        "time_ns".into()
    } else if open_time && !is_kernel {
        "timestamp_us".into()
    } else {
        name(&time)
    };
    let mut columns = vec![(time_name, time.0.clone()), ("op".to_string(), operation.0.clone())];
    let mut units = Vec::new();
    if open_time && !is_kernel {
        columns[0].1 += "*$T";
        units.push(("T", "1", "us"));
    }
    for (field, own, unit) in [(offset, "offset_bytes", "A"), (size, "size_bytes", "S")] {
        let (known, short) = (name(&field), field.0.clone());
        let is_known = known == own || is_kernel && ["sector", "nr_sector", "nr_sectors", "sectors", "bytes"].contains(&known.as_str());
        let is_length = ["len", "length"].contains(&known.as_str()) && units.iter().any(|&(_, _, unit)| unit == "sectors");
        let counts = is_length || ["sector", "sectors", "slba", "lba", "block", "blocks", "nlb"].contains(&known.as_str());
        if is_known {
            columns.push((known, short));
        } else {
            columns.push((own.to_string(), format!("{short}*${unit}")));
            units.push((unit, if counts { "512" } else { "1" }, if counts { "sectors" } else { "bytes" }));
        }
    }
    if let Some(device) = find(&["dev", "device", "disk"]) {
        columns.push(("device".into(), device.0.clone()));
    }
    let root = if lines[0].trim_ascii_start().starts_with(b"[") { "inputs[]" } else { "inputs" };
    let head: Vec<String> = columns.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let values: Vec<&str> = columns.iter().map(|(_, path)| path.as_str()).collect();
    let arguments: String = units.iter().map(|(name, value, _)| format!("--argjson {name} {value} ")).collect();
    let stated: Vec<String> = units.iter().map(|(name, _, unit)| format!("{name}: {unit}")).collect();
    let note = match &stated[..] {
        _ if open_time && is_kernel => " and state the unit of its times (--format csv --time-unit ns)".into(),
        [] => String::new(),
        all => format!(" with the units that you know (here {})", all.join(", ")),
    };
    let with_operation = &operation.0;
    format!(
        "JSON, which ssdlab reads only as iotrace (one object a line); write the requests as CSV{note}: \
         jq -rn {arguments}'[{}],({root}|select({with_operation})|[{}])|@csv' FILE > NEW.csv (the header that ssdlab needs is {HEADER}, or \
         the kernel's names)",
        head.join(","),
        values.join(",")
    )
}

/// Paths (in jq's words) and values of the first object's fields, and of the objects in it. Of text that cannot be parsed, its keys.
fn fields(lines: &[&[u8]]) -> Vec<(String, Value)> {
    let text = lines.join(&b'\n');
    let start = memchr::memchr(b'{', &text).unwrap_or(text.len());
    let first = serde_json::Deserializer::from_slice(&text[start..]).into_iter::<Value>().next();
    let mut found = Vec::new();
    match first {
        Some(Ok(value)) => add_fields("", &value, &mut found),
        _ => {
            // A key stands in quotation marks before a colon.
            for line in lines.iter().take(200) {
                let parts: Vec<&[u8]> = line.split(|&byte| byte == b'"').collect();
                for pair in parts.windows(2).skip(1).filter(|pair| pair[1].trim_ascii_start().starts_with(b":")) {
                    found.push((format!(".\"{}\"", String::from_utf8_lossy(pair[0])), Value::Null));
                }
            }
        }
    }
    found
}

fn add_fields(path: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let is_plain =
                    key.starts_with(|c: char| c.is_ascii_alphabetic()) && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let path = if is_plain { format!("{path}.{key}") } else { format!("{path}.\"{}\"", key.escape_debug()) };
                add_fields(&path, value, found);
            }
        }
        other => found.push((path.into(), other.clone())),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::super::own::tests::requests_of;
    use super::super::recognise;

    fn told(text: &str) -> String {
        recognise(Path::new("x"), text.as_bytes(), true).err().unwrap().to_string()
    }

    /// Times, offsets and sizes of the requests that the command of the message makes of `text`; `None` where jq is missing.
    fn converted(text: &str) -> Option<Vec<(u64, u64, u64)>> {
        Command::new("jq").arg("--version").output().ok()?;
        let message = told(text);
        let command = message[message.find("jq ").unwrap()..].split(" > NEW.csv").next().unwrap();
        Some(requests_of(command, text).into_iter().map(|(ns, _, offset, size)| (ns, offset, size)).collect())
    }

    #[test]
    fn the_command_for_json_makes_a_trace_of_it() {
        let lines = "{\"ns\":1000,\"dev\":\"8:0\",\"rwbs\":\"WS\",\"sector\":8,\"nr_sector\":16}\n{\"ns\":2000,\"dev\":\"8:0\",\"rwbs\":\"RA\",\"sector\":0,\"nr_sector\":8}\n";
        let nested = "{\"time_us\":1,\"io\":{\"op\":\"write\",\"offset\":4096,\"size\":8192}}\n{\"time_us\":2,\"io\":{\"op\":\"read\",\"offset\":0,\"size\":4096}}\n";
        let array = "[\n {\"ts_ns\": 1000, \"type\": \"W\", \"lba\": 8, \"size_bytes\": 8192},\n {\"ts_ns\": 2000, \"type\": \"R\", \"lba\": 0, \"size_bytes\": 4096}\n]\n";
        for text in [lines, nested, array] {
            let Some(rows) = converted(text) else { return };
            assert_eq!(rows, [(1_000, 4096, 8192), (2_000, 0, 4096)], "{text}");
        }
    }

    #[test]
    fn a_time_without_unit_is_left_to_its_user_unless_it_is_absolute() {
        let absolute = told("{\"ts\":1732780000000001000,\"rwbs\":\"W\",\"sector\":8,\"nr_sector\":16}\n");
        assert!(absolute.contains("\"time_ns\"") && !absolute.contains("--time-unit"), "{absolute}");
        let open = told("{\"ts\":1000,\"rwbs\":\"W\",\"sector\":8,\"nr_sector\":16}\n");
        assert!(open.contains("[\"ts\",") && open.contains("--time-unit"), "{open}");
    }

    #[test]
    fn json_without_requests_is_named_by_its_keys() {
        for (text, what) in [
            ("{\"arrival\": 1, \"input_length\": 10, \"output_length\": 7}\n", "language model"),
            ("{\"messages\": [], \"prompt_tokens\": 3}\n", "language model"),
            ("[{\"name\":\"read\",\"ph\":\"X\",\"ts\":1,\"args\":{\"size\":1,\"offset\":2}},\n", "file operations"),
            ("{\"time\":1,\"op\":\"get\",\"key\":\"a\",\"size\":9}\n", "keys or objects"),
            ("{\"fio version\" : \"fio-3.35\",\n\"jobs\" : []}\n", "fio"),
            ("{\"sysstat\": {\"hosts\": []}}\n", "averages"),
            ("{\"colour\": 1, \"shape\": 2}\n", "its keys (colour, shape)"),
        ] {
            assert!(told(text).contains(what), "{text}: {}", told(text));
            assert!(!told(text).contains("jq"), "{}", told(text));
        }
    }
}
