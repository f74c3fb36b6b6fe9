//! The Storage Performance Council's format (UMass Financial and WebSearch): `ASU,LBA,size,opcode,seconds[,...]`; the LBA counts sectors
//! of 512 bytes within its application storage unit (ASU), the size is in bytes. The device is the ASU.

use super::text::{Columns, decimal, integer, units};
use super::{Format, LineParser, Parsed, Reader, Record, SECTOR_BYTES, read_or_write};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Spc,
    name: "spc",
    hints: &[("spc", None)],
    counts_units: false,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(Spc)),
};

const COLUMNS: &str = "5 columns: ASU,LBA,size,opcode,time";

struct Spc;

impl LineParser for Spc {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let device = columns.take(COLUMNS)?;
        integer(device, "an ASU number")?;
        let offset = units(columns.take(COLUMNS)?, SECTOR_BYTES, "an LBA in sectors of 512 bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        let kind = read_or_write(columns.take(COLUMNS)?, "the opcode R or W")?;
        let time_ns = decimal(columns.take(COLUMNS)?, 9, "a time in seconds")?;
        // The format allows further fields, which do not matter here.
        Record::new(time_ns, kind, offset, length, device)
    }
}
