//! Logs of Sysinternals DiskMon: `number<TAB>seconds<TAB>duration<TAB>disk<TAB>Read|Write<TAB>sector<TAB>length`, without a header; sector
//! and length in sectors of 512 bytes, seconds from the start of the log. The device is the disk's number. Sectors of 512 bytes and the two
//! ways to show times are documented at <https://learn.microsoft.com/en-us/sysinternals/downloads/diskmon>; the columns are those of its
//! window. The duration is not used.

use super::text::{Columns, decimal, integer, units};
use super::{Format, LineParser, Parsed, Reader, Record, SECTOR_BYTES, read_or_write_word};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Diskmon,
    name: "diskmon",
    hints: &[("diskmon", None)],
    counts_units: false,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(Diskmon)),
};

const COLUMNS: &str = "7 columns separated by tabs: number, time, duration, disk, request, sector, length";

struct Diskmon;

impl LineParser for Diskmon {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b'\t');
        integer(columns.take(COLUMNS)?, "the number of the event")?;
        let time_ns =
            decimal(columns.take(COLUMNS)?, 9, "a time in seconds from the start, with a decimal point (DiskMon: no clock time)")?;
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
