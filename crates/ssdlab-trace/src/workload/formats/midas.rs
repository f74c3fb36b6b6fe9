//! Traces of MiDAS (FAST 2024): `seconds type page bytes`, and in some a stream behind; pages of 4096 bytes, type 0 = read, 1 = write,
//! 3 = trim (github.com/dgist-datalab/MiDAS, "Trace file format"). The stream is a placement handle. The line `LOAD_END` parts a load from
//! the run.

use super::csv::handle_of;
use super::text::{Words, integer, units};
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Midas,
    name: "midas",
    hints: &[("midas", None)],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::S),
        address: Measure::Pages,
        size: Measure::Bytes,
        operations: "0 = read, 1 = write, 3 = trim",
    },
    event: Event::One,
    names_devices: false,
    device_separator: None,
    states_units: |_| false,
    reader: Reader::Lines(|settings| Box::new(Midas(settings.clock))),
};

const COLUMNS: &str = "4 or 5 columns: time in s, type, page, bytes, stream";
/// Bytes of a page, in which addresses count.
const PAGE_BYTES: u64 = 4096;
/// Fewest bytes of a request: formats with five numbers that count sectors have fewer there.
const BYTES_MIN: u64 = 512;

struct Midas(Clock);

impl LineParser for Midas {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        if line.trim_ascii() == b"LOAD_END" {
            return Ok(None);
        }
        let mut words = Words::new(line);
        let time_ns = self.0.read(words.take(COLUMNS)?)?;
        let kind = match words.take(COLUMNS)? {
            b"0" => RequestKind::Read,
            b"1" => RequestKind::Write,
            b"3" => RequestKind::Trim,
            other => return Err(Bad::new("0 for a read, 1 for a write or 3 for a trim", other)),
        };
        let offset = units(words.take(COLUMNS)?, PAGE_BYTES, "a page number")?;
        let size = words.take(COLUMNS)?;
        let length = integer(size, SIZE)?;
        if length < BYTES_MIN {
            return Err(Bad::new(SIZE, size));
        }
        let handle = words.word().map_or(Ok(None), handle_of)?;
        words.end(COLUMNS)?;
        Ok(Record::new(time_ns, kind, offset, length, b"")?.map(|record| Record { handle, ..record }))
    }
}

/// What the column with the size holds.
const SIZE: &str = "a size in bytes, 512 or more";
