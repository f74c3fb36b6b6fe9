//! Names of columns of tables of requests, in CSV and Parquet: ssdlab's own, and the fields of the kernel's block events (`rwbs`, `sector`,
//! `nr_sector`, `dev`; `trace/events/block.h`), as programs for eBPF write them. A sector of those events has 512 bytes.

use super::{Clock, SECTOR_BYTES, Units, integer};
use ssdlab_keys::config::TimeUnit;

/// Positions of the columns of a table, from 0, and their units.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) time: usize,
    pub(super) op: usize,
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) device: Option<usize>,
    pub(super) handle: Option<usize>,
    /// Column of the kernel's event, of which one is a request.
    pub(super) event: Option<usize>,
    /// Unit of time; `None` if the name states none.
    pub(super) time_unit: Option<TimeUnit>,
    /// Bytes per unit of address.
    pub(super) offset_bytes: u64,
    /// Bytes per unit of size.
    pub(super) size_bytes: u64,
    /// Further columns may follow.
    pub(super) open_end: bool,
    /// The four needed columns are the first ones, in their usual order and units, and no other is used.
    pub(super) is_plain: bool,
}

impl Layout {
    /// The layout of a CSV file without a header: time, op, offset and size, in units that the caller states.
    pub(super) fn without_header(unit_bytes: u64) -> Self {
        let (device, handle, event, time_unit) = (None, None, None, None);
        let (offset_bytes, size_bytes) = (unit_bytes, unit_bytes);
        Layout {
            time: 0,
            op: 1,
            offset: 2,
            size: 3,
            device,
            handle,
            event,
            time_unit,
            offset_bytes,
            size_bytes,
            open_end: false,
            is_plain: true,
        }
    }

    /// Whether a header names the time without its unit.
    pub(super) fn has_open_time(&self) -> bool {
        self.open_end && self.time_unit.is_none()
    }

    /// The clock of the times, if the header states their unit.
    pub(super) fn clock(&self) -> Option<Clock> {
        self.time_unit.map(|unit| Clock::new(unit, false))
    }

    /// Enters the units that the header states.
    pub(super) fn state_units(&self, units: &mut Units) {
        let shown = |bytes: u64| if bytes == 1 { "bytes".to_string() } else { format!("{bytes} bytes") };
        (units.address, units.size) = (shown(self.offset_bytes), shown(self.size_bytes));
        if let Some(unit) = self.time_unit {
            units.time = unit.name().into();
        }
    }
}

/// The layout of a table with these column names.
///
/// # Errors
/// The name of the first column that is missing, by ssdlab's names.
pub(super) fn layout(columns: &[String]) -> Result<Layout, &'static str> {
    let find = |name: &str| columns.iter().position(|column| column.eq_ignore_ascii_case(name));
    let first_of = |names: &[&str]| names.iter().find_map(|name| find(name));
    // Only the kernel's events have these two fields, so a `sector` beside them is the kernel's, of 512 bytes.
    let is_kernel = first_of(&["rwbs", "nr_sector", "nr_sectors"]).is_some();
    let of_kernel = |names: &[&str]| if is_kernel { first_of(names) } else { None };
    let in_bytes = |column: usize| if columns[column].to_ascii_lowercase().ends_with("bytes") { 1 } else { SECTOR_BYTES };
    let (time, time_unit) = time(columns).ok_or("timestamp_us")?;
    let op = find("op").or_else(|| find("rwbs")).ok_or("op")?;
    let offset = find("offset_bytes").or_else(|| of_kernel(&["sector"])).ok_or("offset_bytes")?;
    let size = find("size_bytes").or_else(|| of_kernel(&["nr_sector", "nr_sectors", "sectors", "bytes"])).ok_or("size_bytes")?;
    let (offset_bytes, size_bytes) = (in_bytes(offset), in_bytes(size));
    let (device, handle, event) = (find("device").or_else(|| of_kernel(&["dev"])), find("handle"), of_kernel(&["event"]));
    let is_usual = (time, op, offset, size) == (0, 1, 2, 3) && time_unit == Some(TimeUnit::Us) && (offset_bytes, size_bytes) == (1, 1);
    let is_plain = is_usual && device.or(handle).or(event).is_none();
    Ok(Layout { time, op, offset, size, device, handle, event, time_unit, offset_bytes, size_bytes, open_end: true, is_plain })
}

