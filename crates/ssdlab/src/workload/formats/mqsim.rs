//! MQSim ASCII: `nanoseconds device sector sectors op`; units of 512 bytes unless configured otherwise, 1 = read, 0 = write.

use super::disksim::five_columns;
use super::text::{Words, integer};
use super::{Format, LineParser, Parsed, Reader};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Mqsim,
    name: "mqsim",
    hints: &[("mqsim", None)],
    counts_units: true,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|unit_bytes| Box::new(Mqsim { unit_bytes })),
};

const COLUMNS: &str = "5 columns: time in ns, device, sector, sectors, op";

struct Mqsim {
    unit_bytes: u64,
}

impl LineParser for Mqsim {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut words = Words::new(line);
        let time_ns = integer(words.take(COLUMNS)?, "a time in ns")?;
        five_columns(words, time_ns, self.unit_bytes, COLUMNS)
    }
}
