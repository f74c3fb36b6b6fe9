//! Bytes written by the host and bytes programmed in flash: the two sides of write amplification.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::device::DeviceStats;
use super::result::ratio;
use ssdlab_keys::remark::Remark;

/// If write buffers and caches hold more than this share of the host's bytes, the write amplification of a longer run differs.
const MUCH_HELD: f64 = 0.01;

/// Bytes written in the measured part of a run. Flash is written in whole mapping units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BytesWritten {
    /// Bytes of the host's writes that completed, above caches and arrays. Trims write nothing.
    #[schemars(extend("unit" = "B"))]
    pub host: u64,
    /// Bytes programmed in flash, of all drives of an array: the sum of `data`, `gc`, `mapping`, `padding` and `parity`.
    #[schemars(extend("unit" = "B"))]
    pub flash: u64,
    /// Bytes programmed of host data, in whole mapping units, as they come from cache and write buffer. In an array its parity too.
    #[schemars(extend("unit" = "B"))]
    pub data: u64,
    /// Bytes programmed by page moves of GC.
    #[schemars(extend("unit" = "B"))]
    pub gc: u64,
    /// Bytes programmed of the mapping table (`ftl.map_cache_bytes`), page moves excluded.
    #[schemars(extend("unit" = "B"))]
    pub mapping: u64,
    /// Bytes of padding: parts of flash pages that programs left without data (`ftl.map_unit_bytes`, `device.pages_per_program`).
    #[schemars(extend("unit" = "B"))]
    pub padding: u64,
    /// Bytes programmed of parity within a drive (`ftl.parity_stripe`).
    #[schemars(extend("unit" = "B"))]
    pub parity: u64,
    /// Bytes of the mapping units that write buffers and caches held for the flash at the end, less those held when the measured part
    /// began. Bytes that the host wrote of them are in `host`; none of them are in `flash`.
    #[schemars(extend("unit" = "B"))]
    pub held: i64,
}

impl BytesWritten {
    /// The bytes of a run in which the host wrote `host` bytes; `device`: the statistics of its drives.
    pub(super) fn of(host: u128, device: &DeviceStats) -> Self {
        let bytes = |units: u64| units.saturating_mul(device.unit_bytes);
        let [data, gc, mapping] = [device.host_programs, device.gc_programs, device.map_programs()].map(bytes);
        let [padding, parity] = [device.padded_units, device.parity_units].map(bytes);
        let [held, before] = [device.held(), device.held_before].map(|units| i64::try_from(bytes(units)).unwrap_or(i64::MAX));
        BytesWritten {
            host: u64::try_from(host).unwrap_or(u64::MAX),
            flash: [data, gc, mapping, padding, parity].into_iter().fold(0, u64::saturating_add),
            data,
            gc,
            mapping,
            padding,
            parity,
            held: held - before,
        }
    }

    /// Flash bytes over host bytes; `None` if the host wrote no bytes.
    pub(super) fn amplification(&self) -> Option<f64> {
        ratio(self.flash.into(), self.host.into())
    }

    /// Mapping units programmed over mapping units programmed of host data; `None` if no host data were programmed.
    pub(super) fn page_amplification(&self) -> Option<f64> {
        ratio(self.flash.into(), self.data.into())
    }

