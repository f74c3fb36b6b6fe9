//! Logs of Sysinternals DiskMon: `number<TAB>seconds<TAB>duration<TAB>disk<TAB>Read|Write<TAB>sector<TAB>length`, without a header; sector
//! and length in sectors of 512 bytes, seconds from the start of the log. The device is the disk's number. Sectors of 512 bytes and the two
//! ways to show times are documented at <https://learn.microsoft.com/en-us/sysinternals/downloads/diskmon>; the columns are those of its
//! window. The duration is not used.

use super::text::{Columns, integer, units};
use super::{
    Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Time, read_or_write_word, recognise,
};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Diskmon,
    name: "diskmon",
    hints: &[("diskmon", None)],
    meaning: Meaning { time: Time::Open(TimeUnit::S), address: Measure::Sectors, size: Measure::Sectors, operations: "Read, Write" },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |lines| recognise::most(lines, |line| recognise::column(line, b'\t', 1).contains(&b'.')),
    reader: Reader::Lines(|settings| Box::new(Diskmon(settings.clock))),
};

const COLUMNS: &str = "7 columns separated by tabs: number, time, duration, disk, request, sector, length";

const NO_CLOCK_TIME: &str = "a time in seconds from the start, with a decimal point (DiskMon: no clock time)";

struct Diskmon(Clock);

impl LineParser for Diskmon {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b'\t');
        integer(columns.take(COLUMNS)?, "the number of the event")?;
        let time = columns.take(COLUMNS)?;
        let time_ns = self.0.read(time).map_err(|bad| Bad { expected: NO_CLOCK_TIME, ..bad })?;
        columns.take(COLUMNS)?;
        let device = columns.take(COLUMNS)?;
        integer(device, "a disk number")?;
        let kind = read_or_write_word(columns.take(COLUMNS)?)?;
        let offset = units(columns.take(COLUMNS)?, SECTOR_BYTES, "a sector number")?;
        let length = units(columns.take(COLUMNS)?, SECTOR_BYTES, "a length in sectors")?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
