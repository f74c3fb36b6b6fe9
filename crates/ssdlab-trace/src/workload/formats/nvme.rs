//! Linux NVMe commands as ftrace, `trace-cmd report` and `perf script` print them:
//! `... seconds: nvme_setup_cmd: nvme0: disk=nvme0n1, qid=4, ..., cmd=(nvme_cmd_write slba=498455480, len=7, ...)`. Addresses and lengths count
//! logical blocks of the namespace, whose size the event does not state; `len` is one less than the number of blocks (NVM Express,
//! "Number of Logical Blocks"). Layout: the kernel's `drivers/nvme/host/trace.c`. The device is the disk.

use std::collections::BTreeMap;

use super::ftrace::{Line, event_line, is_beside_events};
use super::text::integer;
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Skipped, Time};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Nvme,
    name: "nvme",
    hints: &[("nvme", None)],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::S),
        address: Measure::Blocks,
        size: Measure::Blocks,
        operations: "nvme_cmd_read, nvme_cmd_write; nvme_cmd_write_zeroes = trim; nvme_cmd_flush = flush",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|settings| {
        Box::new(Nvme { clock: settings.clock, unit_bytes: settings.unit_bytes, skipped: Skipped::default() })
    }),
};

struct Nvme {
    clock: Clock,
    unit_bytes: u64,
    skipped: Skipped,
}

impl LineParser for Nvme {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        const COLUMNS: &str = "an event: task-pid [cpu] seconds: nvme_setup_cmd: ... cmd=(nvme_cmd_... )";
        let Some(Line { time, name, rest }) = event_line(line) else {
            return if is_beside_events(line) { Ok(None) } else { Err(Bad::new(COLUMNS, line)) };
        };
        if name != b"nvme_setup_cmd" {
            self.skipped.add(name);
            return Ok(None);
        }
        let rest = rest.rest();
        let command = value(rest, b"cmd=(").ok_or_else(|| Bad::new(COLUMNS, rest))?;
        let kind = match command {
            b"nvme_cmd_read" => RequestKind::Read,
            b"nvme_cmd_write" => RequestKind::Write,
            b"nvme_cmd_write_zeroes" => RequestKind::Trim,
            b"nvme_cmd_flush" => RequestKind::Flush,
            b"nvme_cmd_zone_append" | b"nvme_cmd_zone_mgmt_send" => {
                return Err(Bad::new(
                    "reads, writes, trims and flushes (commands on zones are read from blkparse, ftrace, CSV and Parquet)",
                    command,
                ));
            }
            other => {
                self.skipped.add(other);
                return Ok(None);
            }
        };
        let time_ns = self.clock.read(time)?;
        let device = value(rest, b"disk=").unwrap_or_default();
        if kind == RequestKind::Flush {
            return Record::new(time_ns, kind, 0, 0, device);
        }
        let number = |key, expected| integer(value(rest, key).unwrap_or_default(), expected);
        let (block, less_one) = (number(b"slba=", "slba=NUMBER")?, number(b"len=", "len=NUMBER")?);
        let scaled = |blocks: u64| blocks.checked_mul(self.unit_bytes).ok_or_else(|| Bad::new("an address within 2^63 bytes", rest));
        Record::new(time_ns, kind, scaled(block)?, scaled(less_one.saturating_add(1))?, device)
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.named(|name| if name.starts_with("nvme_cmd_") { format!("command {name}") } else { format!("event {name}") })
    }
}

/// The text after `key`, up to a comma, a space or a closing bracket.
fn value<'a>(text: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let from = memchr::memmem::find(text, key)? + key.len();
    let rest = &text[from..];
    let end = rest.iter().position(|byte| matches!(byte, b',' | b' ' | b')')).unwrap_or(rest.len());
    Some(&rest[..end])
}
