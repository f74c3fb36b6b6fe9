//! MSR Cambridge traces as others cut them down: `ticks<TAB>Read|Write<TAB>offset<TAB>size`; ticks of 100 ns, offset and size in bytes.

use super::msr::ticks;
use super::text::{Columns, integer};
use super::{Format, LineParser, Parsed, Reader, Record, read_or_write_word};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::MsrReduced,
    name: "msr-reduced",
    hints: &[("msr-reduced", None)],
    counts_units: false,
    names_devices: false,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(MsrReduced)),
};

const COLUMNS: &str = "4 columns separated by tabs: time, type, offset, size";

struct MsrReduced;

impl LineParser for MsrReduced {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b'\t');
        let time_ns = ticks(columns.take(COLUMNS)?)?;
        let kind = read_or_write_word(columns.take(COLUMNS)?)?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, b"")
    }
}
