//! The Storage Performance Council's format (UMass Financial and WebSearch): `ASU,LBA,size,opcode,seconds[,...]`; the LBA counts sectors
//! of 512 bytes within its application storage unit (ASU), the size is in bytes. The device is the ASU.

use super::text::{Columns, integer, units};
use super::{Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Time, read_or_write, recognise};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Spc,
    name: "spc",
    hints: &[("spc", None)],
    meaning: Meaning { time: Time::Open(TimeUnit::S), address: Measure::Sectors, size: Measure::Bytes, operations: "R, W" },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |lines| recognise::most(lines, |line| recognise::column(line, b',', 4).contains(&b'.')),
    reader: Reader::Lines(|settings| Box::new(Spc(settings.clock))),
};

const COLUMNS: &str = "5 columns: ASU,LBA,size,opcode,time";

struct Spc(Clock);

impl LineParser for Spc {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let device = columns.take(COLUMNS)?;
        integer(device, "an ASU number")?;
        let offset = units(columns.take(COLUMNS)?, SECTOR_BYTES, "an LBA in sectors of 512 bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        let kind = read_or_write(columns.take(COLUMNS)?, "the opcode R or W")?;
        let time_ns = self.0.read(columns.take(COLUMNS)?)?;
        // The format allows further fields, which do not matter here.
        Record::new(time_ns, kind, offset, length, device)
    }
}
