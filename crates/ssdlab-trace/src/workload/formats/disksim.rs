//! DiskSim ASCII: `milliseconds device block size flags`; block and size in units (512 bytes unless configured otherwise), flags 1 = read,
//! 0 = write.

use super::text::{Words, integer, units};
use super::{Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time, numbered_kind};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Disksim,
    name: "disksim",
    hints: &[("disksim", None), ("disksim-pages", Some(4096))],
    meaning: Meaning { time: Time::Open(TimeUnit::Ms), address: Measure::Units, size: Measure::Units, operations: "1 = read, 0 = write" },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| false,
    reader: Reader::Lines(|settings| Box::new(Disksim { clock: settings.clock, unit_bytes: settings.unit_bytes })),
};

const COLUMNS: &str = "5 columns: time in ms, device, block, size, flags";

struct Disksim {
    clock: Clock,
    unit_bytes: u64,
}

impl LineParser for Disksim {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut words = Words::new(line);
        let time_ns = self.clock.read(words.take(COLUMNS)?)?;
        five_columns(words, time_ns, self.unit_bytes, COLUMNS)
    }
}

/// Parses the columns after the time, in DiskSim's format and in those derived from it: `device address size op`; 1 = read, 0 = write.
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
