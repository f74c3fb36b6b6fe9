//! Checks whether the arrays of a drive, and the lists that grow in it, fit into the machine's memory. If not, an error says so: the
//! operating system would end the whole process without a message.
//!
//! The estimate of a drive is a lower bound, so that nothing is refused that would have run: memory that is reserved but not touched costs nothing,
//! and what a workload touches later cannot be known.

use std::collections::{BinaryHeap, TryReserveError, VecDeque};
use std::path::Path;

use crate::config::{ArrayLevel, Capacity, Config, MapCacheUnit, MapModels, Padding, Placement, PreconditionKind, oracle_bytes};
use ssdlab_base::error::{Error, Result};

/// Total size of arrays, bytes, below which available memory is not checked: they fit anywhere.
const SMALL_BYTES: u64 = 64 << 20;
/// Largest growth of a list at once, bytes: memory that is reserved but not used yet could be granted twice.
const STEP_BYTES: usize = 256 << 20;
/// Bytes of memory that growing lists leave to the rest of the process.
const SPARE_BYTES: u64 = 64 << 20;
/// Bytes per block that are written at the start: its record with the bits of 64 pages, and the links of two lists.
const BLOCK_BYTES: u64 = 16 + 2 * 8;
/// Minimum bytes per pool: frontiers, list heads, the collector's and the scheduler's lines.
const POOL_BYTES: u64 = 200;

/// Bytes per entry of a cache: its content, its places in the orders of use and of dirtying, its frame and its fetch.
const ENTRY_BYTES: u64 = 12 + 2 * 16 + 4 + 4;

/// Bytes per entry of a write buffer: its content, its places in two lists and in the table of units, and its place among the free ones.
const BUFFER_ENTRY_BYTES: u64 = 72 + 2 * 8 + 4 * 8 + 4;
/// Memory of the program for an entry of the mapping cache: its slot, and its links in two lists.
const MAP_SLOT_BYTES: u64 = 48 + 4 + 2 * 8;

/// Memory that the arrays of the drives and caches take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The sizes of the largest arrays, bytes.
    arrays: Vec<u64>,
    /// Bytes of the arrays that are written before the first request.
    touched: u64,
}

impl Needs {
    /// Memory that the drives of a configuration take. `verified`: with the page versions of verify mode. `column_bytes`: what is kept by block
    /// beside its record and its links, in bytes a block.
    ///
    /// # Errors
    /// [`Error::Config`] as for [`Capacity::of`].
    pub fn of(config: &Config, verified: bool, column_bytes: u64) -> Result<Self> {
        const ENTRY: u64 = size_of::<u32>() as u64;
        let capacity = Capacity::of(config)?;
        let (pages, exported) = (capacity.data_pages(), capacity.logical_pages());
        let blocks = capacity.pools * capacity.blocks_per_pool;
        let map = [ENTRY * exported, ENTRY * pages];
        let by_block = (8 * (capacity.units_per_block.div_ceil(64) - 1) + column_bytes) * blocks;
        // A pool lists its blocks by the number of their valid pages.
        let by_pool = capacity.pools * (POOL_BYTES + 8 * (capacity.units_per_block + 1));
        let mut needs = Needs { arrays: vec![map[0], map[1], by_block, by_pool], touched: BLOCK_BYTES * blocks + by_pool };
        let precondition = &config.ftl.precondition;
        let writes_pages = precondition.settle > 0.0 || !matches!(precondition.kind, PreconditionKind::None | PreconditionKind::Fill);
        if writes_pages && config.ftl.precondition.prefill.is_none() {
            // Overwriting goes over the whole range several times, and over all blocks.
            let range = config.ftl.precondition.range.unwrap_or(config.workload.footprint);
            needs.touched += (map[0] as f64 * range) as u64;
        }
        if config.ftl.placement == Placement::Oracle {
            needs.arrays.push(oracle_bytes(exported));
            needs.touched += oracle_bytes(exported);
        }
        if verified {
            needs.arrays.extend(map);
            // Each physical page's version is written at the start.
            needs.touched += map[1];
        }
        let drives = u64::from(config.array.drives());
        needs.arrays.iter_mut().for_each(|bytes| *bytes *= drives);
        needs.touched *= drives;
        if config.array.level == ArrayLevel::Rais5 {
            // Updates by page.
            needs.arrays.push(ENTRY * config.array.exported_bytes(capacity.exported_bytes()) / capacity.unit_bytes);
        }
        if config.array.level != ArrayLevel::None && verified {
            // The content of each sector.
            needs.arrays.push(drives * capacity.exported_bytes() / 512 * 8);
        }
        if config.buffer.is_on() {
            let units = config.buffer_units().min(capacity.exported_units) * drives;
            needs.arrays.push(BUFFER_ENTRY_BYTES * units);
            needs.touched += BUFFER_ENTRY_BYTES * units;
            if verified {
                // Versions of units: of the host, in the buffer and below.
                needs.arrays.push(3 * ENTRY * exported * drives);
            }
        }
        if config.caches_map() {
            // Places of the translation pages, and their state.
            needs.arrays.push(4 * ENTRY * capacity.map_units * drives);
            if config.ftl.map_cache_unit == MapCacheUnit::Entry {
                // Places of the entries, and the entries in memory.
                let cached = (config.ftl.map_cache_bytes / u64::from(config.ftl.map_entry_bytes)).min(capacity.exported_units) * drives;
                needs.arrays.extend([ENTRY * exported * drives, MAP_SLOT_BYTES * cached]);
                needs.touched += MAP_SLOT_BYTES * cached;
            }
        }
        match config.ftl.map_models {
            MapModels::None => {}
            // A bit for each unit.
            MapModels::Exact => needs.arrays.push(exported.div_ceil(8) * drives),
            // A byte for each unit: how far the place that its segment gives is from where it is.
            MapModels::Segments => needs.arrays.push(exported * drives),
        }
        if config.cache.is_on() {
            needs.add_caches(config, &capacity, verified);
        }
        Ok(needs)
    }

