//! The project's own text: `timestamp_us,op,offset_bytes,size_bytes`, with a header in any order of columns, of which `device` is used as
//! well, and `handle`, and further ones are ignored; or, where the caller names the format, without a header and with these four columns. Microseconds may
//! have a fraction; op is R, W, T (trim) or F (flush), or a word (`READ`, `discard`), or the kernel's letters. Names and values may be in
//! quotation marks. A header may instead have the names of the kernel's block events, see [`super::names`].

use std::collections::BTreeMap;

use super::Units;
use super::names::{self, Layout};
use super::text::{Columns, integer, leading_integer, units};
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Skipped, Time, kernel};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Csv,
    name: "csv",
    hints: &[],
    meaning: Meaning {
        time: Time::Open(TimeUnit::Us),
        address: Measure::BytesOrUnits,
        size: Measure::BytesOrUnits,
        operations: "R, W, T = trim, F = flush, or words",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units,
    reader: Reader::Lines(|settings| {
        let (clock, unit_bytes) = (settings.clock, settings.unit_bytes);
        Box::new(Csv { clock, unit_bytes, layout: None, is_foreign: false, event: None, skipped: Skipped::default() })
    }),
};

/// Header of the CSV traces that ssdlab writes.
pub const HEADER: &str = "timestamp_us,op,offset_bytes,size_bytes";
const COLUMNS: &str = "the columns timestamp_us,op,offset_bytes,size_bytes";
const HEADER_EXPECTED: &str = "the header timestamp_us,op,offset_bytes,size_bytes in the first line";

struct Csv {
    clock: Clock,
    /// Bytes per unit of address and size without a header.
    unit_bytes: u64,
    layout: Option<Layout>,
    /// The first line is a header with other columns, so that no line can be read.
    is_foreign: bool,
    /// The event that counts as a request, of a trace with a column of events: the first one that can.
    event: Option<Box<[u8]>>,
    skipped: Skipped,
}

impl LineParser for Csv {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        if let Some(Layout { is_plain: true, open_end, .. }) = self.layout
            && let Some(record) = self.plain(line, open_end)
        {
            return Ok(Some(record));
        }
        let layout = match self.layout {
            Some(layout) => layout,
            None if self.is_foreign => return Err(Bad::new(HEADER_EXPECTED, line)),
            None if starts_with_number(line) => *self.layout.insert(Layout::without_header(self.unit_bytes)),
            None => {
                self.is_foreign = line.split(|&b| b == b',').count() > 2;
                self.layout = Some(header(line)?);
                return Ok(None);
            }
        };
        if layout.is_plain {
            let plain = self.in_order(line, &layout);
            // Words, quotation marks and whole numbers with a point are rare.
            return if plain.is_ok() { plain } else { self.in_any_order(line, &layout) };
        }
        self.in_any_order(line, &layout)
    }

    fn assumes_columns(&self) -> bool {
        self.layout.is_some_and(|layout| !layout.open_end)
    }

    fn skipped(&self) -> BTreeMap<String, u64> {
        self.skipped.named(|name| if name == "N" { "commands that neither read nor write (N)".into() } else { format!("event {name}") })
    }

    fn state_units(&self, units: &mut Units) {
        if let Some(layout) = self.layout.filter(|layout| layout.open_end) {
            layout.state_units(units);
        }
    }
}

/// Whether a line begins with a digit, and so is not a header. Spaces and quotation marks before it do not count.
fn starts_with_number(line: &[u8]) -> bool {
    line.trim_ascii_start().iter().find(|&&byte| byte != b'"').is_some_and(u8::is_ascii_digit)
}

/// The layout that a header line describes.
fn header(line: &[u8]) -> Result<Layout, Bad> {
    let columns: Vec<String> = Quoted(Some(line)).map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if named_twice(line).is_some() {
        return Err(Bad::new("a header that names each of timestamp_us,op,offset_bytes,size_bytes,device,handle once", line));
    }
    names::layout(&columns).map_err(|_| Bad::new(HEADER_EXPECTED, line))
}

/// Whether the first lines state the units: a header does, unless its time has none and is not absolute either.
fn states_units(lines: &[&[u8]]) -> bool {
    let Some(layout) = lines.first().and_then(|first| header(first).ok()) else { return false };
    let is_absolute = |line: &&&[u8]| Quoted(Some(line)).nth(layout.time).is_some_and(|time| names::absolute_ns(time).is_some());
    !layout.has_open_time() || lines.get(1..).unwrap_or_default().iter().any(|line| is_absolute(&line))
}

