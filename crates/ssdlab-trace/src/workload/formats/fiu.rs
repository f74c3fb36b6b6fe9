//! FIU's traces (SNIA IOTTA, "FIU IODedup" and its kind): `ns pid process lba size R|W major minor md5 ...`; address and size in sectors of
//! 512 bytes, one MD5 digest or several at the end. The device is `major_minor`. Layout and units are those of the README beside the
//! traces (<http://iotta.snia.org/traces/block-io/391>). A process name may hold spaces, so that columns are counted from the right.

use super::text::{LastWords, Words, integer, units};
use super::{Bad, Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, SECTOR_BYTES, Time, read_or_write};
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Fiu,
    name: "fiu",
    // The files are named .blkparse, but their format is another.
    hints: &[("fiu", None), ("blkparse", None)],
    meaning: Meaning { time: Time::OpenWhole(TimeUnit::Ns), address: Measure::Sectors, size: Measure::Sectors, operations: "R, W" },
    event: Event::One,
    names_devices: true,
    device_separator: Some(b' '),
    states_units: |_| true,
    reader: Reader::Lines(|settings| Box::new(Fiu(settings.clock))),
};

const COLUMNS: &str = "9 columns: ns pid process lba size R|W major minor md5";

struct Fiu(Clock);

impl LineParser for Fiu {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        let mut front = Words::new(line);
        let time_ns = self.0.read(front.take(COLUMNS)?)?;
        integer(front.take(COLUMNS)?, "a process number")?;
        let mut back = LastWords::new(front.rest());
        let mut minor = back.take(COLUMNS)?;
        if !is_digest(minor) {
            return Err(Bad::new("an MD5 digest of 32 hexadecimal digits", minor));
        }
        while is_digest(minor) {
            minor = back.take(COLUMNS)?;
        }
        let major = back.take(COLUMNS)?;
        integer(major, "a major device number")?;
        integer(minor, "a minor device number")?;
        let kind = read_or_write(back.take(COLUMNS)?, "the type R or W")?;
        let length = units(back.take(COLUMNS)?, SECTOR_BYTES, "a size in sectors of 512 bytes")?;
        let offset = units(back.take(COLUMNS)?, SECTOR_BYTES, "an address in sectors of 512 bytes")?;
        back.take(COLUMNS)?; // the process, or the end of its name
        Record::new(time_ns, kind, offset, length, between(line, major, minor)?)
    }
}

fn is_digest(word: &[u8]) -> bool {
    word.len() == 32 && word.iter().all(u8::is_ascii_hexdigit)
}

/// The part of `line` from the word `from` to the word `to`: the device `6 0`. An error unless one space separates the two.
fn between<'a>(line: &'a [u8], from: &[u8], to: &[u8]) -> Result<&'a [u8], Bad> {
    let place = |word: &[u8]| word.as_ptr() as usize - line.as_ptr() as usize;
    let device = &line[place(from)..place(to) + to.len()];
    // With other spacing the same device would have two names.
    let apart = device.len() - from.len() - to.len();
    if apart == 1 { Ok(device) } else { Err(Bad::new("one space between major and minor device number", device)) }
}
