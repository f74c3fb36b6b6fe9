//! Text of blkparse in its default layout: `major,minor cpu serial seconds pid action RWBS sector + sectors [process]`. Only queue events
//! (action Q) are requests: the others tell the same request's further way. The device is `major,minor`.

use super::text::{Words, decimal, integer, units};
use super::{Bad, Format, LineParser, Parsed, Reader, Record, SECTOR_BYTES};
use crate::config::TraceFormat;
use crate::request::RequestKind;

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Blkparse,
    name: "blkparse",
    hints: &[("blkparse", None)],
    counts_units: false,
    names_devices: true,
    device_separator: None,
    reader: Reader::Lines(|_| Box::new(Blkparse { seen_event: false, in_summary: false })),
};

const COLUMNS: &str = "an event: major,minor cpu serial seconds pid action RWBS ...";

struct Blkparse {
    seen_event: bool,
    /// The statistics that follow the events have begun.
    in_summary: bool,
}

impl LineParser for Blkparse {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut words = Words::new(line);
        let device = words.take(COLUMNS)?;
        if !is_device(device) {
            self.in_summary |= self.seen_event && (device.starts_with(b"CPU") || device == b"Total");
            return if self.in_summary { Ok(None) } else { Err(Bad::new("a device: major,minor", device)) };
        }
        integer(words.take(COLUMNS)?, "a cpu number")?;
        integer(words.take(COLUMNS)?, "a serial number")?;
        let time_ns = decimal(words.take(COLUMNS)?, 9, "a time in seconds")?;
        integer(words.take(COLUMNS)?, "a process number")?;
        let action = words.take(COLUMNS)?;
        self.seen_event = true;
        if action != b"Q" {
            let known = matches!(action.len(), 1 | 2) && action.iter().all(u8::is_ascii_alphabetic);
            return if known { Ok(None) } else { Err(Bad::new("an action of one or two letters", action)) };
        }
        queued(words, time_ns, device)
    }
}

/// A queue event from its RWBS column on. A flush alone has no sectors.
fn queued<'a>(mut words: Words<'a>, time_ns: u64, device: &'a [u8]) -> Parsed<'a> {
    let Some(kind) = kind_of(words.take(COLUMNS)?)? else { return Ok(None) };
    let sector = words.word().filter(|word| !word.starts_with(b"["));
    let (Some(sector), true) = (sector, kind != RequestKind::Flush) else {
        // Without sectors it is a flush, or a fault of the trace.
        return Record::new(time_ns, if sector.is_none() { RequestKind::Flush } else { kind }, 0, 0, device);
    };
    let offset = units(sector, SECTOR_BYTES, "a sector number")?;
    let plus = words.take("sector + sectors")?;
    if plus != b"+" {
        return Err(Bad::new("a + between sector and sectors", plus));
    }
    let length = units(words.take("sector + sectors")?, SECTOR_BYTES, "a number of sectors")?;
    Record::new(time_ns, kind, offset, length, device)
}

fn is_device(word: &[u8]) -> bool {
    let mut parts = word.split(|&b| b == b',');
    let is_number = |part: Option<&[u8]>| part.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// From the letters that the kernel prints: F (flush before), then R, W, D (discard), N (neither), then further letters. Writing zeroes
/// (WZ) transfers no data and leaves the range without any, like a trim.
fn kind_of(rwbs: &[u8]) -> Result<Option<RequestKind>, Bad> {
    Ok(match rwbs {
        [b'F', b'N', ..] => Some(RequestKind::Flush),
        [b'F', rest @ ..] if matches!(rest, [b'R' | b'W' | b'D', ..]) => return kind_of(rest),
        [b'F', ..] => Some(RequestKind::Flush),
        [b'W', b'Z', ..] | [b'D', ..] => Some(RequestKind::Trim),
        [b'R', ..] => Some(RequestKind::Read),
        [b'W', ..] => Some(RequestKind::Write),
        [b'N', ..] => None,
        _ => return Err(Bad::new("read, write, discard or flush letters (RWBS)", rwbs)),
    })
}