/// A column that a header names more than once; `None` if there is none.
pub(super) fn named_twice(line: &[u8]) -> Option<&'static str> {
    let count = |name: &str| Quoted(Some(line)).filter(|column| column.trim_ascii().eq_ignore_ascii_case(name.as_bytes())).count();
    ["timestamp_us", "op", "offset_bytes", "size_bytes", "device", "handle"].into_iter().find(|name| count(name) > 1)
}

/// Whether a line is a header with all columns that a trace needs.
pub(crate) fn is_header(line: &[u8]) -> bool {
    header(line).is_ok()
}

impl Csv {
    /// Parses a line of integers and a letter, the columns in their usual order, in one pass: nearly all lines. `None` for any other line,
    /// which the general ways read, or say what is wrong with it.
    #[inline]
    fn plain(&self, line: &[u8], open_end: bool) -> Option<Record<'static>> {
        let (time, rest) = leading_integer(line)?;
        let [b',', op, b',', rest @ ..] = rest else { return None };
        let kind = match op {
            b'R' | b'r' => RequestKind::Read,
            b'W' | b'w' => RequestKind::Write,
            b'T' | b't' => RequestKind::Trim,
            _ => return None,
        };
        let (offset, rest) = leading_integer(rest)?;
        let (size, rest) = leading_integer(rest.strip_prefix(b",")?)?;
        if !(rest.is_empty() || open_end && rest[0] == b',') {
            return None;
        }
        let bytes = |count: u64| count.checked_mul(self.unit_bytes);
        Record::checked(self.clock.whole_ns(time)?, kind, bytes(offset)?, bytes(size)?)
    }

    /// Parses a line with the columns in their usual order, without quotation marks.
    #[inline]
    fn in_order<'a>(&mut self, line: &'a [u8], layout: &Layout) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        let op = columns.take(COLUMNS)?;
        let offset = columns.take(COLUMNS)?;
        let size = columns.take(COLUMNS)?;
        if !layout.open_end {
            columns.end(COLUMNS)?;
        }
        self.record(layout, [time, op, offset, size], b"")
    }

    #[cold]
    fn in_any_order<'a>(&mut self, line: &'a [u8], layout: &Layout) -> Parsed<'a> {
        let (mut time, mut op, mut offset, mut size, mut device, mut handle, mut event) = (None, None, None, None, None, None, None);
        let mut count = 0;
        for (index, column) in Quoted(Some(line)).enumerate() {
            count = index + 1;
            match index {
                _ if index == layout.time => time = Some(column),
                _ if index == layout.op => op = Some(column),
                _ if index == layout.offset => offset = Some(column),
                _ if index == layout.size => size = Some(column),
                _ if Some(index) == layout.device => device = Some(column),
                _ if Some(index) == layout.handle => handle = Some(column),
                _ if Some(index) == layout.event => event = Some(column),
                _ => {}
            }
        }
        if !layout.open_end && count > 4 {
            return Err(Bad::new(COLUMNS, b"more columns"));
        }
        if is_header(line) {
            return Err(Bad::new("requests: a second header begins another trace here; split the file", line));
        }
        let need = |column: Option<&'a [u8]>| column.ok_or_else(|| Bad::new(COLUMNS, b"fewer columns"));
        let device = if layout.device.is_some() { need(device)? } else { b"" };
        let handle = if layout.handle.is_some() { handle_of(need(handle)?)? } else { None };
        if layout.event.is_some() && !self.is_request(need(event)?) {
            return Ok(None);
        }
        let record = self.record(layout, [need(time)?, need(op)?, need(offset)?, need(size)?], device)?;
        Ok(record.map(|record| Record { handle, ..record }))
    }

    /// Whether an event is a request: queue and issue are, of which a trace may have both; the first one counts.
    fn is_request(&mut self, event: &[u8]) -> bool {
        let short = event.strip_prefix(b"block:").unwrap_or(event);
        let can_be =
            matches!(short, b"block_rq_issue" | b"rq_issue" | b"issue" | b"D" | b"block_bio_queue" | b"bio_queue" | b"queue" | b"Q");
        let is_request = can_be && **self.event.get_or_insert_with(|| short.into()) == *short;
        if !is_request {
            self.skipped.add(event);
        }
        is_request
    }

    #[inline]
    fn record<'a>(&mut self, layout: &Layout, [time, op, offset, size]: [&[u8]; 4], device: &'a [u8]) -> Parsed<'a> {
        let time_ns = match names::absolute_ns(time).filter(|_| layout.has_open_time()) {
            Some(ns) => {
                self.layout = Some(Layout { time_unit: Some(TimeUnit::Ns), ..*layout });
                ns
            }
            None => layout.clock().unwrap_or(self.clock).read(time)?,
        };
        // Before the numbers: the message names the first wrong column, and a flush needs neither.
        if kind(op)? == Some(RequestKind::Flush) && !matches!(op, [b'F', _, ..]) {
            return Record::new(time_ns, RequestKind::Flush, 0, 0, device);
        }
        let offset = whole(offset, layout.offset_bytes, "an offset in bytes")?;
        let length = whole(size, layout.size_bytes, "a size in bytes")?;
        let Some(kind) = kind_of_length(op, length)? else {
            self.skipped.add(b"N");
            return Ok(None);
        };
        Record::new(time_ns, kind, offset, length, device)
    }
}

