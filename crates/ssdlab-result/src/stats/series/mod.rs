//! How a run went over time: counts, means and extremes in bins of equal width.
//!
//! Bins are narrow at first ([`NARROWEST_NS`]). Whenever there would be more than [`MOST_BINS`] they are merged two by two: sums are added
//! and extremes kept, so that none is ever dropped. All sums are integers, split at the borders of bins, until the result is made.
//!
//! Nothing changes between two instants of the clock. So [`Series::hold`] adds up outstanding requests as the clock advances. When the
//! clock passes the border of a bin, [`Gauged::read`] reads the sums of the storage, before the events of that instant: an instant on a
//! border belongs to the bin that it begins.

mod bins;
mod level;
mod result;
#[cfg(test)]
mod tests;

pub use bins::{MOST_BINS, NARROWEST_NS};
pub use level::Level;
pub use result::{
    CacheSeries, FreeBlockSeries, GcSeries, Histogram, Histograms, LatencySeries, OutstandingSeries, ResponseSeries, SeriesResult,
    SlcSeries, StateSeries, StreamSeries, WrittenSeries,
};

use bins::{Bin, Bins};
use ssdlab_base::request::RequestKind;
use ssdlab_base::units::Ns;
use ssdlab_keys::energy::{Drawn, EnergyRates};

/// Most rows of chips in a result.
const MOST_ROWS: u32 = 64;

/// A storage whose sums a series reads.
pub trait Gauged {
    /// The sums until `now`. Restarts the minimum of the free blocks.
    fn read(&mut self, now: Ns) -> Readings;
    /// Number of free blocks of the pool with the fewest.
    fn fewest_free_blocks(&self) -> u32;
}

/// The constants of a run, summed over all drives; thresholds are those of a pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeriesShape {
    /// Number of chips.
    pub chips: u32,
    /// Number of dies.
    pub dies: u32,
    /// Number of channels.
    pub channels: u32,
    /// Number of block pools.
    pub pools: u32,
    /// T_soft of a pool in blocks.
    pub soft_blocks: u32,
    /// T_hard of a pool in blocks; 0: none.
    pub hard_blocks: u32,
    /// The storage has a cache.
    pub cached: bool,
    /// Drives have a cache of blocks in SLC mode.
    pub slc: bool,
    /// Streams of data placement, and those of them that the host fills, which come first.
    pub streams: usize,
    /// See `streams`.
    pub host_streams: usize,
    /// What the parts of a drive draw; `None` without `energy`.
    pub energy: Option<EnergyRates>,
    /// Number of drives with a temperature.
    pub heated: u32,
}

/// Sums since the start of the run over all drives. Sums over time are numbers x ns.
#[derive(Clone, Debug)]
pub struct Readings {
    /// By chip: time with an active GC job.
    pub gc_ns: Vec<u128>,
    /// Number of GC jobs started.
    pub jobs: u64,
    /// Number of pages that GC jobs moved.
    pub pages_moved: u64,
    /// Number of bytes programmed in flash, padding and parity included.
    pub flash_bytes: u64,
    /// Bytes of the host programmed in SLC mode and in other blocks, and bytes folded.
    pub slc_bytes: [u64; 3],
    /// By stream of data placement: units that the host wrote, units of the blocks collected, and valid units of these.
    pub streams: Vec<[u64; 3]>,
    /// Number of free blocks of all pools now.
    pub free_blocks: u64,
    /// Free blocks summed over time.
    pub free_block_ns: u128,
    /// Minimum of the free blocks of a pool since the last read, as left when a block was taken; `u32::MAX` if none was taken.
    pub free_min: u32,
    /// Time in the states S0 to S3, summed over pools.
    pub state_ns: [u128; 4],
    /// Time of transfers, summed over channels.
    pub bus_ns: u128,
    /// Time in which dies are occupied, summed over dies.
    pub die_ns: u128,
    /// What has drawn energy.
    pub drawn: Drawn,
    /// Temperatures summed over drives and time, 10^-9 degrees C times ns.
    pub temperature: i128,
    /// Time for which drives were throttled or stopped by their temperature, summed over drives.
    pub throttled_ns: u128,
    /// Number of cache hits.
    pub cache_hits: u64,
    /// Number of pages looked up in the cache.
    pub cache_lookups: u64,
    /// Number of dirty pages in the cache now.
    pub cache_dirty: u64,
}

impl Readings {
    /// The sums at the start of a run.
    pub fn new() -> Self {
        Readings {
            gc_ns: Vec::new(),
            jobs: 0,
            pages_moved: 0,
            flash_bytes: 0,
            slc_bytes: [0; 3],
            streams: Vec::new(),
            free_blocks: 0,
            free_block_ns: 0,
            free_min: u32::MAX,
            state_ns: [0; 4],
            bus_ns: 0,
            die_ns: 0,
            drawn: Drawn::default(),
            temperature: 0,
            throttled_ns: 0,
            cache_hits: 0,
            cache_lookups: 0,
            cache_dirty: 0,
        }
    }
}

impl Default for Readings {
    fn default() -> Self {
        Readings::new()
    }
}

