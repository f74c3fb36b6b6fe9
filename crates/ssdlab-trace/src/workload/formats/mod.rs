//! The trace formats: one file and one line of [`REGISTRY`] each.

use std::collections::BTreeMap;

use super::reading::{Reading, Units};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{FioWait, TimeUnit, TraceEvent, TraceFormat};
use ssdlab_keys::remark::Remark;

mod alibaba;
mod arrow_schema;
mod biosnoop;
mod blkparse;
mod clock;
mod cloudphysics;
pub(crate) mod csv;
mod diskmon;
mod disksim;
mod fio;
mod fio_v2;
mod fio_v3;
mod fiu;
mod foreign;
mod ftrace;
mod io_tracer;
mod iotrace;
mod json;
mod kernel;
mod kinds;
mod midas;
mod mqsim;
mod msr;
mod msr_reduced;
mod names;
mod nvme;
mod own;
pub(crate) mod parquet;
mod recognise;
mod spc;
mod ssdsim;
mod systor;
mod tencent;
mod text;
mod vscsi;
mod vscsi_text;

pub(crate) use clock::Clock;
pub(crate) use recognise::{Recognised, by_name, duration, recognise, sample_lines, significant};
pub(crate) use text::integer;

/// Every format that can be read.
static REGISTRY: [&Format; 25] = [
    &msr::FORMAT,
    &msr_reduced::FORMAT,
    &spc::FORMAT,
    &disksim::FORMAT,
    &ssdsim::FORMAT,
    &mqsim::FORMAT,
    &blkparse::FORMAT,
    &fio_v2::FORMAT,
    &fio_v3::FORMAT,
    &systor::FORMAT,
    &alibaba::FORMAT,
    &tencent::FORMAT,
    &fiu::FORMAT,
    &diskmon::FORMAT,
    &vscsi_text::FORMAT,
    &vscsi::FORMAT,
    &csv::FORMAT,
    &parquet::FORMAT,
    &cloudphysics::FORMAT,
    &ftrace::FORMAT,
    &nvme::FORMAT,
    &biosnoop::FORMAT,
    &io_tracer::FORMAT,
    &iotrace::FORMAT,
    &midas::FORMAT,
];

/// All formats, in the order of the registry.
pub fn trace_formats() -> impl ExactSizeIterator<Item = TraceFormat> {
    REGISTRY.iter().map(|format| format.id)
}

/// Highest end of a request, bytes: sums of an offset and a length do not overflow.
const ADDRESS_LIMIT: u64 = 1 << 63;
/// Sector size, bytes: the unit of address and size in most formats.
const SECTOR_BYTES: u64 = 512;

/// Properties of a trace format.
pub(crate) struct Format {
    pub(crate) id: TraceFormat,
    /// Name in the configuration and in messages.
    pub(crate) name: &'static str,
    /// Parts of a file name, between dots, that indicate the format, and the bytes per unit that they indicate, if any.
    hints: &'static [(&'static str, Option<u64>)],
    /// Units and codes of the columns.
    pub(crate) meaning: Meaning,
    /// Which lines are requests.
    pub(crate) event: Event,
    /// Requests name their volume.
    pub(crate) names_devices: bool,
    /// Separator within a volume's name in a line; users write `_` instead.
    device_separator: Option<u8>,
    /// Whether the first lines of a file state its units: by a header, by absolute times, or by a layout that no other units have.
    states_units: fn(&[&[u8]]) -> bool,
    /// How files of the format are read.
    pub(crate) reader: Reader,
}

/// The units of a format's columns.
pub(crate) struct Meaning {
    pub(crate) time: Time,
    pub(crate) address: Measure,
    pub(crate) size: Measure,
    /// Codes of the operations, for users to read.
    pub(crate) operations: &'static str,
}

/// Times of a format, and their unit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// In this unit, by the format's definition or as the file states.
    Fixed(TimeUnit),
    /// Bare numbers: in this unit by the format's definition, but files with the same columns have others.
    Open(TimeUnit),
    /// Like [`Time::Open`], but without a decimal point unless a caller states the unit.
    OpenWhole(TimeUnit),
    /// Only waits (fio's log of version 2), whose numbers have two meanings.
    Waits,
}

impl Time {
    /// Whether a caller may state the unit of time.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Time::Open(_) | Time::OpenWhole(_))
    }
}