    fn add_caches(&mut self, config: &Config, capacity: &Capacity, verified: bool) {
        let drive = capacity.exported_bytes();
        let (caches, bytes) =
            if config.caches_array() { (1, config.array.exported_bytes(drive)) } else { (u64::from(config.array.drives()), drive) };
        let pages = bytes / capacity.unit_bytes;
        let entries = (config.cache.bytes / capacity.unit_bytes).min(pages);
        let sectors = capacity.unit_bytes.div_ceil(512);
        // Which entry holds a page; the group of a page at most; the entries, and which sectors they hold.
        self.arrays.extend([4 * pages * caches, ENTRY_BYTES * entries * caches, entries * sectors.div_ceil(64) * 8 * caches]);
        self.touched += ENTRY_BYTES * entries * caches;
        if config.cache.padding != Padding::Off {
            self.arrays.push(4 * pages * caches);
        }
        if verified {
            // The version of each sector, as written last and below, and of each sector in the cache.
            self.arrays.extend([8 * pages * sectors * caches, 4 * entries * sectors * caches]);
            self.touched += 4 * entries * sectors * caches;
        }
    }

    /// Checks that the arrays fit into `available` bytes (`None`: not known) and that the system grants them.
    ///
    /// # Errors
    /// [`Error::Simulation`] with the memory needed and the memory available.
    pub fn check(&self, available: Option<u64>) -> Result<()> {
        if self.arrays.iter().sum::<u64>() < SMALL_BYTES {
            return Ok(());
        }
        if let Some(available) = available.filter(|&available| self.touched > available) {
            return Err(self.refusal(&format!("{} are available", gib(available))));
        }
        // The address space may be limited too (`ulimit -v`): reserved together and given back at once.
        let reserved: Vec<Vec<u8>> = self.arrays.iter().map(|_| Vec::new()).collect();
        let all = reserved.into_iter().zip(&self.arrays).map(|(mut array, &bytes)| array.try_reserve_exact(bytes as usize).map(|()| array));
        match all.collect::<std::result::Result<Vec<_>, _>>() {
            Ok(_) => Ok(()),
            Err(_) => Err(self.refusal("the system does not grant that")),
        }
    }

    fn refusal(&self, but: &str) -> Error {
        let needed = gib(self.arrays.iter().sum::<u64>().max(self.touched));
        Error::Simulation(format!(
            "device: a drive of this size takes at least {needed} of memory, but {but}; lower device.blocks_per_plane or another count, use \
             larger pages or blocks, or run fewer jobs at once"
        ))
    }
}

/// Refuses a drive that does not fit into the memory of this machine. Parameters as for [`Needs::of`].
///
/// # Errors
/// [`Error::Simulation`]; [`Error::Config`] as for [`Capacity::of`].
pub fn check(config: &Config, verified: bool, column_bytes: u64) -> Result<()> {
    Needs::of(config, verified, column_bytes)?.check(available_bytes())
}

/// The system has no memory for a list to grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// Bytes that were requested.
    pub bytes: u64,
    /// Bytes that are available; `None` if the system refuses the request, whatever is available.
    pub available: Option<u64>,
}