/// Records a run over time.
#[derive(Debug)]
pub struct Series {
    shape: SeriesShape,
    chips_per_row: u32,
    ended: Bins,
    /// The open bin. `open_end`: when it ends.
    open: Bin,
    open_end: Ns,
    /// No time has passed in the open bin.
    is_new: bool,
    /// The sums at the beginning of the open bin.
    before: Readings,
}

impl Series {
    /// A series for a run that begins at time 0.
    pub fn new(shape: SeriesShape) -> Self {
        let chips_per_row = shape.chips.div_ceil(MOST_ROWS).max(1);
        let ended = Bins::new(shape.chips.div_ceil(chips_per_row) as usize, shape.streams);
        Series {
            shape,
            chips_per_row,
            open_end: ended.width_ns,
            ended,
            open: Bin::EMPTY,
            is_new: true,
            before: Readings { gc_ns: vec![0; shape.chips as usize], streams: vec![[0; 3]; shape.streams], ..Readings::new() },
        }
    }

    /// A request of `bytes` has completed, in the open bin.
    #[inline]
    pub fn completed(&mut self, kind: RequestKind, response_ns: Ns, bytes: u64) {
        match kind {
            RequestKind::Read => self.open.responses[0].add(response_ns),
            RequestKind::Write | RequestKind::Append => {
                self.open.responses[1].add(response_ns);
                self.open.host_bytes += bytes;
            }
            _ => {}
        }
    }

    /// The clock advances from `from` to `until`, with `outstanding` requests outstanding.
    #[inline]
    pub fn hold(&mut self, from: Ns, until: Ns, outstanding: u64, gauged: &mut impl Gauged) {
        if self.is_new || until >= self.open_end {
            return self.hold_across(from, until, outstanding, gauged);
        }
        self.hold_within(until - from, outstanding);
    }

    #[inline]
    fn hold_within(&mut self, ns: Ns, outstanding: u64) {
        self.open.outstanding_ns += u128::from(outstanding) * u128::from(ns);
        self.open.outstanding_max = self.open.outstanding_max.max(outstanding);
    }

    /// The clock advances from `from` to `until`, into a new bin or to the end of a bin or beyond.
    #[cold]
    fn hold_across(&mut self, mut from: Ns, until: Ns, outstanding: u64, gauged: &mut impl Gauged) {
        while from < until {
            if self.is_new {
                self.is_new = false;
                self.open.free_min = self.open.free_min.min(gauged.fewest_free_blocks());
            }
            let end = until.min(self.open_end);
            self.hold_within(end - from, outstanding);
            if end == self.open_end {
                self.end_bin(end, gauged);
                self.begin_bin();
            }
            from = end;
        }
    }

    /// Ends the open bin at `now`, which is its end or the end of the run. Returns the number of free blocks now.
    fn end_bin(&mut self, now: Ns, gauged: &mut impl Gauged) -> u64 {
        let (before, after) = (&self.before, gauged.read(now));
        let bin = Bin {
            ns: now - self.ended.begin_ns(),
            jobs: after.jobs - before.jobs,
            pages_moved: after.pages_moved - before.pages_moved,
            flash_bytes: after.flash_bytes - before.flash_bytes,
            slc_bytes: std::array::from_fn(|way| after.slc_bytes[way] - before.slc_bytes[way]),
            free_block_ns: after.free_block_ns - before.free_block_ns,
            free_min: self.open.free_min.min(after.free_min),
            state_ns: std::array::from_fn(|state| after.state_ns[state] - before.state_ns[state]),
            bus_ns: after.bus_ns - before.bus_ns,
            die_ns: after.die_ns - before.die_ns,
            energy_fj: self.shape.energy.map_or(0, |rates| rates.total_fj(&after.drawn) - rates.total_fj(&before.drawn)),
            temperature: after.temperature - before.temperature,
            throttled_ns: after.throttled_ns - before.throttled_ns,
            cache_hits: after.cache_hits - before.cache_hits,
            cache_lookups: after.cache_lookups - before.cache_lookups,
            cache_dirty: after.cache_dirty,
            ..self.open
        };
        let rows = |chips: &[u128]| chips.chunks(self.chips_per_row as usize).map(|row| row.iter().sum()).collect::<Vec<u128>>();
        let gc_ns = rows(&after.gc_ns).into_iter().zip(rows(&before.gc_ns)).map(|(after, before)| after - before);
        let streams = after.streams.iter().zip(&before.streams).flat_map(|(after, before)| [0, 1, 2].map(|row| after[row] - before[row]));
        self.ended.push(bin, gc_ns, streams);
        self.before = after;
        self.before.free_blocks
    }

    fn begin_bin(&mut self) {
        self.ended.make_room();
        self.open = Bin::EMPTY;
        self.open_end = self.ended.begin_ns() + self.ended.width_ns;
        self.is_new = true;
    }

    /// Ends the series: the run has ended at `now`, the last time of the clock, with `outstanding` requests outstanding.
    pub fn finish(mut self, now: Ns, outstanding: u64, gauged: &mut impl Gauged) -> SeriesResult {
        if self.is_new {
            // The bin has no duration for a mean: the present value is taken.
            self.open.free_min = self.open.free_min.min(gauged.fewest_free_blocks());
            self.open.outstanding_max = outstanding;
        }
        let free_blocks = self.end_bin(now, gauged);
        SeriesResult::of(&self.ended, &self.shape, self.chips_per_row, free_blocks)
    }
}
