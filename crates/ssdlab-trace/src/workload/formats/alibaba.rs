//! Alibaba's block traces: `device_id,opcode,offset,length,timestamp`; R or W, bytes, microseconds.

use super::text::{Columns, integer, is_header};
use super::{
    Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time, read_or_write, recognise, recognise::UNIX_US,
};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Alibaba,
    name: "alibaba",
    hints: &[("alibaba", None)],
    meaning: Meaning { time: Time::OpenWhole(TimeUnit::Us), address: Measure::Bytes, size: Measure::Bytes, operations: "R, W" },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |lines| recognise::most(lines, |line| recognise::is_between(recognise::column(line, b',', 4), UNIX_US)),
    reader: Reader::Lines(|settings| Box::new(Alibaba(settings.clock))),
};

const COLUMNS: &str = "5 columns: device_id,opcode,offset,length,timestamp";

struct Alibaba(Clock);

impl LineParser for Alibaba {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let device = columns.take(COLUMNS)?;
        if device.first() == Some(&b'd') && is_header(line, "device_id,opcode,offset,length,timestamp") {
            return Ok(None);
        }
        integer(device, "a device number")?;
        let kind = read_or_write(columns.take(COLUMNS)?, "the opcode R or W")?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a length in bytes")?;
        let time_ns = self.0.read(columns.take(COLUMNS)?)?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