/// Parses a whole number of units, in bytes. `4096.0` is accepted: tools write columns with missing values so.
#[inline]
fn whole(field: &[u8], unit_bytes: u64, expected: &'static str) -> Result<u64, Bad> {
    match integer(field, expected) {
        Ok(value) => value.checked_mul(unit_bytes).ok_or_else(|| Bad::new(expected, field)),
        Err(bad) => {
            let zeros = field.iter().rev().take_while(|&&byte| byte == b'0').count();
            match field[..field.len() - zeros].strip_suffix(b".") {
                Some(digits) => units(digits, unit_bytes, expected).map_err(|_| bad),
                None => Err(bad),
            }
        }
    }
}

/// Placement handle in the column `handle`; an empty column names none.
pub(super) fn handle_of(field: &[u8]) -> Result<Option<u8>, Bad> {
    if field.is_empty() {
        return Ok(None);
    }
    let number = whole(field, 1, HANDLE)?;
    u8::try_from(number).map(Some).map_err(|_| Bad::new(HANDLE, field))
}

/// What the column `handle` holds.
const HANDLE: &str = "a placement handle from 0 to 7, or nothing";

/// Request kind of a letter or word in the column `op` (CSV and Parquet); `None` for the kernel's letter N, neither read nor write.
#[inline]
pub(super) fn kind(op: &[u8]) -> Result<Option<RequestKind>, Bad> {
    match op {
        b"R" | b"r" => Ok(Some(RequestKind::Read)),
        b"W" | b"w" => Ok(Some(RequestKind::Write)),
        b"T" | b"t" => Ok(Some(RequestKind::Trim)),
        b"F" | b"f" => Ok(Some(RequestKind::Flush)),
        _ if is_rwbs(op) => kernel::kind_of(op),
        _ => named_kind(op).map(Some),
    }
}

/// Request kind of the column `op`, of a request of `length` bytes. The kernel's letters mean other requests with and without data:
/// F in front of a write without data is a flush, N with a range is a trim, N without one no request (`None`).
pub(super) fn kind_of_length(op: &[u8], length: u64) -> Result<Option<RequestKind>, Bad> {
    Ok(match (kind(op)?, length) {
        (None, 1..) => Some(RequestKind::Trim),
        (Some(_), 0) if op.starts_with(b"F") => Some(RequestKind::Flush),
        (kind, _) => kind,
    })
}

/// Whether a word consists of the kernel's letters (`blk_fill_rwbs`): F (flush before), one for the operation, then flags.
pub(super) fn is_rwbs(word: &[u8]) -> bool {
    let rest = match word {
        [b'F', rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    matches!(rest, [b'R' | b'W' | b'D' | b'N' | b'F' | b'Z', flags @ ..] if flags.len() <= 5 && flags.iter().all(|flag| b"FASMEUZ".contains(flag)))
}

#[cold]
fn named_kind(op: &[u8]) -> Result<RequestKind, Bad> {
    const WORDS: [(&str, RequestKind); 13] = [
        ("read", RequestKind::Read),
        ("write", RequestKind::Write),
        ("trim", RequestKind::Trim),
        ("discard", RequestKind::Trim),
        ("unmap", RequestKind::Trim),
        ("d", RequestKind::Trim),
        ("flush", RequestKind::Flush),
        ("sync", RequestKind::Flush),
        ("append", RequestKind::Append),
        ("zone-open", RequestKind::ZoneOpen),
        ("zone-close", RequestKind::ZoneClose),
        ("zone-finish", RequestKind::ZoneFinish),
        ("zone-reset", RequestKind::ZoneReset),
    ];
    let found = WORDS.iter().find(|(word, _)| op.eq_ignore_ascii_case(word.as_bytes()));
    found.map(|&(_, kind)| kind).ok_or_else(|| {
        Bad::new(
            "the op R, W, T or F (or the words read, write, trim, discard, flush, append, zone-open, zone-close, zone-finish, zone-reset)",
            op,
        )
    })
}

/// Letter, or of kinds that only zones have the word, of a request kind in the column `op`.
pub(crate) fn letter(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Read => "R",
        RequestKind::Write => "W",
        RequestKind::Trim => "T",
        RequestKind::Flush => "F",
        of_zones => of_zones.name(),
    }
}

/// Iterates over columns that may be in quotation marks, without marks inside: device names such as `"8,16"`.
struct Quoted<'a>(Option<&'a [u8]>);

