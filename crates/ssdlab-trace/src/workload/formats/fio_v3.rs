//! fio I/O log, version 3: `microseconds filename action offset length`, bytes. The device is the file name.

use super::fio::{Action, Header, HeaderState, action};
use super::text::{Words, decimal, integer};
use super::{Bad, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::FioV3,
    name: "fio-v3",
    hints: &[],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::Us),
        address: Measure::Bytes,
        size: Measure::Bytes,
        operations: "read, write, trim; sync, datasync = flush",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|_| Box::new(FioV3 { header: HEADER })),
};

const COLUMNS: &str = "time in us, file, action, offset, length";
const HEADER: Header =
    Header { text: "fio version 3 iolog", expected: "the first line \"fio version 3 iolog\"", state: HeaderState::Awaited };

struct FioV3 {
    header: Header,
}

impl LineParser for FioV3 {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        if self.header.is(line)? {
            return Ok(None);
        }
        let mut words = Words::new(line);
        let time_ns = decimal(words.take(COLUMNS)?, 3, "a time in us")?;
        let file = words.take(COLUMNS)?;
        let name = words.take(COLUMNS)?;
        let kind = match action(name)? {
            Action::File => return words.end("a file action without further columns").map(|()| None),
            Action::Wait => return Err(Bad::new("an action other than wait, which version 3 does not have", name)),
            Action::Io(kind) => kind,
        };
        let offset = integer(words.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(words.take(COLUMNS)?, "a length in bytes")?;
        words.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, file)
    }
}
