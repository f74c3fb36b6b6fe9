//! io-tracer's traces of block devices (cacheMon): `date time,pid,command,sector,operation,bytes,latency_ms[,...]`, without a header or with
//! one. A line is written when its request ends; it was issued `latency_ms` before. Sectors have 512 bytes. Layout and units:
//! <https://github.com/cacheMon/io-tracer>, `docs/TRACE_FORMAT.md`, "Block Device Traces".

use std::collections::BTreeMap;

use super::text::{Columns, decimal, integer, units};
use super::{Bad, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Skipped, Time};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::IoTracer,
    name: "io-tracer",
    hints: &[("io-tracer", None)],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::S),
        address: Measure::Sectors,
        size: Measure::Bytes,
        operations: "read, write, discard = trim, flush",
    },
    event: Event::One,
    names_devices: false,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|_| Box::new(IoTracer(Skipped::default()))),
};

const COLUMNS: &str = "7 or more columns: date and time,pid,command,sector,operation,bytes,latency_ms";

struct IoTracer(Skipped);

impl LineParser for IoTracer {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        if line.starts_with(b"timestamp,pid,command,sector,operation,size,latency_ms") {
            return Ok(None);
        }
        let mut columns = Columns::new(line, b',');
        let end_ns = date_and_time(columns.take(COLUMNS)?)?;
        integer(columns.take(COLUMNS)?, "a process number")?;
        columns.take(COLUMNS)?;
        let offset = units(columns.take(COLUMNS)?, SECTOR_BYTES, "a sector number")?;
        let operation = columns.take(COLUMNS)?;
        let kind = match operation {
            b"read" => RequestKind::Read,
            b"write" => RequestKind::Write,
            b"discard" | b"secure_erase" | b"write_zeroes" => RequestKind::Trim,
            b"flush" => RequestKind::Flush,
            b"none" => {
                self.0.add(operation);
                return Ok(None);
            }
            _ => return Err(Bad::new("an operation: read, write, discard or flush", operation)),
        };
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        let lasted_ns = decimal(columns.take(COLUMNS)?, 6, "a latency in ms")?;
        Record::new(end_ns.saturating_sub(lasted_ns), kind, offset, length, b"")
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.0.named(|operation| format!("operation {operation}"))
    }
}

/// Parses `YYYY-MM-DD HH:MM:SS[.ffffff]` as ns since 1970.
fn date_and_time(field: &[u8]) -> Result<u64, Bad> {
    const EXPECTED: &str = "a time: YYYY-MM-DD HH:MM:SS.ffffff";
    let bad = || Bad::new(EXPECTED, field);
    let part = |from: usize, to: usize| field.get(from..to).and_then(|digits| integer(digits, "").ok()).ok_or_else(bad);
    let separators = [(4, b'-'), (7, b'-'), (10, b' '), (13, b':'), (16, b':')];
    if !separators.iter().all(|&(at, separator)| field.get(at) == Some(&separator)) {
        return Err(bad());
    }
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    if !(1970..2500).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return Err(bad());
    }
    let seconds_ns = decimal(field.get(17..).ok_or_else(bad)?, 9, EXPECTED)?;
    let whole_s = (days_since_1970(year, month, day) * 24 + part(11, 13)?) * 3600 + part(14, 16)? * 60;
    whole_s.checked_mul(1_000_000_000).and_then(|ns| ns.checked_add(seconds_ns)).ok_or_else(bad)
}

/// Days from 1970-01-01 in the Gregorian calendar: years are counted from March, so that a leap day ends them.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    const FROM_MARCH_OF_YEAR_0: u64 = 719_468;
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - FROM_MARCH_OF_YEAR_0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (text, s) in [
            ("1970-01-01 00:00:00", 0),
            ("2000-02-29 12:00:00.5", 951_825_600),
            ("2024-01-15 10:30:45.123456", 1_705_314_645),
            ("2100-03-01 00:00:00", 4_107_542_400),
        ] {
            assert_eq!(date_and_time(text.as_bytes()).unwrap() / 1_000_000_000, s, "{text}");
        }
        assert_eq!(date_and_time(b"2024-01-15 10:30:45.123456").unwrap() % 1_000_000_000, 123_456_000);
        for bad in ["", "2024-01-15", "2024-13-15 10:30:45", "1969-01-01 00:00:00", "2024-01-15T10:30:45", "2024-01-15 1a:30:45"] {
            assert!(date_and_time(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
