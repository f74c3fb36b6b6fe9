//! Tencent's cloud block storage traces: `seconds,offset,size,op,volume`; sectors of 512 bytes, 0 = read, 1 = write.

use super::text::{Columns, integer, is_header, units};
use super::{
    Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Time, numbered_kind, recognise,
    recognise::UNIX_S,
};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Tencent,
    name: "tencent",
    hints: &[("tencent", None)],
    meaning: Meaning {
        time: Time::Open(TimeUnit::S),
        address: Measure::Sectors,
        size: Measure::Sectors,
        operations: "0 = read, 1 = write",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |lines| recognise::most(lines, |line| recognise::is_between(recognise::column(line, b',', 0), UNIX_S)),
    reader: Reader::Lines(|settings| Box::new(Tencent(settings.clock))),
};

const COLUMNS: &str = "5 columns: time,offset,size,op,volume";

struct Tencent(Clock);

impl LineParser for Tencent {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        if time.first() == Some(&b'T') && is_header(line, "Timestamp,Offset,Size,IOType,VolumeID") {
            return Ok(None);
        }
        let time_ns = self.0.read(time)?;
        let offset = units(columns.take(COLUMNS)?, SECTOR_BYTES, "an offset in sectors of 512 bytes")?;
        let length = units(columns.take(COLUMNS)?, SECTOR_BYTES, "a size in sectors of 512 bytes")?;
        let kind = numbered_kind(columns.take(COLUMNS)?, b"0", b"1", "0 for a read or 1 for a write")?;
        let device = columns.take(COLUMNS)?;
        integer(device, "a volume number")?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
