//! The project's own text: `timestamp_us,op,offset_bytes,size_bytes`, with a header in any order of columns, of which `device` is used as
//! well, and `handle`, and further ones are ignored; or, where the caller names the format, without a header and with these four columns. Microseconds may
//! have a fraction; op is R, W, T (trim) or F (flush), or a word (`READ`, `discard`). Names and values may be in quotation marks.

use super::text::{Columns, integer, leading_integer, units};
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time};
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
    states_units: |lines| lines.first().is_some_and(|first| is_header(first)),
    reader: Reader::Lines(|settings| {
        Box::new(Csv { clock: settings.clock, unit_bytes: settings.unit_bytes, layout: None, is_foreign: false })
    }),
};

/// Header of the CSV traces that ssdlab writes.
pub const HEADER: &str = "timestamp_us,op,offset_bytes,size_bytes";
const COLUMNS: &str = "the columns timestamp_us,op,offset_bytes,size_bytes";
const HEADER_EXPECTED: &str = "the header timestamp_us,op,offset_bytes,size_bytes in the first line";

/// Positions of the columns in a line, from 0.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    time: usize,
    op: usize,
    offset: usize,
    size: usize,
    device: Option<usize>,
    handle: Option<usize>,
    /// Further columns may follow.
    open_end: bool,
}

const PLAIN: Layout = Layout { time: 0, op: 1, offset: 2, size: 3, device: None, handle: None, open_end: false };

struct Csv {
    clock: Clock,
    /// Bytes per unit of address and size; always 1 with a header, which states bytes.
    unit_bytes: u64,
    layout: Option<Layout>,
    /// The first line is a header with other columns, so that no line can be read.
    is_foreign: bool,
}

impl LineParser for Csv {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let layout = match self.layout {
            Some(layout) => layout,
            None if self.is_foreign => return Err(Bad::new(HEADER_EXPECTED, line)),
            None if starts_with_number(line) => *self.layout.insert(PLAIN),
            None => {
                self.is_foreign = line.split(|&b| b == b',').count() > 2;
                self.layout = Some(header(line)?);
                return Ok(None);
            }
        };
        if layout.device.or(layout.handle).is_none() && (layout.time, layout.op, layout.offset, layout.size) == (0, 1, 2, 3) {
            if let Some(record) = self.plain(line, layout.open_end) {
                return Ok(Some(record));
            }
            let plain = self.in_order(line, layout.open_end);
            // Words, quotation marks and whole numbers with a point are rare.
            return if plain.is_ok() { plain } else { self.in_any_order(line, layout) };
        }
        self.in_any_order(line, layout)
    }

    fn assumes_columns(&self) -> bool {
        self.layout == Some(PLAIN)
    }
}

/// Whether a line begins with a digit, and so is not a header. Spaces and quotation marks before it do not count.
fn starts_with_number(line: &[u8]) -> bool {
    line.trim_ascii_start().iter().find(|&&byte| byte != b'"').is_some_and(u8::is_ascii_digit)
}

/// The layout that a header line describes.
fn header(line: &[u8]) -> Result<Layout, Bad> {
    let at = |name: &str| Quoted(Some(line)).position(|column| column.trim_ascii().eq_ignore_ascii_case(name.as_bytes()));
    let count = |name: &str| Quoted(Some(line)).filter(|column| column.trim_ascii().eq_ignore_ascii_case(name.as_bytes())).count();
    let need = |name: &str| match count(name) {
        0 => Err(Bad::new(HEADER_EXPECTED, line)),
        1 => Ok(at(name).unwrap_or_default()),
        _ => Err(Bad::new("a header that names each of timestamp_us,op,offset_bytes,size_bytes,device,handle once", line)),
    };
    let may = |name: &str| if count(name) == 0 { Ok(None) } else { need(name).map(Some) };
    Ok(Layout {
        time: need("timestamp_us")?,
        op: need("op")?,
        offset: need("offset_bytes")?,
        size: need("size_bytes")?,
        device: may("device")?,
        handle: may("handle")?,
        open_end: true,
    })
}

/// A column that a header names more than once; `None` if there is none.
pub(super) fn named_twice(line: &[u8]) -> Option<&'static str> {
    let count = |name: &str| Quoted(Some(line)).filter(|column| column.trim_ascii().eq_ignore_ascii_case(name.as_bytes())).count();
    ["timestamp_us", "op", "offset_bytes", "size_bytes", "device", "handle"].into_iter().find(|name| count(name) > 1)
}