impl<'a> Iterator for Quoted<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.0?;
        if let Some(inner) = rest.strip_prefix(b"\"")
            && let Some(end) = inner.iter().position(|&b| b == b'"')
            && matches!(inner.get(end + 1), None | Some(b','))
        {
            self.0 = inner.get(end + 2..);
            return Some(&inner[..end]);
        }
        let (column, rest) = match rest.iter().position(|&b| b == b',') {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        self.0 = rest;
        Some(column.trim_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(unit_bytes: u64) -> Csv {
        let clock = Clock::new(TimeUnit::Us, false);
        Csv { clock, unit_bytes, layout: None, is_foreign: false, event: None, skipped: Skipped::default() }
    }

    proptest::proptest! {
        #[test]
        fn plain_lines_are_read_as_all_others(
            line in "[0-9]{1,21}[.]?,(R|w|T|F|read| R),[0-9]{1,20},[0 ]?[0-9]{0,19}(,[0-9a-z]*)?",
            unit in proptest::sample::select(vec![1u64, 512]),
            open_end in proptest::bool::ANY,
        ) {
            let mut csv = csv(unit);
            let layout = Layout { open_end, ..Layout::without_header(unit) };
            if let Some(record) = csv.plain(line.as_bytes(), open_end) {
                proptest::prop_assert_eq!(csv.in_order(line.as_bytes(), &layout), Ok(Some(record)));
                proptest::prop_assert_eq!(csv.in_any_order(line.as_bytes(), &layout), Ok(Some(record)));
            }
        }
    }

    type Row = (u64, RequestKind, u64, u64);

    fn rows(text: &str) -> (Vec<Row>, BTreeMap<String, u64>) {
        let mut csv = csv(1);
        let records = text.lines().filter_map(|line| csv.parse(line.as_bytes()).unwrap());
        let rows = records.map(|record| (record.time_ns, record.kind, record.offset, record.length)).collect();
        (rows, csv.skipped())
    }

    #[test]
    fn a_header_of_the_kernels_names_states_sectors_and_its_unit_of_time() {
        let text = "ts_ns,comm,rwbs,nr_sector,sector\n5,a,RA,8,2\n6,a,FWFS,16,4\n7,a,FWS,0,0\n8,a,DS,8,0\n9,a,N,0,0\n9,a,N,8,0\n";
        use RequestKind::{Flush, Read, Trim, Write};
        let (found, skipped) = rows(text);
        assert_eq!(found, [(5, Read, 1024, 4096), (6, Write, 2048, 8192), (7, Flush, 0, 0), (8, Trim, 0, 4096), (9, Trim, 0, 4096)]);
        assert_eq!(skipped.values().sum::<u64>(), 1, "N without a range");
        let absolute = 1_732_780_000_000_001_000;
        assert_eq!(rows(&format!("ts,rwbs,sector,bytes\n{absolute},W,8,512\n")).0, [(absolute, Write, 4096, 512)]);
    }

    #[test]
    fn of_several_events_of_the_kernel_one_is_a_request() {
        let header = "us,event,rwbs,sector,nr_sector";
        let (found, skipped) = rows(&format!("{header}\n1,block_rq_insert,W,0,8\n2,block_rq_issue,W,0,8\n3,block_rq_complete,W,0,8\n"));
        assert_eq!((found, skipped.len()), (vec![(2_000, RequestKind::Write, 0, 4096)], 2));
        let (found, _) = rows(&format!("{header}\n1,block:block_bio_queue,W,0,8\n2,block:block_rq_issue,W,0,8\n"));
        assert_eq!(found, [(1_000, RequestKind::Write, 0, 4096)]);
    }

    #[test]
    fn usual_lines_are_plain() {
        for (line, open_end, plain) in [("2287,R,2403508224,4096", false, true), ("1,W,0,512,x", true, true), ("1,W,0,512,x", false, false)]
        {
            assert_eq!(csv(1).plain(line.as_bytes(), open_end).is_some(), plain, "{line}");
        }
    }
}
