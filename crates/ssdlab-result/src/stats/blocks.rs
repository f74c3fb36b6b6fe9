//! The state of every block over time: snapshots at the borders of the bins of a series, as the changes between them.
//!
//! Snapshot `k` is taken at `k` intervals, before the events of that instant; the last one at the end of the run. The interval doubles as
//! the bins of a series do ([`MOST_BINS`]), and once more whenever there are more than [`MOST_CHANGES`] changes: every other snapshot is
//! dropped, never a block.

use std::path::Path;

use parquet::data_type::ByteArray;

use super::{BlocksResult, MOST_BINS, NARROWEST_NS};
use ssdlab_base::error::{Error, Result};
use ssdlab_base::files::WholeFile;
use ssdlab_base::table::{Holds, ROWS_AT_ONCE, Table, Values};
use ssdlab_base::units::Ns;

/// The largest number of blocks that are recorded, of all drives together.
pub const MOST_BLOCKS: usize = 1 << 20;
/// The number of changes from which on snapshots are dropped. A change takes 20 bytes.
pub const MOST_CHANGES: usize = 4_000_000;
/// Value of [`BlockNow::stream`] for a block that no stream of this run has filled.
pub const NO_STREAM: u8 = u8::MAX;

/// Names of the states, by the index that a drive reports.
const STATES: [&str; 5] = ["free", "open", "closed", "victim", "retired"];

/// The state of a block at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockNow {
    /// State of the block, as an index into free, open, closed, victim, retired.
    pub state: u8,
    /// The stream that has filled it since its last erase, or [`NO_STREAM`].
    pub stream: u8,
    /// Number of valid pages.
    pub valid: u16,
    /// Number of pages programmed since the last erase.
    pub programmed: u16,
    /// Number of erases since the block was new.
    pub erases: u32,
}

/// The blocks of a drive.
#[derive(Clone, Debug)]
pub struct DriveBlocks {
    /// Number of blocks of a pool. The blocks of a pool have consecutive numbers.
    pub blocks_per_pool: u32,
    /// The die of each pool.
    pub die_of_pool: Vec<u32>,
}

impl DriveBlocks {
    fn count(&self) -> usize {
        self.blocks_per_pool as usize * self.die_of_pool.len()
    }
}

/// A block, counted through all drives, that differs from the snapshot before.
type Change = (u32, BlockNow);

/// Recorder of the blocks of all drives.
#[derive(Debug)]
pub struct Blocks {
    file: WholeFile,
    drives: Vec<DriveBlocks>,
    /// The first snapshot, and the latest.
    first: Vec<BlockNow>,
    latest: Vec<BlockNow>,
    /// Changes of each interval that has ended, by block.
    intervals: Vec<Vec<Change>>,
    interval_ns: Ns,
    changes: usize,
    changes_max: usize,
    /// Snapshots were dropped because of the limit of changes.
    thinned: bool,
}

impl Blocks {
    /// Begins the file of the blocks of these drives. `changes_max`: the number of changes from which on snapshots are dropped.
    ///
    /// # Errors
    /// [`Error::Usage`] for more than [`MOST_BLOCKS`] blocks, [`Error::Io`] if the file cannot be begun.
    pub fn create(path: &Path, drives: Vec<DriveBlocks>, changes_max: usize) -> Result<Self> {
        let count: usize = drives.iter().map(DriveBlocks::count).sum();
        if count > MOST_BLOCKS {
            return Err(Error::Usage(format!(
                "the states of {count} blocks over time are too many to record (limit {MOST_BLOCKS}): simulate a smaller drive \
                 (device.blocks_per_plane), or leave blocks (--blocks) out"
            )));
        }
        let file = WholeFile::create(path)?;
        let (first, latest) = (Vec::with_capacity(count), Vec::new());
        Ok(Blocks {
            file,
            drives,
            first,
            latest,
            intervals: Vec::new(),
            interval_ns: NARROWEST_NS,
            changes: 0,
            changes_max,
            thinned: false,
        })
    }

    /// Takes the first snapshot, at the start of the run. `each` gives the states of all blocks in order, drive by drive.
    pub fn begin(&mut self, each: impl FnOnce(&mut dyn FnMut(BlockNow))) {
        each(&mut |block| self.first.push(block));
        self.latest.clone_from(&self.first);
    }

    /// The time of the next snapshot, ns.
    #[inline]
    pub fn next_ns(&self) -> Ns {
        (self.intervals.len() as Ns + 1) * self.interval_ns
    }

