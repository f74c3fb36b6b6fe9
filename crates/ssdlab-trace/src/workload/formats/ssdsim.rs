//! SSDSim ASCII: `nanoseconds device sector sectors op`; units of 512 bytes unless configured otherwise, 1 = read, 0 = write.

use super::disksim::five_columns;
use super::text::Words;
use super::{Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Time};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Ssdsim,
    name: "ssdsim",
    hints: &[("ssdsim", None)],
    meaning: Meaning {
        time: Time::OpenWhole(TimeUnit::Ns),
        address: Measure::Units,
        size: Measure::Units,
        operations: "1 = read, 0 = write",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| false,
    reader: Reader::Lines(|settings| Box::new(Ssdsim { clock: settings.clock, unit_bytes: settings.unit_bytes })),
};

const COLUMNS: &str = "5 columns: time in ns, device, sector, sectors, op";

struct Ssdsim {
    clock: Clock,
    unit_bytes: u64,
}

impl LineParser for Ssdsim {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut words = Words::new(line);
        let time_ns = self.clock.read(words.take(COLUMNS)?)?;
        five_columns(words, time_ns, self.unit_bytes, COLUMNS)
    }
}
