//! Binary traces of VMware's vscsiStats, as CloudPhysics published them: records of 32 bytes (version 1) or 40 bytes (version 2), little
//! endian. Sizes are in bytes, addresses in sectors of 512 bytes, times in microseconds; the command is the SCSI operation code. Layout,
//! version and units are those of libCacheSim's reader, which came from CloudPhysics
//! (<https://github.com/1a1a11a/libCacheSim>, `traceReader/customizedReader/vscsi.h`); the codes are those of SCSI (T10 SPC-4, SBC-3).

use std::collections::BTreeMap;

use super::{Bad, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, RecordLayout, SECTOR_BYTES, Skipped, Time};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Vscsi,
    name: "vscsi",
    hints: &[("vscsi", None)],
    meaning: Meaning { time: Time::Fixed(TimeUnit::Us), address: Measure::Sectors, size: Measure::Bytes, operations: "SCSI codes" },
    event: Event::One,
    names_devices: false,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Records(layout),
};

/// Layout of a record: byte offsets of its fields.
#[derive(Clone, Copy)]
struct Vscsi {
    version: u8,
    bytes: usize,
    command: usize,
    length: usize,
}

/// Version 1: serial number, length, scatter-gather elements (32 bits each), command, version (16 bits each), address, time (64 bits each).
const VERSION_1: Vscsi = Vscsi { version: 1, bytes: 32, command: 12, length: 4 };
/// Version 2: command, version, serial number, length, elements, address, time, response time.
const VERSION_2: Vscsi = Vscsi { version: 2, bytes: 40, command: 0, length: 8 };
/// Byte offset of the address in a record, in both versions; [`TIME`] is that of the time.
const ADDRESS: usize = 16;
const TIME: usize = 24;

/// The layout that all whole records of a sample have: the version is in the high byte of its field. At least two records are needed, as a
/// single one could be anything.
fn layout(sample: &[u8]) -> Option<RecordLayout> {
    let found = [VERSION_2, VERSION_1].into_iter().find(|layout| {
        let mut records = sample.chunks_exact(layout.bytes);
        records.len() >= 2 && records.all(|record| layout.is_version(record))
    })?;
    Some(RecordLayout { bytes: found.bytes, parser: Box::new(VscsiParser { layout: found, skipped: Skipped::default() }) })
}

impl Vscsi {
    fn is_version(&self, record: &[u8]) -> bool {
        record[self.command + 3] == self.version
    }
}

struct VscsiParser {
    layout: Vscsi,
    skipped: Skipped,
}

impl LineParser for VscsiParser {
    #[inline]
    fn parse<'a>(&mut self, record: &'a [u8]) -> Parsed<'a> {
        let layout = self.layout;
        if record.len() != layout.bytes {
            let expected = if layout.version == 1 { "a record of 32 bytes" } else { "a record of 40 bytes" };
            return Err(Bad::new(expected, format!("{} bytes", record.len()).as_bytes()));
        }
        if !layout.is_version(record) {
            return Err(Bad::new("a record of the version of those before", record[layout.command + 3].to_string().as_bytes()));
        }
        let command = u16::from_le_bytes(bytes(record, layout.command));
        let Some(kind) = kind_of(command)? else {
            self.skipped.add(format!("{command:02x}").as_bytes());
            return Ok(None);
        };
        let scaled = |value: u64, by: u64, expected| value.checked_mul(by).ok_or_else(|| Bad::new(expected, value.to_string().as_bytes()));
        let time_ns = scaled(u64::from_le_bytes(bytes(record, TIME)), 1000, "a time in us")?;
        let offset = scaled(u64::from_le_bytes(bytes(record, ADDRESS)), SECTOR_BYTES, "an address in sectors of 512 bytes")?;
        let length = u32::from_le_bytes(bytes(record, layout.length));
        Record::new(time_ns, kind, offset, length.into(), b"")
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.named(|code| format!("SCSI command {code}, without data"))
    }
}

fn bytes<const N: usize>(record: &[u8], at: usize) -> [u8; N] {
    record[at..at + N].try_into().expect("a record has as many bytes as its layout says")
}

/// Request kind of a SCSI command; `None` for commands that transfer no data of the medium (inquiries).
pub(super) fn kind_of(command: u16) -> Result<Option<RequestKind>, Bad> {
    Ok(Some(match command {
        0x08 | 0x28 | 0x88 | 0xa8 => RequestKind::Read, // READ (6), (10), (16), (12)
        // WRITE and WRITE AND VERIFY
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae => RequestKind::Write,
        0x35 | 0x91 => RequestKind::Flush, // SYNCHRONIZE CACHE
        // TEST UNIT READY, REQUEST SENSE, INQUIRY, MODE SENSE, START STOP, READ CAPACITY, REPORT LUNS
        0x00 | 0x03 | 0x12 | 0x1a | 0x1b | 0x25 | 0x5a | 0x9e | 0xa0 => return Ok(None),
        other => return Err(Bad::new("a SCSI command that reads, writes or flushes", format!("0x{other:02x}").as_bytes())),
    }))
}
