//! SNIA's SYSTOR '17 traces: `Timestamp,Response,IOType,LUN,Offset,Size`; seconds, R or W, bytes. The device is the LUN; the response time
//! is not used (it is sometimes missing).

use super::text::{Columns, integer, is_header};
use super::{Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time, read_or_write, recognise};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Systor,
    name: "systor",
    hints: &[("systor", None)],
    meaning: Meaning { time: Time::Open(TimeUnit::S), address: Measure::Bytes, size: Measure::Bytes, operations: "R, W" },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units,
    reader: Reader::Lines(|settings| Box::new(Systor(settings.clock))),
};

const COLUMNS: &str = "6 columns: Timestamp,Response,IOType,LUN,Offset,Size";

const HEADER: &str = "Timestamp,Response,IOType,LUN,Offset,Size";

/// Whether most times are seconds since 1970 with a decimal point.
fn states_units(lines: &[&[u8]]) -> bool {
    recognise::most(lines, |line| {
        let time = recognise::column(line, b',', 0);
        time.contains(&b'.') && recognise::is_between(time, recognise::UNIX_S)
    })
}

struct Systor(Clock);

impl LineParser for Systor {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        if time.first() == Some(&b'T') && is_header(line, HEADER) {
            return Ok(None);
        }
        let time_ns = self.0.read(time)?;
        columns.take(COLUMNS)?;
        let kind = read_or_write(columns.take(COLUMNS)?, "the I/O type R or W")?;
        let device = columns.take(COLUMNS)?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
