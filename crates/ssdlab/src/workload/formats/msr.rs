//! MSR Cambridge: `ticks,host,disk,Read|Write,offset,size,response`; ticks of 100 ns (Windows file time), offset and size in bytes. The
//! device is `host_disk`, as the volumes are called in the literature (`prn_0`). The response time is not used.

use super::text::{Columns, integer, is_header};
use super::{Bad, Format, LineParser, Parsed, Reader, Record, read_or_write_word};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Msr,
    name: "msr",
    hints: &[("msr", None)],
    counts_units: false,
    names_devices: true,
    device_separator: Some(b','),
    reader: Reader::Lines(|_| Box::new(Msr)),
};

const COLUMNS: &str = "7 columns: time,host,disk,type,offset,size,response";
const HEADER: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

struct Msr;

impl LineParser for Msr {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        if time.first() == Some(&b'T') && is_header(line, HEADER) {
            return Ok(None);
        }
        let time_ns = ticks(time)?;
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

/// Windows ticks of 100 ns, as nanoseconds.
#[inline]
pub(super) fn ticks(field: &[u8]) -> Result<u64, Bad> {
    const EXPECTED: &str = "a time in ticks of 100 ns";
    integer(field, EXPECTED)?.checked_mul(100).ok_or_else(|| Bad::new(EXPECTED, field))
}