/// Whether a line is a header with all columns that a trace needs.
pub(super) fn is_header(line: &[u8]) -> bool {
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
    fn in_order<'a>(&self, line: &'a [u8], open_end: bool) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        let op = columns.take(COLUMNS)?;
        let offset = columns.take(COLUMNS)?;
        let size = columns.take(COLUMNS)?;
        if !open_end {
            columns.end(COLUMNS)?;
        }
        self.record(time, op, offset, size, b"")
    }

    #[cold]
    fn in_any_order<'a>(&self, line: &'a [u8], layout: Layout) -> Parsed<'a> {
        let (mut time, mut op, mut offset, mut size, mut device, mut handle) = (None, None, None, None, None, None);
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
        let record = self.record(need(time)?, need(op)?, need(offset)?, need(size)?, device)?;
        Ok(record.map(|record| Record { handle, ..record }))
    }

    #[inline]
    fn record<'a>(&self, time: &[u8], op: &[u8], offset: &[u8], size: &[u8], device: &'a [u8]) -> Parsed<'a> {
        let time_ns = self.clock.read(time)?;
        let kind = kind(op)?;
        if kind == RequestKind::Flush {
            return Record::new(time_ns, kind, 0, 0, device);
        }
        let offset = whole(offset, self.unit_bytes, "an offset in bytes")?;
        let length = whole(size, self.unit_bytes, "a size in bytes")?;
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

/// Request kind of a letter or word in the column `op` (CSV and Parquet).
#[inline]
pub(super) fn kind(op: &[u8]) -> Result<RequestKind, Bad> {
    match op {
        b"R" | b"r" => Ok(RequestKind::Read),
        b"W" | b"w" => Ok(RequestKind::Write),
        b"T" | b"t" => Ok(RequestKind::Trim),
        b"F" | b"f" => Ok(RequestKind::Flush),
        _ => named_kind(op),
    }
}

#[cold]
fn named_kind(op: &[u8]) -> Result<RequestKind, Bad> {
    const WORDS: [(&str, RequestKind); 8] = [
        ("read", RequestKind::Read),
        ("write", RequestKind::Write),
        ("trim", RequestKind::Trim),
        ("discard", RequestKind::Trim),
        ("unmap", RequestKind::Trim),
        ("d", RequestKind::Trim),
        ("flush", RequestKind::Flush),
        ("sync", RequestKind::Flush),
    ];
    let found = WORDS.iter().find(|(word, _)| op.eq_ignore_ascii_case(word.as_bytes()));
    found.map(|&(_, kind)| kind).ok_or_else(|| Bad::new("the op R, W, T or F (or the words read, write, trim, discard, flush)", op))
}

/// Letter of a request kind in the column `op`.
pub(crate) fn letter(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Read => "R",
        RequestKind::Write => "W",
        RequestKind::Trim => "T",
        RequestKind::Flush => "F",
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
        Csv { clock: Clock::new(TimeUnit::Us, false), unit_bytes, layout: None, is_foreign: false }
    }

    proptest::proptest! {
        #[test]
        fn plain_lines_are_read_as_all_others(
            line in "[0-9]{1,21}[.]?,(R|w|T|F|read| R),[0-9]{1,20},[0 ]?[0-9]{0,19}(,[0-9a-z]*)?",
            unit in proptest::sample::select(vec![1u64, 512]),
            open_end in proptest::bool::ANY,
        ) {
            let csv = csv(unit);
            if let Some(record) = csv.plain(line.as_bytes(), open_end) {
                proptest::prop_assert_eq!(csv.in_order(line.as_bytes(), open_end), Ok(Some(record)));
                proptest::prop_assert_eq!(csv.in_any_order(line.as_bytes(), Layout { open_end, ..PLAIN }), Ok(Some(record)));
            }
        }
    }

    #[test]
    fn usual_lines_are_plain() {
        for (line, open_end, plain) in [("2287,R,2403508224,4096", false, true), ("1,W,0,512,x", true, true), ("1,W,0,512,x", false, false)]
        {
            assert_eq!(csv(1).plain(line.as_bytes(), open_end).is_some(), plain, "{line}");
        }
    }
}