/// The unit of an address or a size.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Bytes,
    /// Sectors of 512 bytes.
    Sectors,
    /// Pages of 4096 bytes.
    Pages,
    /// Units of 512 bytes, or of the size that the caller states.
    Units,
    /// Bytes, or units of the size that the caller states.
    BytesOrUnits,
    /// Logical blocks, whose size the caller must state.
    Blocks,
}

/// The lines of a format that are requests.
pub(crate) enum Event {
    /// One kind of line is a request.
    One,
    /// A request has two events, queue and issue, of which one is taken. `of`: the event of a line, if it has one. `prefers`: the default,
    /// unless only the other event is in the first lines.
    OneOf { prefers: TraceEvent, of: fn(&[u8]) -> Option<TraceEvent> },
}

/// How a format is read.
pub(crate) enum Reader {
    /// Line by line.
    Lines(fn(&Settings) -> Box<dyn LineParser>),
    /// By records of equal length, as the first bytes of the file determine; `None`: the file has another format.
    Records(fn(&[u8]) -> Option<RecordLayout>),
    /// Column by column.
    Columnar,
}

/// Settings of a line parser.
pub(crate) struct Settings {
    unit_bytes: u64,
    clock: Clock,
    /// Event that counts as a request; `None` while formats are tried: both do.
    event: Option<TraceEvent>,
    fio_wait: FioWait,
}

impl Format {
    pub(crate) fn of(id: TraceFormat) -> &'static Format {
        REGISTRY.iter().find(|format| format.id == id).expect("every format is registered: a test checks it")
    }

    /// Whether addresses count units whose size the caller may state.
    pub(crate) fn counts_units(&self) -> bool {
        matches!(self.meaning.address, Measure::Units | Measure::BytesOrUnits | Measure::Blocks)
    }

    /// Whether the caller must state the bytes per unit.
    pub(crate) fn needs_units(&self) -> bool {
        self.meaning.address == Measure::Blocks
    }

    /// Bytes per unit if the caller states none.
    pub(crate) fn default_unit_bytes(&self) -> u64 {
        if self.meaning.address == Measure::BytesOrUnits { 1 } else { SECTOR_BYTES }
    }

    /// Name of a volume as users write it. Control characters are replaced: a file with them would pass for a binary one.
    pub(crate) fn device_name(&self, raw: &[u8]) -> String {
        let name = String::from_utf8_lossy(raw).replace(char::is_control, "\u{fffd}");
        self.device_separator.map_or(name.clone(), |separator| name.replace(separator as char, "_"))
    }

    /// A new line parser; `None` for a format that is not read line by line.
    pub(crate) fn parser(&self, reading: &Reading) -> Option<Box<dyn LineParser>> {
        let Reader::Lines(make) = self.reader else { return None };
        let clock = match (self.meaning.time, reading.time_unit) {
            (Time::Open(_) | Time::OpenWhole(_), Some(unit)) => Clock::new(unit, false),
            (Time::OpenWhole(unit), None) => Clock::new(unit, true),
            (Time::Fixed(unit) | Time::Open(unit), _) => Clock::new(unit, false),
            (Time::Waits, _) => Clock::new(TimeUnit::Us, true),
        };
        let unit_bytes = reading.unit_bytes.unwrap_or(self.default_unit_bytes());
        Some(make(&Settings { unit_bytes, clock, event: reading.event, fio_wait: reading.fio_wait }))
    }

    /// Layout of the records of a file that begins with `sample`; `None` if it has none of this format.
    pub(crate) fn records(&self, sample: &[u8]) -> Option<RecordLayout> {
        match self.reader {
            Reader::Records(layout) => layout(sample),
            Reader::Lines(_) | Reader::Columnar => None,
        }
    }

    /// Event that counts as a request: the stated one, else by the first `lines`. `None` for a format with one kind of request.
    pub(crate) fn chosen_event(&self, stated: Option<TraceEvent>, lines: &[&[u8]]) -> Option<TraceEvent> {
        let Event::OneOf { prefers, of } = self.event else { return None };
        let has = |event| lines.iter().any(|line| of(line) == Some(event));
        let other = if prefers == TraceEvent::Queue { TraceEvent::Issue } else { TraceEvent::Queue };
        Some(stated.unwrap_or(if !has(prefers) && has(other) { other } else { prefers }))
    }

    /// Units in which the columns are read. `stated`: the file itself states its units.
    pub(crate) fn units(&self, reading: &Reading, stated: bool) -> Units {
        let measure = |measure: Measure| match (measure, reading.unit_bytes) {
            (Measure::Bytes, _) | (Measure::BytesOrUnits, None) => "bytes".into(),
            (Measure::Sectors, _) => format!("{SECTOR_BYTES} bytes"),
            (_, bytes) => format!("{} bytes", bytes.unwrap_or(SECTOR_BYTES)),
        };
        let time = match self.meaning.time {
            Time::Waits if reading.fio_wait == FioWait::Program => "ms, by wait",
            Time::Waits => "us, by wait",
            Time::Open(unit) | Time::OpenWhole(unit) if !stated => reading.time_unit.unwrap_or(unit).name(),
            Time::Fixed(unit) | Time::Open(unit) | Time::OpenWhole(unit) => unit.name(),
        };
        let event = reading.event.filter(|_| !matches!(self.event, Event::One));
        Units {
            time: time.into(),
            address: measure(self.meaning.address),
            size: measure(self.meaning.size),
            operations: self.meaning.operations.into(),
            event: event.map(|event| if event == TraceEvent::Queue { "queue".into() } else { "issue".into() }),
        }
    }

    /// Whether the first `lines` state the units of the file: by a header, absolute times, or a layout that no other units have.
    pub(crate) fn states_units(&self, lines: &[&[u8]]) -> bool {
        (self.states_units)(lines)
    }
}

