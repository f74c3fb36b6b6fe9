//! CloudPhysics' traces as text: `version,seconds,operation,bytes,sector`; the operation is a SCSI code in hexadecimal (28: READ (10), 2a:
//! WRITE (10)), sectors have 512 bytes. Times are whole seconds. The binary form is `vscsi`.

use std::collections::BTreeMap;

use super::text::{Columns, integer, units};
use super::vscsi::kind_of;
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Skipped, Time};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Cloudphysics,
    name: "cloudphysics",
    hints: &[("cloudphysics", None)],
    meaning: Meaning {
        time: Time::Open(TimeUnit::S),
        address: Measure::Sectors,
        size: Measure::Bytes,
        operations: "SCSI codes: 28 = read, 2a = write",
    },
    event: Event::One,
    names_devices: false,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|settings| Box::new(Cloudphysics { clock: settings.clock, skipped: Skipped::default() })),
};

const COLUMNS: &str = "5 columns: version,seconds,SCSI operation,bytes,sector";

struct Cloudphysics {
    clock: Clock,
    skipped: Skipped,
}

impl LineParser for Cloudphysics {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let version = columns.take(COLUMNS)?;
        if !matches!(version, b"1" | b"2") {
            return Err(Bad::new("the version 1 or 2", version));
        }
        let time_ns = self.clock.read(columns.take(COLUMNS)?)?;
        let field = columns.take(COLUMNS)?;
        const OPERATION: &str = "a SCSI operation of two hexadecimal digits";
        let code = std::str::from_utf8(field).ok().filter(|text| text.len() == 2).and_then(|text| u16::from_str_radix(text, 16).ok());
        let kind = kind_of(code.ok_or_else(|| Bad::new(OPERATION, field))?)?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        let offset = units(columns.take(COLUMNS)?, SECTOR_BYTES, "a sector number")?;
        columns.end(COLUMNS)?;
        match kind {
            Some(kind) => Record::new(time_ns, kind, offset, length, b""),
            None => {
                self.skipped.add(field);
                Ok(None)
            }
        }
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.named(|code| format!("SCSI command {code}, without data"))
    }
}
