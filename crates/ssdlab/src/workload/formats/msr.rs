//! MSR Cambridge: `ticks,host,disk,Read|Write,offset,size,response`; ticks of 100 ns (Windows file time), offset and size in bytes. The
//! device is `host_disk`, as the volumes are called in the literature (`prn_0`). The response time is not used.

use super::text::{Columns, integer, is_header};
use super::{
    Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time, read_or_write_word, recognise, recognise::WINDOWS,
};
use crate::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Msr,
    name: "msr",
    hints: &[("msr", None)],
    meaning: Meaning { time: Time::OpenWhole(TimeUnit::Ticks), address: Measure::Bytes, size: Measure::Bytes, operations: "Read, Write" },
    event: Event::One,
    names_devices: true,
    device_separator: Some(b','),
    states_units: |lines| recognise::most(lines, |line| recognise::is_between(recognise::column(line, b',', 0), WINDOWS)),
    reader: Reader::Lines(|settings| Box::new(Msr(settings.clock))),
};

const COLUMNS: &str = "7 columns: time,host,disk,type,offset,size,response";
const HEADER: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

struct Msr(Clock);

impl LineParser for Msr {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        if time.first() == Some(&b'T') && is_header(line, HEADER) {
            return Ok(None);
        }
        let time_ns = self.0.read(time)?;
        let device_at = line.len() - columns.rest_len();
        columns.take(COLUMNS)?;
        columns.take(COLUMNS)?;
        // Host and disk lie side by side: "wdev,1".
        let device = line[device_at..line.len() - columns.rest_len()].strip_suffix(b",").unwrap_or_default();
        let kind = read_or_write_word(columns.take(COLUMNS)?)?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        columns.take(COLUMNS)?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