/// Layout of a file of records of equal length.
pub(crate) struct RecordLayout {
    pub(crate) bytes: usize,
    /// Parses a record like a line; the last record of a file may be cut short.
    pub(crate) parser: Box<dyn LineParser>,
}

/// Content of a line: a request, nothing (a header, another event), or why it is unreadable.
pub(crate) type Parsed<'a> = std::result::Result<Option<Record<'a>>, Bad>;

/// Parses the lines of one file, in order.
pub(crate) trait LineParser: Send {
    /// The request in a line that is not blank; `None` for a valid line without a request (a header, another event).
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a>;

    /// Whether the trace has no header, so that the default columns of the format were assumed.
    fn assumes_columns(&self) -> bool {
        false
    }

    /// Valid lines so far that hold no request, counted by kind. Headers and comments do not count.
    fn skipped(&self) -> BTreeMap<String, u64> {
        BTreeMap::new()
    }

    /// Enters the units that the header of the file states, where they are not those of the format.
    fn state_units(&self, _units: &mut Units) {}

    /// Remarks for the user on the file.
    fn remarks(&self) -> Vec<Remark> {
        Vec::new()
    }

    /// Pairs of devices of which the first hands its requests on to the second, from the lines so far.
    fn handed_on(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// Number of lines without a request, by kind. A file has few kinds of lines.
#[derive(Default)]
struct Skipped(BTreeMap<Box<[u8]>, u64>);

impl Skipped {
    /// Maximum number of kinds; further kinds are counted together.
    const KINDS: usize = 50;

    fn add(&mut self, kind: &[u8]) {
        if let Some(count) = self.0.get_mut(kind) {
            *count += 1;
            return;
        }
        let kind = if self.0.len() < Self::KINDS { kind } else { b"others" };
        *self.0.entry(kind.into()).or_default() += 1;
    }

    fn count(&self, kind: &[u8]) -> u64 {
        self.0.get(kind).copied().unwrap_or(0)
    }

    fn named(&self, name: impl Fn(&str) -> String) -> BTreeMap<String, u64> {
        self.0.iter().map(|(kind, &count)| (name(&String::from_utf8_lossy(kind)), count)).collect()
    }
}

/// One request as its trace states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Time by the trace's own clock, ns.
    pub(crate) time_ns: u64,
    pub(crate) kind: RequestKind,
    /// First byte. `offset + length` is at most 2^63; `length`, in bytes, is 0 for a flush only.
    pub(crate) offset: u64,
    pub(crate) length: u64,
    /// Volume, as written in the line; empty if the format names none.
    pub(crate) device: &'a [u8],
    /// Placement handle, from 0; `None` if the line names none.
    pub(crate) handle: Option<u8>,
}

impl<'a> Record<'a> {
    /// A read, write or trim without a volume; `None` if its size or its address range is impossible.
    #[inline]
    pub(crate) fn checked(time_ns: u64, kind: RequestKind, offset: u64, length: u64) -> Option<Self> {
        let is_inside = length > 0 && offset < ADDRESS_LIMIT && length <= ADDRESS_LIMIT - offset;
        is_inside.then_some(Record { time_ns, kind, offset, length, device: b"", handle: None })
    }