/// Column of the time and the unit that its name states: ssdlab's own if there is one, otherwise the only column with a unit, otherwise
/// the only one without.
fn time(columns: &[String]) -> Option<(usize, Option<TimeUnit>)> {
    for (own, unit) in [("timestamp_us", TimeUnit::Us), ("time_ns", TimeUnit::Ns)] {
        if let Some(at) = columns.iter().position(|name| name.eq_ignore_ascii_case(own)) {
            return Some((at, Some(unit)));
        }
    }
    let named: Vec<(usize, Option<TimeUnit>)> =
        columns.iter().enumerate().filter_map(|(at, name)| unit_of_time(name).map(|unit| (at, unit))).collect();
    let only = |with_unit: bool| match named.iter().filter(|(_, unit)| unit.is_some() == with_unit).collect::<Vec<_>>()[..] {
        [&found] => Some(found),
        _ => None,
    };
    if named.iter().any(|(_, unit)| unit.is_some()) { only(true) } else { only(false) }
}

/// The unit that the name of a column of times states (`ts_ns`, `time(us)`, `nsecs`), or none (`ts`); `None` for names of other columns.
pub(super) fn unit_of_time(name: &str) -> Option<Option<TimeUnit>> {
    let name = name.to_ascii_lowercase();
    let rest = ["timestamp", "time", "ts"].iter().find_map(|word| name.strip_prefix(word));
    let unit = rest.unwrap_or(&name).trim_matches(|c: char| "_-()[] ".contains(c));
    match unit {
        "ns" | "nsec" | "nsecs" | "nanoseconds" => Some(Some(TimeUnit::Ns)),
        "us" | "usec" | "usecs" | "microseconds" => Some(Some(TimeUnit::Us)),
        "ms" | "msec" | "msecs" | "milliseconds" => Some(Some(TimeUnit::Ms)),
        "s" | "sec" | "secs" | "seconds" => Some(Some(TimeUnit::S)),
        "" if rest.is_some() => Some(None),
        _ => None,
    }
}

/// The nanoseconds of a time since 1970, if a number can be nothing else: in any other unit it would not fit into 64 bits of nanoseconds.
/// Smaller numbers may be ns since the start of a machine as well as us since 1970.
pub(super) fn absolute_ns(time: &[u8]) -> Option<u64> {
    const FROM: u64 = super::recognise::UNIX_S.0 * 1_000_000_000;
    integer(time, "").ok().filter(|&ns| ns >= FROM)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(header: &str) -> Result<Layout, &'static str> {
        layout(&header.split(',').map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_kernels_names_state_sectors_and_other_names_none() {
        let kernel = named("ns,comm,dev,rwbs,sector,nr_sector").unwrap();
        assert_eq!((kernel.time, kernel.op, kernel.offset, kernel.size, kernel.device), (0, 3, 4, 5, Some(2)));
        assert_eq!((kernel.offset_bytes, kernel.size_bytes, kernel.time_unit), (512, 512, Some(TimeUnit::Ns)));
        let mixed = named("bytes,rwbs,sector,time_ms").unwrap();
        assert_eq!((mixed.size, mixed.size_bytes, mixed.offset_bytes, mixed.time_unit), (0, 1, 512, Some(TimeUnit::Ms)));
        assert!(named("ts,op,sector,sectors").is_err(), "sectors of a program's own may have any size");
        assert_eq!(named("ts,op,offset,size_bytes").err(), Some("offset_bytes"));
    }

    #[test]
    fn names_of_times_state_their_unit_or_none() {
        for (name, unit) in [("ts_ns", "ns"), ("Timestamp(us)", "us"), ("nsecs", "ns"), ("time_s", "s"), ("TIME(s)", "s"), ("msec", "ms")] {
            assert_eq!(unit_of_time(name).flatten().map(TimeUnit::name), Some(unit), "{name}");
        }
        assert_eq!(["ts", "time", "Timestamp"].map(unit_of_time), [Some(None); 3]);
        assert_eq!(["lat_us", "status", "tsc", "", "latency"].map(unit_of_time), [None; 5]);
        assert_eq!(named("ts,time_us,op,offset_bytes,size_bytes").unwrap().time, 1);
        assert_eq!(named("ts_ns,time_us,op,offset_bytes,size_bytes").err(), Some("timestamp_us"));
    }
}