    /// A warning if write buffers and caches kept, or gave to the flash, more than 1 % of the bytes that the host wrote: a longer run amplifies
    /// differently. With a log of the host (`has_log`) buffers hold mostly data that it has moved, and the limit is 1 % of the bytes programmed.
    pub fn remark(&self, from_trace: bool, has_log: bool) -> Option<Remark> {
        let of = if has_log { self.flash.max(self.host) } else { self.host };
        ratio(self.held.unsigned_abs().into(), of.into()).filter(|&share| share > MUCH_HELD)?;
        let share = ratio(self.held.unsigned_abs().into(), self.host.into())?;
        let [held, host] = [self.held.unsigned_abs(), self.host].map(binary);
        let percent = share * 100.0;
        let (sentence, why) = if self.held > 0 {
            let why = "That much more than when the measured part began; it is in no flash yet.";
            (format!("Write amplification is too low: buffers still hold {held}, {percent:.1} % of the {host} that the host wrote."), why)
        } else {
            let why = "The host wrote it before the measured part.";
            (
                format!(
                    "Write amplification is too high: buffers gave {held} from before, {percent:.1} % of the {host} that the host wrote."
                ),
                why,
            )
        };
        let remedy = match from_trace {
            true => "Leave out a warm-up until the buffers are full (--warm-up), or replay the trace more often (workload.repeat).",
            false => "Run more requests, with a warm-up until the buffers are full (--warm-up).",
        };
        Some(Remark::warning("held-data", "gc.write_amplification", sentence, remedy).because(why))
    }
}

/// A size in the largest binary unit in which it is at least 1, with three significant digits.
pub(super) fn binary(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some((one, unit)) = UNITS.into_iter().find(|(one, _)| bytes >= *one) else { return format!("{bytes} bytes") };
    let size = bytes as f64 / one as f64;
    let digits = if size < 10.0 { 2 } else { usize::from(size < 100.0) };
    format!("{size:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::super::{BufferStats, MappingStats};
    use super::*;
    use ssdlab_keys::remark::Severity;

    /// Units of 4 KiB: 8 of host data, 4 moved, 2 of the table, 1 of padding, 1 of parity. The host has written 16 x 512 bytes.
    fn device() -> DeviceStats {
        DeviceStats {
            unit_bytes: 4096,
            host_programs: 8,
            gc_programs: 4,
            padded_units: 1,
            parity_units: 1,
            mapping: Some(MappingStats { flash_programs: 2, ..MappingStats::default() }),
            ..DeviceStats::default()
        }
    }

    #[test]
    fn sizes_have_three_digits_and_a_unit() {
        let sizes = [999, 1024, 1_572_864, 6_406_144, 301_360_128, 5 << 40].map(binary);
        assert_eq!(sizes, ["999 bytes", "1.00 KiB", "1.50 MiB", "6.11 MiB", "287 MiB", "5.00 TiB"]);
    }

    #[test]
    fn flash_bytes_over_host_bytes_by_hand() {
        let written = BytesWritten::of(16 * 512, &device());
        let BytesWritten { host, flash, data, gc, mapping, padding, parity, held } = written;
        assert_eq!((host, flash, data, gc, mapping, padding, parity, held), (8192, 65_536, 32_768, 16_384, 8192, 4096, 4096, 0));
        assert_eq!((written.amplification(), written.page_amplification()), (Some(8.0), Some(2.0)));
        assert_eq!(written.remark(false, false), None);
    }

    #[test]
    fn without_host_bytes_there_is_no_ratio() {
        let read_only = BytesWritten::of(0, &DeviceStats { unit_bytes: 4096, gc_programs: 3, ..DeviceStats::default() });
        assert_eq!((read_only.flash, read_only.amplification(), read_only.page_amplification()), (12_288, None, None));
    }

    #[test]
    fn data_that_buffers_hold_are_remarked_on() {
        let with =
            |held, before| DeviceStats { buffer: Some(BufferStats { held, ..BufferStats::default() }), held_before: before, ..device() };
        let text = |device: DeviceStats| {
            BytesWritten::of(100 * 4096, &device).remark(false, false).map(|remark| (remark.severity, remark.sentence))
        };
        assert_eq!(text(with(7, 6)), None, "one of a hundred units");
        let (severity, sentence) = text(with(10, 0)).unwrap();
        assert_eq!(severity, Severity::Warning);
        assert!(sentence.contains("too low: buffers still hold 40.0 KiB, 10.0 % of the 400 KiB"), "{sentence}");
        let (_, sentence) = text(with(0, 10)).unwrap();
        assert!(sentence.contains("too high: buffers gave 40.0 KiB"), "{sentence}");
    }
}
