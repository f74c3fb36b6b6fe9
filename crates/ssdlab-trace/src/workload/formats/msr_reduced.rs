//! MSR Cambridge traces in a reduced form that others publish: `ticks<TAB>Read|Write<TAB>offset<TAB>size`; ticks of 100 ns, offset and size
//! in bytes.

use super::text::{Columns, integer};
use super::{
    Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time, read_or_write_word, recognise, recognise::WINDOWS,
};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::MsrReduced,
    name: "msr-reduced",
    hints: &[("msr-reduced", None)],
    meaning: Meaning { time: Time::OpenWhole(TimeUnit::Ticks), address: Measure::Bytes, size: Measure::Bytes, operations: "Read, Write" },
    event: Event::One,
    names_devices: false,
    device_separator: None,
    states_units: |lines| recognise::most(lines, |line| recognise::is_between(recognise::column(line, b'\t', 0), WINDOWS)),
    reader: Reader::Lines(|settings| Box::new(MsrReduced(settings.clock))),
};

const COLUMNS: &str = "4 columns separated by tabs: time, type, offset, size";

struct MsrReduced(Clock);

impl LineParser for MsrReduced {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b'\t');
        let time_ns = self.0.read(columns.take(COLUMNS)?)?;
        let kind = read_or_write_word(columns.take(COLUMNS)?)?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, b"")
    }
}