    /// Takes the snapshots that are due when the clock passes from one instant to `until`: nothing changes in between.
    #[cold]
    pub fn hold(&mut self, until: Ns, each: impl FnOnce(&mut dyn FnMut(BlockNow))) {
        let mut changes = self.changed(each);
        while self.next_ns() <= until {
            self.push(std::mem::take(&mut changes));
        }
        debug_assert!(changes.is_empty(), "a snapshot was due");
    }

    /// The blocks that differ from the latest snapshot, which becomes that of now.
    fn changed(&mut self, each: impl FnOnce(&mut dyn FnMut(BlockNow))) -> Vec<Change> {
        let (mut changes, mut index) = (Vec::new(), 0);
        each(&mut |block| {
            if std::mem::replace(&mut self.latest[index], block) != block {
                changes.push((index as u32, block));
            }
            index += 1;
        });
        changes
    }

    /// Ends an interval with these changes, and drops every other snapshot while there are too many snapshots or changes.
    fn push(&mut self, changes: Vec<Change>) {
        self.changes += changes.len();
        self.intervals.push(changes);
        if self.intervals.len() == MOST_BINS {
            self.merge_pairs();
        }
        while self.changes > self.changes_max && self.intervals.len().is_multiple_of(2) {
            self.merge_pairs();
            self.thinned = true;
        }
    }

    fn merge_pairs(&mut self) {
        let mut intervals = std::mem::take(&mut self.intervals).into_iter();
        while let (Some(one), Some(next)) = (intervals.next(), intervals.next()) {
            self.intervals.push(merged(one, &next));
        }
        self.changes = self.intervals.iter().map(Vec::len).sum();
        self.interval_ns *= 2;
    }

    /// Takes the last snapshot, at the end of the run, and writes the file: all blocks at the start, then those that have changed.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self, end: Ns, each: impl FnOnce(&mut dyn FnMut(BlockNow))) -> Result<BlocksResult> {
        let last = self.changed(each);
        let (interval_ns, thinned) = (self.interval_ns, self.thinned);
        let times = (1..=self.intervals.len() as Ns).map(|interval| interval * interval_ns);
        let mut snapshots: Vec<(Ns, Vec<Change>)> = vec![(0, (0..).zip(self.first).collect())];
        snapshots.extend(times.zip(self.intervals));
        if end == snapshots.last().expect("the first").0 {
            // The last snapshot was taken before the events of the last instant.
            let changes = &mut snapshots.last_mut().expect("the first").1;
            *changes = merged(std::mem::take(changes), &last);
        } else {
            snapshots.push((end, last));
        }
        let path = self.file.path().to_path_buf();
        let file = write(self.file, &self.drives, &snapshots).map_err(|error| Error::io("write", &path, error))?;
        file.commit()?;
        Ok(BlocksResult { file: path.display().to_string(), instants: snapshots.len() as u64, interval_ns, end_ns: end, thinned })
    }
}

/// The changes of two intervals, the second after the first.
fn merged(first: Vec<Change>, second: &[Change]) -> Vec<Change> {
    let mut all = first;
    all.extend_from_slice(second);
    // Stable: of two changes of a block the later one is last.
    all.sort_by_key(|&(block, _)| block);
    all.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 = later.1;
        }
        same
    });
    all
}

/// The columns: the first five place a block, the others are its state from `time_ns` on.
const COLUMNS: [(&str, Holds); 10] = [
    ("time_ns", Holds::Rising),
    ("drive", Holds::Numbers),
    ("die", Holds::Numbers),
    ("pool", Holds::Numbers),
    ("block", Holds::Numbers),
    ("state", Holds::Texts),
    ("stream", Holds::Numbers),
    ("valid", Holds::Numbers),
    ("programmed", Holds::Numbers),
    ("erases", Holds::Numbers),
];

fn write(file: WholeFile, drives: &[DriveBlocks], snapshots: &[(Ns, Vec<Change>)]) -> std::io::Result<WholeFile> {
    let states: Vec<_> = STATES.iter().map(|&name| ByteArray::from(name)).collect();
    let mut table = Table::new(file, &COLUMNS)?;
    let mut rows = Rows::default();
    for (at, changes) in snapshots {
        for &(index, block) in changes {
            rows.push(*at, place(drives, index), block);
            if rows.state.len() == ROWS_AT_ONCE {
                rows.write(&mut table, &states)?;
            }
        }
    }
    rows.write(&mut table, &states)?;
    table.finish()
}

/// Drive, die, pool and block of a block counted through all drives.
fn place(drives: &[DriveBlocks], index: u32) -> [u32; 4] {
    let mut block = index as usize;
    let mut number = 0;
    while block >= drives[number].count() {
        block -= drives[number].count();
        number += 1;
    }
    let pool = block as u32 / drives[number].blocks_per_pool;
    [number as u32, drives[number].die_of_pool[pool as usize], pool, block as u32]
}

