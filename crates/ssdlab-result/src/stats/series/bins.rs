//! Bins of equal width, merged two by two when there are too many.

use std::ops::Add;

use crate::stats::Responses;
use ssdlab_base::units::Ns;

/// Most bins of a run. Even, because bins are merged in pairs.
pub const MOST_BINS: usize = 512;
/// Width of the bins at the start of a run, ns.
pub const NARROWEST_NS: Ns = 1_000;

/// The sums of a bin, except GC by chips. Sums over time are numbers x ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    /// Part of the bin that lies in the run, ns.
    pub ns: Ns,
    /// Response times of the reads (`[0]`) and writes (`[1]`) that completed in the bin.
    pub responses: [Responses; 2],
    /// Outstanding requests summed over time. `outstanding_max`: their maximum.
    pub outstanding_ns: u128,
    pub outstanding_max: u64,
    pub jobs: u64,
    pub pages_moved: u64,
    /// Bytes of the host's writes that completed in the bin. `flash_bytes`: bytes programmed in it.
    pub host_bytes: u64,
    pub flash_bytes: u64,
    /// Bytes of the host programmed in SLC mode and in other blocks, and bytes folded.
    pub slc_bytes: [u64; 3],
    /// Free blocks of all pools summed over time. `free_min`: the fewest of a pool.
    pub free_block_ns: u128,
    pub free_min: u32,
    /// Time in the states S0 to S3, summed over pools.
    pub state_ns: [u128; 4],
    /// Time of transfers, summed over channels. `die_ns`: time in which dies are occupied, summed over dies.
    pub bus_ns: u128,
    pub die_ns: u128,
    /// Energy of all drives, fJ.
    pub energy_fj: u128,
    /// Temperatures summed over drives and time. `throttled_ns`: time for which drives were too warm, summed over drives.
    pub temperature: i128,
    pub throttled_ns: u128,
    pub cache_hits: u64,
    pub cache_lookups: u64,
    /// Dirty pages of the cache at the end of the bin.
    pub cache_dirty: u64,
}

impl Bin {
    pub const EMPTY: Bin = Bin {
        ns: 0,
        responses: [Responses::NONE; 2],
        outstanding_ns: 0,
        outstanding_max: 0,
        jobs: 0,
        pages_moved: 0,
        host_bytes: 0,
        flash_bytes: 0,
        slc_bytes: [0; 3],
        free_block_ns: 0,
        free_min: u32::MAX,
        state_ns: [0; 4],
        bus_ns: 0,
        die_ns: 0,
        energy_fj: 0,
        temperature: 0,
        throttled_ns: 0,
        cache_hits: 0,
        cache_lookups: 0,
        cache_dirty: 0,
    };

    /// Joins this bin and the next: sums are added, extremes kept, and the dirty pages of the next bin taken.
    fn followed_by(self, next: Bin) -> Bin {
        Bin {
            ns: self.ns + next.ns,
            responses: [0, 1].map(|kind| self.responses[kind].joined(next.responses[kind])),
            outstanding_ns: self.outstanding_ns + next.outstanding_ns,
            outstanding_max: self.outstanding_max.max(next.outstanding_max),
            jobs: self.jobs + next.jobs,
            pages_moved: self.pages_moved + next.pages_moved,
            host_bytes: self.host_bytes + next.host_bytes,
            flash_bytes: self.flash_bytes + next.flash_bytes,
            slc_bytes: std::array::from_fn(|way| self.slc_bytes[way] + next.slc_bytes[way]),
            free_block_ns: self.free_block_ns + next.free_block_ns,
            free_min: self.free_min.min(next.free_min),
            state_ns: std::array::from_fn(|state| self.state_ns[state] + next.state_ns[state]),
            bus_ns: self.bus_ns + next.bus_ns,
            die_ns: self.die_ns + next.die_ns,
            energy_fj: self.energy_fj + next.energy_fj,
            temperature: self.temperature + next.temperature,
            throttled_ns: self.throttled_ns + next.throttled_ns,
            cache_hits: self.cache_hits + next.cache_hits,
            cache_lookups: self.cache_lookups + next.cache_lookups,
            cache_dirty: next.cache_dirty,
        }
    }
}

/// Sums of several rows, by bin and then by row.
#[derive(Clone, Debug)]
pub(super) struct Rows<T> {
    sums: Vec<T>,
    rows: usize,
}

impl<T: Copy + Add<Output = T>> Rows<T> {
    fn new(rows: usize) -> Self {
        Rows { sums: Vec::with_capacity(MOST_BINS * rows), rows }
    }

    /// Adds the sums of bin number `bin`, one of each row.
    fn push(&mut self, bin: usize, sums: impl Iterator<Item = T>) {
        self.sums.extend(sums);
        assert_eq!(self.sums.len(), (bin + 1) * self.rows, "a bin has its rows");
    }

    /// Merges the bins two by two, of which there are then `half`.
    fn merge_pairs(&mut self, half: usize) {
        for (bin, row) in (0..half).flat_map(|bin| (0..self.rows).map(move |row| (bin, row))) {
            self.sums[bin * self.rows + row] = self.sums[2 * bin * self.rows + row] + self.sums[(2 * bin + 1) * self.rows + row];
        }
        self.sums.truncate(half * self.rows);
    }

    /// By row, then by bin.
    pub fn by_row(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = T>> {
        (0..self.rows).map(|row| self.sums.iter().skip(row).step_by(self.rows).copied())
    }
}

/// The bins that have ended.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    pub width_ns: Ns,
    pub bins: Vec<Bin>,
    /// By row of chips: time with an active GC job, summed over the row.
    pub gc_ns: Rows<u128>,
    /// Three rows a stream of data placement: units that the host wrote, units of the blocks collected, and valid units of these.
    pub streams: Rows<u64>,
}

impl Bins {
    pub fn new(rows_of_chips: usize, streams: usize) -> Self {
        Bins {
            width_ns: NARROWEST_NS,
            bins: Vec::with_capacity(MOST_BINS),
            gc_ns: Rows::new(rows_of_chips),
            streams: Rows::new(3 * streams),
        }
    }

    /// Start of the open bin, ns.
    pub fn begin_ns(&self) -> Ns {
        self.bins.len() as Ns * self.width_ns
    }

    /// Adds the open bin, which has ended. `gc_ns`: its time with an active GC job, by row of chips; `streams`: its rows of streams.
    pub fn push(&mut self, bin: Bin, gc_ns: impl Iterator<Item = u128>, streams: impl Iterator<Item = u64>) {
        self.gc_ns.push(self.bins.len(), gc_ns);
        self.streams.push(self.bins.len(), streams);
        self.bins.push(bin);
    }

    /// If there is no room for one more bin, merges bins two by two.
    pub fn make_room(&mut self) {
        if self.bins.len() == MOST_BINS {
            self.merge_pairs();
        }
    }

    fn merge_pairs(&mut self) {
        let half = self.bins.len() / 2;
        for bin in 0..half {
            self.bins[bin] = self.bins[2 * bin].followed_by(self.bins[2 * bin + 1]);
        }
        self.bins.truncate(half);
        self.gc_ns.merge_pairs(half);
        self.streams.merge_pairs(half);
        self.width_ns *= 2;
    }
}
