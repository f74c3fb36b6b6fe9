//! fio I/O log, version 2: `filename action offset length`, bytes. There are no timestamps: time passes only by `filename wait N 0`. fio
//! itself waits until N milliseconds after its start (`iolog.c`, `read_iolog_get`: `mtime_since_genesis`); its manual says N microseconds
//! after the wait before. `workload.fio_wait` chooses. The device is the file name.

use super::fio::{Action, Header, HeaderState, action};
use super::text::{Words, integer};
use super::{Bad, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time};
use ssdlab_keys::config::{FioWait, TraceFormat};
use ssdlab_keys::remark::Remark;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::FioV2,
    name: "fio-v2",
    hints: &[],
    meaning: Meaning {
        time: Time::Waits,
        address: Measure::Bytes,
        size: Measure::Bytes,
        operations: "read, write, trim; sync, datasync = flush",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|settings| Box::new(FioV2 { header: HEADER, meaning: settings.fio_wait, waits: 0, now_ns: 0 })),
};

const COLUMNS: &str = "file, action, offset, length";
const HEADER: Header =
    Header { text: "fio version 2 iolog", expected: "the first line \"fio version 2 iolog\"", state: HeaderState::Awaited };

struct FioV2 {
    header: Header,
    meaning: FioWait,
    /// Number of `wait` lines so far.
    waits: u64,
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
            Action::Wait => return self.wait(words.take("a number behind wait")?),
            Action::Io(kind) => kind,
        };
        let offset = integer(words.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(words.take(COLUMNS)?, "a length in bytes")?;
        words.end(COLUMNS)?;
        Record::new(self.now_ns, kind, offset, length, file)
    }

    fn remarks(&self) -> Vec<Remark> {
        if self.waits == 0 {
            return Vec::new();
        }
        let (read, other, value) = match self.meaning {
            FioWait::Program => ("as fio's program does, as ms after the start", "fio's manual says us after the wait before", "manual"),
            FioWait::Manual => {
                ("as fio's manual says, as us after the wait before", "fio's program waits until ms after the start", "program")
            }
        };
        let sentence = format!("The {} waits of this log are read {read}; {other}.", self.waits);
        let remedy = format!("--fio-wait {value} (workload.fio_wait = \"{value}\") takes the other meaning.");
        vec![Remark::note("fio-waits", "workload.trace", sentence, remedy)]
    }
}

impl FioV2 {
    fn wait<'a>(&mut self, field: &[u8]) -> Parsed<'a> {
        const EXPECTED: &str = "a wait in ms (or, by fio's manual, in us)";
        let scale = if self.meaning == FioWait::Program { 1_000_000 } else { 1000 };
        let wait_ns = integer(field, EXPECTED)?.checked_mul(scale);
        let then_ns = match self.meaning {
            FioWait::Program => wait_ns.map(|wait| wait.max(self.now_ns)),
            FioWait::Manual => wait_ns.and_then(|wait| self.now_ns.checked_add(wait)),
        };
        self.now_ns = then_ns.ok_or_else(|| Bad::new(EXPECTED, field))?;
        self.waits += 1;
        Ok(None)
    }
}