    /// Checks the size and the address range of a request. A flush gets address and size 0. A command that manages a zone may have no size: it
    /// names the zone by an address there.
    #[inline]
    pub(crate) fn new(time_ns: u64, kind: RequestKind, offset: u64, length: u64, device: &'a [u8]) -> Parsed<'a> {
        if kind == RequestKind::Flush {
            return Ok(Some(Record { time_ns, kind, offset: 0, length: 0, device, handle: None }));
        }
        let length = if kind.manages_zone() { length.max(SECTOR_BYTES) } else { length };
        match Record::checked(time_ns, kind, offset, length) {
            Some(record) => Ok(Some(Record { device, ..record })),
            None if length == 0 => Err(Bad { zero_size: true, ..Bad::new("a size above 0", b"0") }),
            None => Err(Bad::new("an address range within 2^63 bytes", format!("offset {offset}, size {length}").as_bytes())),
        }
    }
}

/// Why a line cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bad {
    pub(crate) expected: &'static str,
    pub(crate) found: Vec<u8>,
    pub(crate) zero_size: bool,
}

impl Bad {
    #[cold]
    pub(crate) fn new(expected: &'static str, found: &[u8]) -> Self {
        Bad { expected, found: found.to_vec(), zero_size: false }
    }
}

impl std::fmt::Display for Bad {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 60;
        let shown = &self.found[..self.found.len().min(SHOWN)];
        let cut = if shown.len() < self.found.len() { " ..." } else { "" };
        write!(f, "expected {}, found \"{}\"{cut}", self.expected, String::from_utf8_lossy(shown).escape_debug())
    }
}

/// Parses `R` or `W`, in either case.
#[inline]
fn read_or_write(field: &[u8], expected: &'static str) -> std::result::Result<RequestKind, Bad> {
    match field {
        b"R" | b"r" => Ok(RequestKind::Read),
        b"W" | b"w" => Ok(RequestKind::Write),
        _ => Err(Bad::new(expected, field)),
    }
}

/// Parses `Read` or `Write`, as in the MSR traces, in either case.
#[inline]
fn read_or_write_word(field: &[u8]) -> std::result::Result<RequestKind, Bad> {
    match field {
        b"Read" => Ok(RequestKind::Read),
        b"Write" => Ok(RequestKind::Write),
        _ if field.eq_ignore_ascii_case(b"read") => Ok(RequestKind::Read),
        _ if field.eq_ignore_ascii_case(b"write") => Ok(RequestKind::Write),
        _ => Err(Bad::new("the type Read or Write", field)),
    }
}