impl std::fmt::Display for Exhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.available {
            Some(available) => write!(f, "{} more of memory are needed, and {} are available", gib(self.bytes), gib(available)),
            None => write!(f, "the system does not grant {} more of memory", gib(self.bytes)),
        }
    }
}

/// A collection that grows at its end.
pub trait Grows {
    /// Bytes per element.
    const BYTES: usize;
    /// Number of elements, and the number that there is room for.
    fn extent(&self) -> (usize, usize);
    /// Makes room for exactly `more` further elements.
    ///
    /// # Errors
    /// If the allocator does not grant the memory.
    fn reserve_exactly(&mut self, more: usize) -> std::result::Result<(), TryReserveError>;
}

impl<T> Grows for Vec<T> {
    const BYTES: usize = size_of::<T>();

    fn extent(&self) -> (usize, usize) {
        (self.len(), self.capacity())
    }

    fn reserve_exactly(&mut self, more: usize) -> std::result::Result<(), TryReserveError> {
        self.try_reserve_exact(more)
    }
}

impl<T> Grows for VecDeque<T> {
    const BYTES: usize = size_of::<T>();

    fn extent(&self) -> (usize, usize) {
        (self.len(), self.capacity())
    }

    fn reserve_exactly(&mut self, more: usize) -> std::result::Result<(), TryReserveError> {
        self.try_reserve_exact(more)
    }
}

impl<T: Ord> Grows for BinaryHeap<T> {
    const BYTES: usize = size_of::<T>();

    fn extent(&self) -> (usize, usize) {
        (self.len(), self.capacity())
    }

    fn reserve_exactly(&mut self, more: usize) -> std::result::Result<(), TryReserveError> {
        self.try_reserve_exact(more)
    }
}

/// Makes room for `more` further elements in a list, so that they can be added without growing it. The list doubles, in steps of at most
/// 256 MiB (or as much as `more` needs), if the memory is available.
///
/// # Errors
/// [`Exhausted`] if the memory is not available.
#[inline]
pub fn make_room(list: &mut impl Grows, more: usize) -> std::result::Result<(), Exhausted> {
    let (len, capacity) = list.extent();
    if capacity - len >= more { Ok(()) } else { grow(list, more) }
}

#[cold]
fn grow<L: Grows>(list: &mut L, more: usize) -> std::result::Result<(), Exhausted> {
    let more = more.max(list.extent().0.min(STEP_BYTES / L::BYTES.max(1)));
    let bytes = more as u64 * L::BYTES as u64;
    // Checking is not worth its time for less.
    if bytes > SPARE_BYTES / 4
        && let Some(available) = available_bytes().filter(|&available| available < bytes + SPARE_BYTES)
    {
        return Err(Exhausted { bytes, available: Some(available) });
    }
    list.reserve_exactly(more).map_err(|_| Exhausted { bytes, available: None })
}

/// A size in GiB, or in MiB where a tenth of a GiB would not show it.
fn gib(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib < 1.0 { format!("{:.3} MiB", gib * 1024.0) } else { format!("{gib:.1} GiB") }
}

/// Available memory, bytes: the lower of what Linux reports, free swap included, and what the control groups leave. `None` on other
/// systems.
fn available_bytes() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| in_meminfo(&text));
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    machine.into_iter().chain(left_in_groups(Path::new("/sys/fs/cgroup"), &groups)).min()
}

/// Memory that the control groups of a process and their ancestors leave, bytes; `None` without a limit. `groups`: a line `0::PATH`
/// (version 2) or `N:memory:PATH` (version 1). In a container the root is the container's own.
fn left_in_groups(root: &Path, groups: &str) -> Option<u64> {
    let left = |folder: &Path, names: [&str; 2]| {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let [limit, used] = names.map(|name| text(name)?.trim().parse::<u64>().ok());
        // Cached files count as used, but can be dropped.
        let stat = text("memory.stat").unwrap_or_default();
        let cached = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok());
        Some(limit?.saturating_sub(used.unwrap_or(0).saturating_sub(cached.unwrap_or(0))))
    };
    let of_line = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let (folder, names) = match controllers {
            "" => (root.to_path_buf(), ["memory.max", "memory.current"]),
            "memory" => (root.join("memory"), ["memory.limit_in_bytes", "memory.usage_in_bytes"]),
            _ => return None,
        };
        let within = Path::new(path.trim_start_matches('/'));
        within.ancestors().filter_map(|path| left(&folder.join(path), names)).min()
    };
    groups.lines().filter_map(of_line).min()
}

