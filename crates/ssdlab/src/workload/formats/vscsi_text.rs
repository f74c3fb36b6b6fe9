//! Text of VMware's vscsiStats: lines `serial,bytes,elements,read|write,sector,us` after comments that begin with `#`; sectors of 512
//! bytes. The columns are those of its own header: `#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp
//! (microseconds)`.

use super::text::{Columns, integer, units};
use super::{Bad, Format, LineParser, Parsed, Reader, Record, SECTOR_BYTES, read_or_write_word};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::VscsiText,
    name: "vscsi-text",
    hints: &[("vscsi-text", None), ("vscsi", None)],
    counts_units: false,
    names_devices: false,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(VscsiText)),
};

const COLUMNS: &str = "6 columns: serial number,bytes,elements,command,sector,us";

struct VscsiText;

impl LineParser for VscsiText {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        if line.first() == Some(&b'#') {
            return Ok(None);
        }
        let mut columns = Columns::new(line, b',');
        integer(columns.take(COLUMNS)?, "a serial number")?;
        let length = integer(columns.take(COLUMNS)?, "a length in bytes")?;
        integer(columns.take(COLUMNS)?, "a number of elements")?;
        let kind = read_or_write_word(columns.take(COLUMNS)?)?;
        let offset = units(columns.take(COLUMNS)?, SECTOR_BYTES, "a sector number")?;
        let time = columns.take(COLUMNS)?;
        columns.end(COLUMNS)?;
        let time_ns = integer(time, "a time in us")?.checked_mul(1000).ok_or_else(|| Bad::new("a time in us", time))?;
        Record::new(time_ns, kind, offset, length, b"")
    }
}