/// Parses the code of a read or of a write; formats differ in which is 1 and which is 0.
#[inline]
fn numbered_kind(field: &[u8], read: &[u8], write: &[u8], expected: &'static str) -> std::result::Result<RequestKind, Bad> {
    match field {
        _ if field == read => Ok(RequestKind::Read),
        _ if field == write => Ok(RequestKind::Write),
        _ => Err(Bad::new(expected, field)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use RequestKind::{Flush, Read, Trim, Write};
    use std::path::Path;

    const ALL: [TraceFormat; 25] = [
        TraceFormat::Msr,
        TraceFormat::MsrReduced,
        TraceFormat::Spc,
        TraceFormat::Disksim,
        TraceFormat::Ssdsim,
        TraceFormat::Mqsim,
        TraceFormat::Blkparse,
        TraceFormat::FioV2,
        TraceFormat::FioV3,
        TraceFormat::Systor,
        TraceFormat::Alibaba,
        TraceFormat::Tencent,
        TraceFormat::Fiu,
        TraceFormat::Diskmon,
        TraceFormat::VscsiText,
        TraceFormat::Vscsi,
        TraceFormat::Csv,
        TraceFormat::Parquet,
        TraceFormat::Cloudphysics,
        TraceFormat::Ftrace,
        TraceFormat::Nvme,
        TraceFormat::Biosnoop,
        TraceFormat::IoTracer,
        TraceFormat::Iotrace,
        TraceFormat::Midas,
    ];

    type Row<D = &'static str> = (u64, RequestKind, u64, u64, D);

    /// Reads a text of one format: its requests, and the messages for unreadable lines.
    fn read(format: TraceFormat, text: &str) -> (Vec<Row<String>>, Vec<String>) {
        read_as(&Reading::of(format), text)
    }

    fn read_as(reading: &Reading, text: &str) -> (Vec<Row<String>>, Vec<String>) {
        let format = Format::of(reading.format.unwrap());
        let mut parser = format.parser(reading).unwrap();
        let (mut rows, mut bad) = (Vec::new(), Vec::new());
        for line in text.lines() {
            match parser.parse(line.as_bytes()) {
                Ok(Some(r)) => rows.push((r.time_ns, r.kind, r.offset, r.length, format.device_name(r.device))),
                Ok(None) => {}
                Err(e) => bad.push(e.to_string()),
            }
        }
        (rows, bad)
    }

    fn expect(format: TraceFormat, text: &str, expected: &[Row]) {
        let (rows, bad) = read(format, text);
        assert_eq!(bad, Vec::<String>::new(), "{format:?}");
        let rows: Vec<_> = rows.iter().map(|r| (r.0, r.1, r.2, r.3, r.4.as_str())).collect();
        assert_eq!(rows, expected, "{format:?}");
        // Five columns of numbers do not state their units: a file name does.
        let open = matches!(format, TraceFormat::Disksim | TraceFormat::Mqsim | TraceFormat::Midas);
        let name = if open { format!("trace.{}.txt", Format::of(format).name) } else { "trace.txt".into() };
        let recognised = recognise(Path::new(&name), text.as_bytes(), true).unwrap();
        assert_eq!(recognised.format.id, format, "recognised");
    }

    fn expect_bad(format: TraceFormat, line: &str, parts: &[&str]) {
        let (rows, bad) = read(format, line);
        assert!(rows.is_empty() && bad.len() == 1, "{format:?} read {line:?} as {rows:?}");
        for part in parts {
            assert!(bad[0].contains(part), "{format:?}: {} does not say {part}", bad[0]);
        }
    }

    #[test]
    fn a_device_name_has_nothing_that_cannot_be_printed() {
        assert_eq!(Format::of(TraceFormat::Csv).device_name(b"d\x00\xf2\x07"), "d\u{fffd}\u{fffd}\u{fffd}");
    }

    #[test]
    fn every_format_is_registered_under_its_configuration_name() {
        for id in ALL {
            let format = Format::of(id);
            assert_eq!(serde_json::to_value(id).unwrap(), format.name);
        }
    }

    #[test]
    fn msr_counts_100_ns_ticks_and_bytes() {
        let text = "128166385295514663,hm,0,Write,9056014336,2048,2833\n128166385295514878,hm,1,Read,11855351808,512,2617";
        let expected = [
            (12_816_638_529_551_466_300, Write, 9_056_014_336, 2048, "hm_0"),
            (12_816_638_529_551_487_800, Read, 11_855_351_808, 512, "hm_1"),
        ];
        expect(TraceFormat::Msr, text, &expected);
        expect_bad(TraceFormat::Msr, "128166385295514663,hm,0,Write,9056014336,2048", &["7 columns", "fewer"]);
        expect_bad(TraceFormat::Msr, "1,hm,0,Write,2,512,3,4", &["7 columns", "more"]);
        expect_bad(TraceFormat::Msr, "1,hm,0,Trim,2,512,3", &["Read or Write", "Trim"]);
        expect_bad(TraceFormat::Msr, "1,hm,0,Read,-2,512,3", &["offset", "-2"]);
        expect_bad(TraceFormat::Msr, "1,hm,0,Read,2,0,3", &["size above 0"]);
        expect_bad(TraceFormat::Msr, "1,hm,0,Read,18446744073709551000,512,3", &["2^63"]);
        expect_bad(TraceFormat::Msr, "1844674407370955161,hm,0,Read,0,512,3", &["time", "1844674407370955161"]);
    }

    #[test]
    fn msr_reduced_has_tabs_and_four_columns() {
        let text = "128166481075232000 \tWrite\t281358336 \t45056\n128166481075299000 \tRead\t0\t65536";
        let expected = [(12_816_648_107_523_200_000, Write, 281_358_336, 45_056, ""), (12_816_648_107_529_900_000, Read, 0, 65_536, "")];
        expect(TraceFormat::MsrReduced, text, &expected);
        expect_bad(TraceFormat::MsrReduced, "128166465299119000 \tRead\t1.82083E+11\t4096", &["offset", "1.82083E+11"]);
    }

    #[test]
    fn spc_has_sectors_bytes_and_seconds() {
        let text = "0,20941264,8192,W,0.551706\n1,3436288,15872,r,1.041306,x";
        expect(
            TraceFormat::Spc,
            text,
            &[(551_706_000, Write, 20_941_264 * 512, 8192, "0"), (1_041_306_000, Read, 3_436_288 * 512, 15_872, "1")],
        );
        expect_bad(TraceFormat::Spc, "0,1,512,X,0.5", &["opcode", "X"]);
    }

    #[test]
    fn disksim_has_milliseconds_and_units() {
        let text = "26.214000 0 303574 7 0\n 78.643\t1\t55596\t1\t1";
        let expected = [(26_214_000, Write, 303_574 * 512, 7 * 512, "0"), (78_643_000, Read, 55_596 * 512, 512, "1")];
        expect(TraceFormat::Disksim, text, &expected);
        let mut pages = Format::of(TraceFormat::Disksim).parser(&Reading { unit_bytes: Some(4096), ..Reading::default() }).unwrap();
        let record = pages.parse(b"1.5 0 3 2 1").unwrap().unwrap();
        assert_eq!((record.time_ns, record.offset, record.length), (1_500_000, 12_288, 8192));
        expect_bad(TraceFormat::Disksim, "1.5 0 3 2 4", &["1 for a read", "4"]);
    }

    #[test]
    fn mqsim_and_ssdsim_have_nanoseconds_and_sectors() {
        let text = "11413000 0 657728 16 1\n11565000 1 31244784 64 0";
        let expected = [(11_413_000, Read, 657_728 * 512, 8192, "0"), (11_565_000, Write, 31_244_784 * 512, 32_768, "1")];
        expect(TraceFormat::Mqsim, text, &expected);
        assert_eq!(read(TraceFormat::Ssdsim, text), read(TraceFormat::Mqsim, text));
        expect_bad(TraceFormat::Mqsim, "1.5 0 3 2 1", &["time", "1.5"]);
    }

    #[test]
    fn midas_has_seconds_pages_and_streams() {
        let text = "0.146559796 1 0 4096 \nLOAD_END\n0.5\t0 5 8192\n1 3 7 4096 2";
        expect(
            TraceFormat::Midas,
            text,
            &[(146_559_796, Write, 0, 4096, ""), (500_000_000, Read, 20_480, 8192, ""), (1_000_000_000, Trim, 28_672, 4096, "")],
        );
        let mut parser = Format::of(TraceFormat::Midas).parser(&Reading::default()).unwrap();
        let handles = text.lines().filter_map(|line| parser.parse(line.as_bytes()).unwrap()).map(|record| record.handle);
        assert_eq!(handles.collect::<Vec<_>>(), [None, None, Some(2)]);
        expect_bad(TraceFormat::Midas, "0.1 2 0 4096", &["1 for a write or 3 for a trim", "2"]);
        expect_bad(TraceFormat::Midas, "0.1 1 0 8", &["512 or more", "8"]);
        expect_bad(TraceFormat::Midas, "0.1 1 0 4096 300", &["a placement handle", "300"]);
        expect_bad(TraceFormat::Midas, "0.1 1 0 4096 1 7", &["4 or 5 columns", "more"]);
    }

    #[test]
    fn blkparse_tells_events_apart() {
        let text = "  8,16   5        1     0.000000000 18615  A   R 1444645666 + 256 <- (8,17) 1444645632
  8,16   5        2     0.000001850 18615  Q   R 1444645666 + 256 [java]
  8,16   5        3     0.000006438 18615  G   R 1444645666 + 256 [java]
  8,16   5        0     0.000012990     0  m   N cfq18615S / insert_request
  8,17   0        4     1.000000001   200  Q   D 2048 + 8 [kworker 0]
  8,17   0        5     1.000000002   200  Q FWS [jbd2/sda1-8]
  8,17   0        6     1.000000003   200  Q FWFS 16 + 8 [jbd2/sda1-8]
  8,17   0        7     1.000000004   200  Q   N [sh]
CPU0 (8,16):
 Reads Queued:          10,       40KiB\t Writes Queued:           0,        0KiB
Throughput (R/W): 0KiB/s / 0KiB/s";
        expect(
            TraceFormat::Blkparse,
            text,
            &[
                (1_850, Read, 1_444_645_666 * 512, 256 * 512, "8,16"),
                (1_000_000_001, Trim, 1_048_576, 4096, "8,17"),
                (1_000_000_002, Flush, 0, 0, "8,17"),
                (1_000_000_003, Write, 8192, 4096, "8,17"),
            ],
        );
        expect_bad(TraceFormat::Blkparse, "8,16 5 2 0.1 18 Q X 14 + 8 [x]", &["read, write", "X"]);
        expect_bad(TraceFormat::Blkparse, "8,16 5 2 0.1 18 Q R 14 - 8 [x]", &["+", "-"]);
    }

    #[test]
    fn fio_version_2_has_waits_and_version_3_times() {
        let text = "fio version 2 iolog\n/dev/sda add\n/dev/sda open\n/dev/sda write 4096 8192\n/dev/sda wait 250 0
/dev/sda read 0 512\n/dev/sda trim 0 4096\n/dev/sda sync 0 0\n/dev/sda close";
        expect(
            TraceFormat::FioV2,
            text,
            &[
                (0, Write, 4096, 8192, "/dev/sda"),
                (250_000_000, Read, 0, 512, "/dev/sda"),
                (250_000_000, Trim, 0, 4096, "/dev/sda"),
                (250_000_000, Flush, 0, 0, "/dev/sda"),
            ],
        );
        let text = "fio version 3 iolog\n2 n1 add\n872 n1 open\n878 n1 write 0 16384\n888 n1 datasync 0 0\n10001677 n1 close";
        expect(TraceFormat::FioV3, text, &[(878_000, Write, 0, 16_384, "n1"), (888_000, Flush, 0, 0, "n1")]);
        let (_, bad) = read(TraceFormat::FioV3, "fio version 2 iolog\nx read 0 1");
        assert!(bad[0].contains("fio version 3 iolog"), "{bad:?}");
    }

    #[test]
    fn systor_has_seconds_and_bytes() {
        let text = "Timestamp,Response,IOType,LUN,Offset,Size\n1456095145.133076000,0.000806000,R,0,899056122368,131072
1456095145.126285001,,W,1,0,512";
        expect(
            TraceFormat::Systor,
            text,
            &[(1_456_095_145_133_076_000, Read, 899_056_122_368, 131_072, "0"), (1_456_095_145_126_285_001, Write, 0, 512, "1")],
        );
    }

    #[test]
    fn alibaba_and_tencent_differ_in_units_and_order() {
        let text = "419,W,8792731648,16384,1577808000000024\n725,R,59110326272,360448,1577808000000028";
        expect(
            TraceFormat::Alibaba,
            text,
            &[
                (1_577_808_000_000_024_000, Write, 8_792_731_648, 16_384, "419"),
                (1_577_808_000_000_028_000, Read, 59_110_326_272, 360_448, "725"),
            ],
        );
        let text = "1538323200,4247200,128,1,1058\n1538323199,13896880,128,0,1063";
        expect(
            TraceFormat::Tencent,
            text,
            &[
                (1_538_323_200_000_000_000, Write, 4_247_200 * 512, 65_536, "1058"),
                (1_538_323_199_000_000_000, Read, 13_896_880 * 512, 65_536, "1063"),
            ],
        );
    }

    const DIGEST: &str = "56f11b711d91a065a2b6458eca924523";

    #[test]
    fn fiu_has_nanoseconds_sectors_and_digests() {
        let text = format!(
            "89968195792462 20782 gzip 283193184 8 R 6 0 {DIGEST}\n89968195792500 4892 my daemon 904265560 16 W 8 16 {DIGEST} {DIGEST}"
        );
        let expected =
            [(89_968_195_792_462, Read, 283_193_184 * 512, 4096, "6_0"), (89_968_195_792_500, Write, 904_265_560 * 512, 8192, "8_16")];
        expect(TraceFormat::Fiu, &text, &expected);
        expect_bad(TraceFormat::Fiu, "1 2 gzip 3 8 R 6 0 56f1", &["MD5", "56f1"]);
        expect_bad(TraceFormat::Fiu, &format!("1 2 3 8 R 6 0 {DIGEST}"), &["9 columns"]);
        expect_bad(TraceFormat::Fiu, &format!("1 2 gzip 3 0 R 6 0 {DIGEST}"), &["size above 0"]);
        expect_bad(TraceFormat::Fiu, &format!("1 2 gzip 3 8 D 6 0 {DIGEST}"), &["R or W", "D"]);
        expect_bad(TraceFormat::Fiu, &format!("0.5 2 gzip 3 8 R 6 0 {DIGEST}"), &["ns", "0.5"]);
        expect_bad(TraceFormat::Fiu, &format!("1 2 gzip 3 8 R 6  0 {DIGEST}"), &["one space"]);
    }

    #[test]
    fn fius_files_are_called_blkparse_and_are_read_as_what_they_are() {
        let text = format!("89968195792462 20782 gzip 283193184 8 R 6 0 {DIGEST}\n");
        let name = Path::new("homes-110108-112108.1.blkparse.gz");
        assert_eq!(recognise(name, text.as_bytes(), true).unwrap().format.id, TraceFormat::Fiu);
        let events = b"8,16 0 1 0.5 1 Q R 0 + 8 [a]\n";
        assert_eq!(recognise(name, events, true).unwrap().format.id, TraceFormat::Blkparse);
    }

    #[test]
    fn diskmon_has_tabs_seconds_and_sectors() {
        let text = "0\t0.001234\t0.00001526\t0\tWrite\t123456\t8\n1\t0.5\t0.00000000\t1\tRead\t0\t128";
        let expected = [(1_234_000, Write, 123_456 * 512, 4096, "0"), (500_000_000, Read, 0, 65_536, "1")];
        expect(TraceFormat::Diskmon, text, &expected);
        expect_bad(TraceFormat::Diskmon, "0\t0,001234\t0\t0\tWrite\t1\t8", &["decimal point", "0,001234"]);
        expect_bad(TraceFormat::Diskmon, "0\t10:31:02\t0\t0\tWrite\t1\t8", &["clock time"]);
        expect_bad(TraceFormat::Diskmon, "0\t0.1\t0\t0\tWrite\t1", &["7 columns", "fewer"]);
    }

    #[test]
    fn vscsi_text_has_comments_bytes_sectors_and_microseconds() {
        let text = "#Vscsi Cmd Trace. (Trace Format Version 1)
#Serial Number,IO Data Length,Num SG Entries,Command Type,LBN,Time Stamp (microseconds)
2147483692,4096,1,write,24048792,2756778716647\n2147483769,512,1,read,6322464,2756783857269";
        let expected =
            [(2_756_778_716_647_000, Write, 24_048_792 * 512, 4096, ""), (2_756_783_857_269_000, Read, 6_322_464 * 512, 512, "")];
        expect(TraceFormat::VscsiText, text, &expected);
        expect_bad(TraceFormat::VscsiText, "1,4096,1,0x28,0,7", &["Read or Write", "0x28"]);
        expect_bad(TraceFormat::VscsiText, "1,4096,1,read,0,18446744073709551615", &["us"]);
    }

    #[test]
    fn csv_goes_by_its_header() {
        let text = "timestamp_us,op,offset_bytes,size_bytes,flags,issuer\n0,R,1052672,20480,RAM,a\n5.001,F,0,0,FF,b\n7,T,512,512,DS,c";
        expect(TraceFormat::Csv, text, &[(0, Read, 1_052_672, 20_480, ""), (5_001, Flush, 0, 0, ""), (7_000, Trim, 512, 512, "")]);
        let text = "op,device,size_bytes,offset_bytes,timestamp_us\nw,\"8,16\",512,1024,3";
        expect(TraceFormat::Csv, text, &[(3_000, Write, 1024, 512, "8,16")]);
        let (rows, _) = read(TraceFormat::Csv, "0,R,0,512\n1,W,512,512");
        assert_eq!(rows.iter().map(|row| row.0).collect::<Vec<_>>(), [0, 1_000]);
        let (_, bad) = read(TraceFormat::Csv, "time,op,offset,size");
        assert!(bad[0].contains("timestamp_us,op,offset_bytes,size_bytes"), "{bad:?}");
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_a_parser_panic(lines in proptest::collection::vec("[0-9RWTFQ,. \t+a-e:-]{0,60}", 1..20), unit in 1u64..u64::MAX) {
            for format in REGISTRY {
                if let Some(mut parser) = format.parser(&Reading { unit_bytes: Some(unit), ..Reading::default() }) {
                    for line in &lines {
                        let _ = parser.parse(line.as_bytes());
                    }
                }
            }
        }

        #[test]
        fn no_beginning_of_a_file_makes_recognition_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 1..700),
                                                          tar in proptest::bool::ANY, is_all in proptest::bool::ANY) {
            let mut bytes = bytes;
            if tar && bytes.len() > 262 {
                bytes[257..262].copy_from_slice(b"ustar");
            }
            let _ = recognise(Path::new("x"), &bytes, is_all);
        }
    }
}
