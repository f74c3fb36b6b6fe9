//! biosnoop's table (BCC and libbpf-tools), with its header: `TIME(s) COMM PID DISK T SECTOR BYTES [QUE(ms)] LAT(ms)`. A line is printed when
//! its request ends; the request was issued `LAT(ms)` before. Sectors have 512 bytes. A command's name may hold spaces, so columns behind it
//! are counted from the right. The device is the disk.

use super::kernel::kind_of;
use super::text::{LastWords, Words, decimal, integer, units};
use super::{Bad, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Time};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Biosnoop,
    name: "biosnoop",
    hints: &[("biosnoop", None)],
    meaning: Meaning {
        time: Time::Fixed(TimeUnit::S),
        address: Measure::Sectors,
        size: Measure::Bytes,
        operations: "R, W, D = trim, F = flush",
    },
    event: Event::One,
    names_devices: true,
    device_separator: None,
    states_units: |_| true,
    reader: Reader::Lines(|_| Box::new(Biosnoop { columns: None })),
};

/// Shift of all times, ns: one hour, so that a request issued before the table's clock began has a positive time. Results do not depend on
/// it.
pub(super) const SHIFT_NS: u64 = 3_600_000_000_000;
const HEADER: &str = "the header TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)";
const COLUMNS: &str = "the columns of the header";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Disk,
    Kind,
    Sector,
    Bytes,
    Latency,
    Other,
}

struct Biosnoop {
    /// Columns after `COMM`, from right to left; `None` before the header.
    columns: Option<Vec<Column>>,
}

impl LineParser for Biosnoop {
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        if line.trim_ascii_start().starts_with(b"TIME(s)") {
            let columns = header(line)?;
            return match self.columns.replace(columns) {
                None => Ok(None),
                Some(_) => Err(Bad::new("one table: a second header begins another table here; split the file", line)),
            };
        }
        let Some(columns) = &self.columns else {
            return if line.starts_with(b"Tracing ") { Ok(None) } else { Err(Bad::new(HEADER, line)) };
        };
        let (mut disk, mut kind, mut sector, mut bytes, mut latency) = (&b""[..], &b""[..], &b""[..], &b""[..], &b""[..]);
        let mut words = LastWords::new(line);
        for column in columns {
            let word = words.take(COLUMNS)?;
            match column {
                Column::Disk => disk = word,
                Column::Kind => kind = word,
                Column::Sector => sector = word,
                Column::Bytes => bytes = word,
                Column::Latency => latency = word,
                Column::Other => {}
            }
        }
        let end_ns = decimal(Words::new(line).take(COLUMNS)?, 9, "a time in seconds")?;
        let lasted_ns = decimal(latency, 6, "a latency in ms")?;
        let kind = kind_of(kind)?.ok_or_else(|| Bad::new("the type R, W, D or F", kind))?;
        let time_ns = (end_ns.saturating_add(SHIFT_NS)).saturating_sub(lasted_ns);
        let length = integer(bytes, "a size in bytes")?;
        let kind = if length == 0 && kind != RequestKind::Trim && kind != RequestKind::Read { RequestKind::Flush } else { kind };
        Record::new(time_ns, kind, units(sector, SECTOR_BYTES, "a sector number")?, length, disk)
    }
}

/// The columns after the command's name, from right to left; an error unless all that a request needs are among them.
fn header(line: &[u8]) -> Result<Vec<Column>, Bad> {
    let mut words = Words::new(line);
    let names: Vec<&[u8]> = std::iter::from_fn(|| words.word()).collect();
    let behind = names.iter().position(|name| *name == b"COMM").map_or(1, |at| at + 1);
    let column = |name: &&[u8]| match *name {
        b"DISK" => Column::Disk,
        b"T" => Column::Kind,
        b"SECTOR" => Column::Sector,
        b"BYTES" => Column::Bytes,
        b"LAT(ms)" => Column::Latency,
        _ => Column::Other,
    };
    let columns: Vec<Column> = names[behind..].iter().rev().map(column).collect();
    let needed = [Column::Disk, Column::Kind, Column::Sector, Column::Bytes, Column::Latency];
    if needed.iter().all(|needed| columns.contains(needed)) { Ok(columns) } else { Err(Bad::new(HEADER, line)) }
}
