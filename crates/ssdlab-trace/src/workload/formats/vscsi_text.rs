//! Text of VMware's vscsiStats: lines `serial,bytes,elements,read|write,sector,us` after comments that begin with `#`; sectors of 512
//! bytes. The columns are those of its own header: `#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp
//! (microseconds)`.

use super::text::{Columns, integer, units};
use super::{Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Time, read_or_write_word};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::VscsiText,
    name: "vscsi-text",
    hints: &[("vscsi-text", None), ("vscsi", None)],
    meaning: Meaning { time: Time::Open(TimeUnit::Us), address: Measure::Sectors, size: Measure::Bytes, operations: "read, write" },
    event: Event::One,
    names_devices: false,
    device_separator: None,
    states_units: |lines| lines.first().is_some_and(|first| first.starts_with(b"#")),
    reader: Reader::Lines(|settings| Box::new(VscsiText(settings.clock))),
};

const COLUMNS: &str = "6 columns: serial number,bytes,elements,command,sector,us";

struct VscsiText(Clock);

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
        let time_ns = self.0.read(time)?;
        Record::new(time_ns, kind, offset, length, b"")
    }
}