/// Available memory and free swap by the text of `/proc/meminfo`, bytes.
fn in_meminfo(text: &str) -> Option<u64> {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    };
    Some((field("MemAvailable")? + field("SwapFree").unwrap_or(0)) * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache as large as the drive takes as much again as a map; one of verify mode eight bytes for every sector.
    #[test]
    fn caches_are_counted() {
        let total = |config: &Config, verified| Needs::of(config, verified, 0).unwrap().arrays.iter().sum::<u64>();
        let mut config = Config::default();
        let without = [false, true].map(|verified| total(&config, verified));
        config.cache.policy = crate::config::CachePolicy::Lru;
        config.cache.bytes = 4096;
        let pages = Capacity::of(&config).unwrap().exported_units;
        let small = total(&config, false) - without[0];
        assert_eq!(small, 4 * pages + ENTRY_BYTES + 8);
        assert_eq!(total(&config, true) - without[1], small + 8 * 8 * pages + 4 * 8);
        config.cache.bytes = 1 << 40;
        assert_eq!(total(&config, false) - without[0], (4 + ENTRY_BYTES + 8) * pages);
    }

    #[test]
    fn the_tightest_of_nested_control_groups_counts() {
        let root = tempfile::tempdir().unwrap();
        let group = |path: &str, files: &[(&str, &str)]| {
            let folder = root.path().join(path);
            std::fs::create_dir_all(&folder).unwrap();
            files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
        };
        group("", &[("memory.current", "5000\n")]);
        group("a", &[("memory.max", "1000\n"), ("memory.current", "700\n"), ("memory.stat", "anon 1\ninactive_file 200\n")]);
        group("a/b", &[("memory.max", "max\n"), ("memory.current", "600\n")]);
        assert_eq!(left_in_groups(root.path(), "0::/a/b\n"), Some(500));
        assert_eq!(left_in_groups(root.path(), "0::/\n"), None);
        group("memory/c", &[("memory.limit_in_bytes", "300\n"), ("memory.usage_in_bytes", "100\n")]);
        assert_eq!(left_in_groups(root.path(), "5:cpu:/c\n3:memory:/c\n0::/a/b\n"), Some(200));
    }

    #[test]
    fn what_piles_up_beyond_memory_is_an_error_and_no_abort() {
        let mut list: Vec<u64> = vec![7];
        let exhausted = make_room(&mut list, 1 << 50).unwrap_err();
        assert_eq!((exhausted.bytes, list.as_slice()), (1 << 53, [7].as_slice()));
        assert!(exhausted.to_string().contains("8388608.0 GiB more of memory"), "{exhausted}");
        assert_eq!(make_room(&mut list, 10), Ok(()));
        assert!(list.capacity() >= 11);
    }

    fn many_small_blocks() -> Config {
        let mut config = Config::default();
        config.device.channels = 512;
        config.device.chips_per_channel = 1024;
        config.device.planes_per_die = 64;
        config.device.blocks_per_plane = 30;
        config.device.pages_per_block = 2;
        config
    }

    #[test]
    fn a_drive_that_does_not_fit_is_refused_with_both_figures() {
        let needs = Needs::of(&many_small_blocks(), false, 0).unwrap();
        let message = needs.check(Some(1 << 30)).unwrap_err().to_string();
        assert!(message.contains("1.0 GiB are available") && message.contains("device.blocks_per_plane"), "{message}");
        assert!(needs.check(Some(1 << 45)).is_ok());
    }

    #[test]
    fn what_cannot_even_be_addressed_is_refused() {
        let needs = Needs { arrays: vec![1 << 62, 1 << 62], touched: 0 };
        assert!(needs.check(None).unwrap_err().to_string().contains("does not grant"));
    }

    /// Eight terabytes of flash, filled: the maps are reserved and not touched.
    #[test]
    fn a_large_drive_with_usual_blocks_needs_little_before_it_is_written() {
        let mut config = Config::default();
        config.device.channels = 8;
        config.device.blocks_per_plane = 1 << 20;
        config.device.pages_per_block = 255;
        let fill = Needs::of(&config, false, 0).unwrap();
        assert!(fill.touched < 1 << 30, "{fill:?}");
        config.ftl.precondition.kind = PreconditionKind::Steady;
        assert!(Needs::of(&config, false, 0).unwrap().touched > 4 << 30);
    }

    #[test]
    fn meminfo_is_in_kilobytes() {
        let text = "MemTotal:  100 kB\nMemAvailable:     20 kB\nSwapFree:   5 kB\n";
        assert_eq!(in_meminfo(text), Some(25 * 1024));
        assert_eq!(in_meminfo("nothing"), None);
    }
}
