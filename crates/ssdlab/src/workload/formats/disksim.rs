//! DiskSim ASCII: `milliseconds device block size flags`; block and size in units (512 bytes unless configured otherwise), flags 1 = read,
//! 0 = write.

use super::text::{Words, decimal, integer, units};
use super::{Format, LineParser, Parsed, Reader, Record, numbered_kind};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Disksim,
    name: "disksim",
    hints: &[("disksim", None), ("disksim-pages", Some(4096))],
    counts_units: true,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|unit_bytes| Box::new(Disksim { unit_bytes })),
};

const COLUMNS: &str = "5 columns: time in ms, device, block, size, flags";

struct Disksim {
    unit_bytes: u64,
}

impl LineParser for Disksim {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut words = Words::new(line);
        let time_ns = decimal(words.take(COLUMNS)?, 6, "a time in ms")?;
        five_columns(words, time_ns, self.unit_bytes, COLUMNS)
    }
}

/// What follows the time in the formats derived from DiskSim's: `device address size op`, 1 = read.
#[inline]
pub(super) fn five_columns<'a>(mut words: Words<'a>, time_ns: u64, unit_bytes: u64, columns: &'static str) -> Parsed<'a> {
    let device = words.take(columns)?;
    integer(device, "a device number")?;
    let offset = units(words.take(columns)?, unit_bytes, "an address in units")?;
    let length = units(words.take(columns)?, unit_bytes, "a size in units")?;
    let kind = numbered_kind(words.take(columns)?, b"1", b"0", "1 for a read or 0 for a write")?;
    words.end(columns)?;
    Record::new(time_ns, kind, offset, length, device)
}
