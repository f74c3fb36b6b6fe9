//! Open CAS iotrace as JSON, one object a line: `{"header":{"sid":..,"timestamp":NS},"io":{"lba":..,"len":..,"operation":"Write",...}}`. Times
//! are ns; address and length count sectors of 512 bytes (octf's `trace.proto`: "in sectors"). Other objects (device descriptions, file
//! events) hold no request. The device is `deviceId`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::text::{integer, units};
use super::{Bad, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Skipped, Time};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Iotrace,
    name: "iotrace",
    hints: &[("iotrace", None)],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::Ns),
        address: Measure::Sectors,
        size: Measure::Sectors,
        operations: "Read, Write, Discard = trim, flush without length",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|_| Box::new(Iotrace(Skipped::default()))),
};

struct Iotrace(Skipped);

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    header: Head<'a>,
    #[serde(borrow)]
    io: Option<Io<'a>>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    timestamp: Number<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Io<'a> {
    /// First sector. Protobuf's JSON leaves out numbers that are 0.
    #[serde(borrow, default)]
    lba: Number<'a>,
    #[serde(borrow, default)]
    len: Number<'a>,
    #[serde(borrow, default)]
    device_id: Number<'a>,
    #[serde(borrow, default = "read")]
    operation: &'a str,
    #[serde(default)]
    flush: bool,
}

fn read() -> &'static str {
    "Read"
}

/// A number, with or without quotation marks (protobuf's JSON puts 64-bit numbers in marks).
#[derive(Deserialize)]
#[serde(untagged)]
enum Number<'a> {
    Text(#[serde(borrow)] &'a str),
    Plain(u64),
}

impl Default for Number<'_> {
    fn default() -> Self {
        Number::Plain(0)
    }
}

impl Number<'_> {
    fn in_units(&self, unit: u64, expected: &'static str) -> Result<u64, Bad> {
        match self {
            Number::Text(text) => units(text.as_bytes(), unit, expected),
            Number::Plain(value) => value.checked_mul(unit).ok_or_else(|| Bad::new(expected, value.to_string().as_bytes())),
        }
    }
}

impl LineParser for Iotrace {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        const OBJECT: &str = "a JSON object of iotrace: {\"header\":{\"timestamp\":...},\"io\":{...}}";
        let Line { header, io } = serde_json::from_slice::<Line<'a>>(line).map_err(|_| Bad::new(OBJECT, line))?;
        let Some(io) = io else {
            self.0.add(b"object");
            return Ok(None);
        };
        let time_ns = header.timestamp.in_units(1, "a time in ns")?;
        let length = io.len.in_units(SECTOR_BYTES, "a length in sectors")?;
        let kind = match io.operation {
            _ if io.flush && length == 0 => RequestKind::Flush,
            "Read" => RequestKind::Read,
            "Write" => RequestKind::Write,
            "Discard" => RequestKind::Trim,
            other => return Err(Bad::new("an operation: Read, Write or Discard", other.as_bytes())),
        };
        Record::new(time_ns, kind, io.lba.in_units(SECTOR_BYTES, "an address in sectors")?, length, device(line, &io.device_id))
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.0.named(|_| "objects without a request".into())
    }
}

/// Device of a request, as written in its line; empty without one.
fn device<'a>(line: &'a [u8], device: &Number<'a>) -> &'a [u8] {
    match *device {
        Number::Text(text) => text.as_bytes(),
        Number::Plain(_) => {
            const KEY: &[u8] = b"\"deviceId\":";
            let Some(at) = memchr::memmem::find(line, KEY) else { return b"" };
            let digits = line[at + KEY.len()..].trim_ascii_start();
            let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
            let digits = &digits[..end];
            if integer(digits, "").is_ok() { digits } else { b"" }
        }
    }
}
