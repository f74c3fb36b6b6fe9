//! Alibaba's block traces: `device_id,opcode,offset,length,timestamp`; R or W, bytes, microseconds.

use super::text::{Columns, decimal, integer, is_header};
use super::{Format, LineParser, Parsed, Reader, Record, read_or_write};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Alibaba,
    name: "alibaba",
    hints: &[("alibaba", None)],
    counts_units: false,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(Alibaba)),
};

const COLUMNS: &str = "5 columns: device_id,opcode,offset,length,timestamp";

struct Alibaba;

impl LineParser for Alibaba {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let device = columns.take(COLUMNS)?;
        if device.first() == Some(&b'd') && is_header(line, "device_id,opcode,offset,length,timestamp") {
            return Ok(None);
        }
        integer(device, "a device number")?;
        let kind = read_or_write(columns.take(COLUMNS)?, "the opcode R or W")?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a length in bytes")?;
        let time_ns = decimal(columns.take(COLUMNS)?, 3, "a time in us")?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}
