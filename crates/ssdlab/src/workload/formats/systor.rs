//! SNIA's SYSTOR '17 traces: `Timestamp,Response,IOType,LUN,Offset,Size`; seconds, R or W, bytes. The device is the LUN; the response time
//! is not used (it is sometimes missing).

use super::text::{Columns, decimal, integer, is_header};
use super::{Format, LineParser, Parsed, Reader, Record, read_or_write};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Systor,
    name: "systor",
    hints: &[("systor", None)],
    counts_units: false,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(Systor)),
};

const COLUMNS: &str = "6 columns: Timestamp,Response,IOType,LUN,Offset,Size";

struct Systor;

impl LineParser for Systor {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        if time.first() == Some(&b'T') && is_header(line, "Timestamp,Response,IOType,LUN,Offset,Size") {
            return Ok(None);
        }
        let time_ns = decimal(time, 9, "a time in seconds")?;
        columns.take(COLUMNS)?;
        let kind = read_or_write(columns.take(COLUMNS)?, "the I/O type R or W")?;
        let device = columns.take(COLUMNS)?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
