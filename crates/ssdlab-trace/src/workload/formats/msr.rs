//! MSR Cambridge: `ticks,host,disk,Read|Write,offset,size,response`; ticks of 100 ns (Windows file time), offset and size in bytes. The
//! device is `host_disk`, as the volumes are called in the literature (`prn_0`). The response time is not used.

use super::text::{Columns, integer, is_header, leading_integer};
use super::{
    Clock, Event, Format, LineParser, Meaning, Measure, Parsed, Reader, Record, Time, read_or_write_word, recognise, recognise::WINDOWS,
};
use ssdlab_base::request::RequestKind;
use ssdlab_keys::config::{TimeUnit, TraceFormat};

pub(super) static FORMAT: Format = Format {
    id: TraceFormat::Msr,
    name: "msr",
    hints: &[("msr", None)],
    meaning: Meaning { time: Time::OpenWhole(TimeUnit::Ticks), address: Measure::Bytes, size: Measure::Bytes, operations: "Read, Write" },
    event: Event::One,
    names_devices: true,
    device_separator: Some(b','),
    states_units: |lines| recognise::most(lines, |line| recognise::is_between(recognise::column(line, b',', 0), WINDOWS)),
    reader: Reader::Lines(|settings| Box::new(Msr(settings.clock))),
};

const COLUMNS: &str = "7 columns: time,host,disk,type,offset,size,response";
const HEADER: &str = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";

struct Msr(Clock);

impl Msr {
    /// Parses a line without spaces and further columns in one pass: nearly all lines. `None` for any other line, which the general way
    /// reads, or says what is wrong with it.
    #[inline]
    fn plain<'a>(&self, line: &'a [u8]) -> Option<Record<'a>> {
        let (time, rest) = leading_integer(line)?;
        let names = rest.strip_prefix(b",")?;
        let host = names.iter().position(|&b| b == b',')?;
        let disk = names[host + 1..].iter().position(|&b| b == b',')?;
        let (device, rest) = names.split_at(host + 1 + disk);
        let (kind, rest) = match rest {
            [b',', b'R', b'e', b'a', b'd', b',', rest @ ..] => (RequestKind::Read, rest),
            [b',', b'W', b'r', b'i', b't', b'e', b',', rest @ ..] => (RequestKind::Write, rest),
            _ => return None,
        };
        let (offset, rest) = leading_integer(rest)?;
        let (size, rest) = leading_integer(rest.strip_prefix(b",")?)?;
        let response = rest.strip_prefix(b",")?;
        if response.contains(&b',') {
            return None;
        }
        Record::checked(self.0.whole_ns(time)?, kind, offset, size).map(|record| Record { device, ..record })
    }
}

impl LineParser for Msr {
    #[inline]
    fn parse<'a>(&mut self, line: &'a [u8]) -> Parsed<'a> {
        self.plain(line).map_or_else(|| self.any(line), |record| Ok(Some(record)))
    }
}

impl Msr {
    fn any<'a>(&self, line: &'a [u8]) -> Parsed<'a> {
        let mut columns = Columns::new(line, b',');
        let time = columns.take(COLUMNS)?;
        if time.first() == Some(&b'T') && is_header(line, HEADER) {
            return Ok(None);
        }
        let time_ns = self.0.read(time)?;
        let device_at = line.len() - columns.rest_len();
        columns.take(COLUMNS)?;
        columns.take(COLUMNS)?;
        // Host and disk lie side by side: "wdev,1".
        let device = line[device_at..line.len() - columns.rest_len()].strip_suffix(b",").unwrap_or_default();
        let kind = read_or_write_word(columns.take(COLUMNS)?)?;
        let offset = integer(columns.take(COLUMNS)?, "an offset in bytes")?;
        let length = integer(columns.take(COLUMNS)?, "a size in bytes")?;
        columns.take(COLUMNS)?;
        columns.end(COLUMNS)?;
        Record::new(time_ns, kind, offset, length, device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn plain_lines_are_read_as_all_others(line in "[0-9]{1,21},[a-z ,]{0,4},[0-9]?,(Read|Write|read|Reads),[0-9]{1,20},[0 ]?[0-9]{1,9}(,[0-9]*)?(,9)?") {
            let msr = Msr(Clock::new(TimeUnit::Ticks, true));
            if let Some(record) = msr.plain(line.as_bytes()) {
                proptest::prop_assert_eq!(msr.any(line.as_bytes()), Ok(Some(record)));
            }
        }
    }

    #[test]
    fn usual_lines_are_plain() {
        let msr = Msr(Clock::new(TimeUnit::Ticks, true));
        assert!(msr.plain(b"128166372003061629,prn,0,Read,10014060544,8192,4609").is_some());
    }
}
