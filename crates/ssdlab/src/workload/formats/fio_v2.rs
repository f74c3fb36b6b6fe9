//! fio I/O log, version 2: `filename action offset length`, bytes. There are no timestamps: time passes only by `filename wait N 0`,
//! which fio documents as N microseconds after the wait before. The device is the file name.

use super::fio::{Action, Header, action};
use super::text::{Words, integer};
use super::{Bad, Format, LineParser, Parsed, Reader, Record};
use crate::config::TraceFormat;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::FioV2,
    name: "fio-v2",
    hints: &[],
    counts_units: false,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(FioV2 { header: HEADER, now_ns: 0 })),
};

const COLUMNS: &str = "file, action, offset, length";
const HEADER: Header = Header { text: "fio version 2 iolog", expected: "the line \"fio version 2 iolog\"", seen: false };

struct FioV2 {
    header: Header,
    now_ns: u64,
}

impl LineParser for FioV2 {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        if self.header.is(line)? {
            return Ok(None);
        }
        let mut words = Words::new(line);
        let file = words.take(COLUMNS)?;
        let kind = match action(words.take(COLUMNS)?)? {
            Action::File => return words.end("a file action without further columns").map(|()| None),
            Action::Wait => return self.wait(words.take("a wait in us")?),
            Action::Io(kind) => kind,
        };
        let offset = integer(words.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(words.take(COLUMNS)?, "a length in bytes")?;
        words.end(COLUMNS)?;
        Record::new(self.now_ns, kind, offset, length, file)
    }
}

impl FioV2 {
    fn wait<'a>(&mut self, field: &[u8]) -> Parsed<'a> {
        const EXPECTED: &str = "a wait in us";
        let wait_ns = integer(field, EXPECTED)?.checked_mul(1000);
        self.now_ns = wait_ns.and_then(|w| self.now_ns.checked_add(w)).ok_or_else(|| Bad::new(EXPECTED, field))?;
        Ok(None)
    }
}