/// Rows not encoded yet, by column.
#[derive(Debug, Default)]
struct Rows {
    time: Vec<i64>,
    place: [Vec<i64>; 4],
    state: Vec<Option<u8>>,
    numbers: [Vec<i64>; 4],
}

impl Rows {
    fn push(&mut self, at: Ns, place: [u32; 4], block: BlockNow) {
        self.time.push(i64::try_from(at).expect("times have 63 bits"));
        self.place.iter_mut().zip(place).for_each(|(column, value)| column.push(value.into()));
        self.state.push(Some(block.state));
        let stream = if block.stream == NO_STREAM { -1 } else { block.stream.into() };
        let numbers = [stream, block.valid.into(), block.programmed.into(), block.erases.into()];
        self.numbers.iter_mut().zip(numbers).for_each(|(column, value)| column.push(value));
    }

    fn write(&mut self, table: &mut Table<WholeFile>, states: &[ByteArray]) -> std::io::Result<()> {
        let mut columns = vec![Values::Numbers(&self.time)];
        columns.extend(self.place.iter().map(|column| Values::Numbers(column)));
        columns.push(Values::Names(&self.state, states));
        columns.extend(self.numbers.iter().map(|column| Values::Numbers(column)));
        table.write(self.state.len(), &columns)?;
        *self = Rows::default();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: BlockNow = BlockNow { state: 0, stream: NO_STREAM, valid: 0, programmed: 0, erases: 0 };

    fn with_erases(erases: u32) -> BlockNow {
        BlockNow { erases, ..FREE }
    }

    fn recorder(folder: &Path, blocks: u32, changes_max: usize) -> Blocks {
        let drives = vec![DriveBlocks { blocks_per_pool: blocks, die_of_pool: vec![0] }];
        let mut recorder = Blocks::create(&folder.join("blocks.parquet"), drives, changes_max).unwrap();
        recorder.begin(|each| (0..blocks).for_each(|_| each(FREE)));
        recorder
    }

    #[test]
    fn snapshots_that_are_dropped_keep_the_later_state_of_each_block() {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = recorder(folder.path(), 2, MOST_CHANGES);
        // Block 0 is erased once in each interval, block 1 in the first one only.
        for interval in 1..=MOST_BINS as Ns {
            recorder.hold(interval * NARROWEST_NS, |each| [interval as u32, 1].into_iter().for_each(|erases| each(with_erases(erases))));
        }
        assert_eq!((recorder.interval_ns, recorder.intervals.len(), recorder.thinned), (2 * NARROWEST_NS, MOST_BINS / 2, false));
        assert_eq!(recorder.intervals[0], [(0, with_erases(2)), (1, with_erases(1))]);
        assert_eq!(recorder.intervals[255], [(0, with_erases(512))]);
        assert_eq!(recorder.next_ns(), (MOST_BINS as Ns + 2) * NARROWEST_NS);
    }

    #[test]
    fn a_long_pause_ends_many_intervals_of_which_the_first_has_the_changes() {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = recorder(folder.path(), 1, MOST_CHANGES);
        recorder.hold(NARROWEST_NS * 5 / 2, |each| each(with_erases(1)));
        assert_eq!(recorder.intervals, [vec![(0, with_erases(1))], vec![]]);
        recorder.hold(1_000_000_000 * NARROWEST_NS, |each| each(with_erases(2)));
        assert!(recorder.intervals.len() < MOST_BINS && recorder.next_ns() > 1_000_000_000 * NARROWEST_NS);
        assert_eq!(recorder.intervals[0], [(0, with_erases(2))]);
    }

    #[test]
    fn more_changes_than_the_limit_double_the_interval() {
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = recorder(folder.path(), 3, 7);
        for interval in 1..=4 {
            recorder.hold(interval * NARROWEST_NS, |each| (0..3).for_each(|_| each(with_erases(interval as u32))));
        }
        let result = recorder.finish(4 * NARROWEST_NS, |each| (0..3).for_each(|_| each(with_erases(9)))).unwrap();
        assert_eq!((result.interval_ns, result.instants, result.thinned, result.end_ns), (2 * NARROWEST_NS, 3, true, 4 * NARROWEST_NS));
    }

    #[test]
    fn too_many_blocks_are_refused() {
        let drives = vec![DriveBlocks { blocks_per_pool: MOST_BLOCKS as u32, die_of_pool: vec![0, 1] }];
        let error = Blocks::create(Path::new("blocks.parquet"), drives, MOST_CHANGES).unwrap_err();
        assert!(error.to_string().contains("the states of 2097152 blocks over time are too many to record (limit 1048576)"), "{error}");
    }
}
