//! The project's own text: `timestamp_us,op,offset_bytes,size_bytes`, with a header in any order of columns, of which `device` is used as
//! well and further ones are ignored; or without a header, with these four columns. Microseconds may have a fraction; op is R, W, T
//! (trim) or F (flush).

use super::text::{Columns, decimal, integer};
use super::{Bad, Format, LineParser, Parsed, Reader, Record};
use crate::config::TraceFormat;
use crate::request::RequestKind;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Csv,
    name: "csv",
    hints: &[],
    counts_units: false,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(Csv { layout: None, is_foreign: false })),
};

/// The header of the files that the project writes.
pub const HEADER: &str = "timestamp_us,op,offset_bytes,size_bytes";
const COLUMNS: &str = "the columns timestamp_us,op,offset_bytes,size_bytes";
const HEADER_EXPECTED: &str = "the header timestamp_us,op,offset_bytes,size_bytes in the first line";

/// Where the columns are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    time: usize,
    op: usize,
    offset: usize,
    size: usize,
    device: Option<usize>,
    /// Further columns may follow.
    open_end: bool,
}

const PLAIN: Layout = Layout { time: 0, op: 1, offset: 2, size: 3, device: None, open_end: false };

struct Csv {
    layout: Option<Layout>,
    /// The first line names other columns: the meaning of the lines is unknown.
    is_foreign: bool,
}

impl LineParser for Csv {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let layout = match self.layout {
            Some(layout) => layout,
            None if self.is_foreign => return Err(Bad::new(HEADER_EXPECTED, line)),
            None if line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) => *self.layout.insert(PLAIN),
            None => {
                self.is_foreign = line.split(|&b| b == b',').count() > 2;
                self.layout = Some(header(line)?);
                return Ok(None);
            }
        };
        if layout.device.is_none() && (layout.time, layout.op, layout.offset, layout.size) == (0, 1, 2, 3) {
            return in_order(line, layout.open_end);
        }
        in_any_order(line, layout)
    }

    fn assumes_columns(&self) -> bool {
        self.layout == Some(PLAIN)
    }
}

/// The layout that a header line describes.
fn header(line: &[u8]) -> Result<Layout, Bad> {
    let at = |name: &str| line.split(|&b| b == b',').position(|column| column.trim_ascii().eq_ignore_ascii_case(name.as_bytes()));
    let need = |name: &str| at(name).ok_or_else(|| Bad::new(HEADER_EXPECTED, line));
    Ok(Layout {
        time: need("timestamp_us")?,
        op: need("op")?,
        offset: need("offset_bytes")?,
        size: need("size_bytes")?,
        device: at("device"),
        open_end: true,
    })
}

/// True of a header with all the columns that a trace needs.
pub(super) fn is_header(line: &[u8]) -> bool {
    header(line).is_ok()
}

/// The usual layout, quickly.
#[inline]
fn in_order<'a>(line: &'a [u8], open_end: bool) -> Parsed<'a> {
    let mut columns = Columns::new(line, b',');
    let time = columns.take(COLUMNS)?;
    let op = columns.take(COLUMNS)?;
    let offset = columns.take(COLUMNS)?;
    let size = columns.take(COLUMNS)?;
    if !open_end {
        columns.end(COLUMNS)?;
    }
    record(time, op, offset, size, b"")
}

fn in_any_order<'a>(line: &'a [u8], layout: Layout) -> Parsed<'a> {
    let (mut time, mut op, mut offset, mut size, mut device) = (None, None, None, None, None);
    for (index, column) in Quoted(Some(line)).enumerate() {
        match index {
            _ if index == layout.time => time = Some(column),
            _ if index == layout.op => op = Some(column),
            _ if index == layout.offset => offset = Some(column),
            _ if index == layout.size => size = Some(column),
            _ if Some(index) == layout.device => device = Some(column),
            _ => {}
        }
    }
    let need = |column: Option<&'a [u8]>| column.ok_or_else(|| Bad::new(COLUMNS, b"fewer columns"));
    let device = if layout.device.is_some() { need(device)? } else { b"" };
    record(need(time)?, need(op)?, need(offset)?, need(size)?, device)
}

#[inline]
fn record<'a>(time: &[u8], op: &[u8], offset: &[u8], size: &[u8], device: &'a [u8]) -> Parsed<'a> {
    let time_ns = decimal(time, 3, "a time in us")?;
    let kind = kind(op)?;
    if kind == RequestKind::Flush {
        return Record::new(time_ns, kind, 0, 0, device);
    }
    let offset = integer(offset, "an offset in bytes")?;
    let length = integer(size, "a size in bytes")?;
    Record::new(time_ns, kind, offset, length, device)
}

/// The kind that a letter means, here and in Parquet.
#[inline]
pub(super) fn kind(op: &[u8]) -> Result<RequestKind, Bad> {
    match op {
        b"R" | b"r" => Ok(RequestKind::Read),
        b"W" | b"w" => Ok(RequestKind::Write),
        b"T" | b"t" => Ok(RequestKind::Trim),
        b"F" | b"f" => Ok(RequestKind::Flush),
        _ => Err(Bad::new("the op R, W, T or F", op)),
    }
}

/// The letter of a kind.
pub(crate) fn letter(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Read => "R",
        RequestKind::Write => "W",
        RequestKind::Trim => "T",
        RequestKind::Flush => "F",
    }
}

/// Columns that may be in quotation marks, without marks inside: device names such as `"8,16"`.
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
