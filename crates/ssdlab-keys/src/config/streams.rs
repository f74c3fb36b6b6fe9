//! Streams: which open block each writer of a pool fills.
//!
//! A pool has one or several streams, each with one open block (its write frontier). A table, [`Streams`], maps each writer to its streams:
//! the host, and the page moves of GC (also those that a host write has merged with). A data placement policy (`ftl.placement`) chooses
//! between the streams of a writer by class, counted from 0 (`Placer` in crate `ssdlab-drive`); without one, each writer has one stream. It may differ
//! while a job is active in the pool:
//!
//! | `ftl.placement` | `ftl.frontier` | `gc.scope` | host | host, during a job | page moves |
//! |---|---|---|---|---|---|
//! | `none` | `separate` | any | 0 | 0 | 1 |
//! | `none` | `shared` | `block` (ae2022 section 4.2) | 0 | 1 | 0 |
//! | `none` | `shared` | others | 0 | 0 | 0 |
//! | `handles` (n of them) | `separate` | any | 0 to n - 1 | as before | n, or n to 2 n - 1 (`ftl.isolation`) |
//! | `hot-cold` | `separate` | any | 0, 1 | as before | 2, 3 |
//! | `sepbit` | `separate` | any | 0, 1 | as before | 2 to 5 |
//! | `oracle` (n groups) | `separate` | any | 0 to n - 1 | as before | n to 2 n - 1 |
//! | `custom` (h and m streams) | `separate` | any | 0 to h - 1 | as before | h to h + m - 1 |
//! | any but `none`, h classes of the host | `shared` | `block` | 0 to h - 1 | h to 2 h - 1 | 0 to h - 1, or the first |
//! | any but `none`, h classes of the host | `shared` | others | 0 to h - 1 | as before | 0 to h - 1, or the first |
//!
//! With a shared frontier the page moves of a class fill the host's block of that class, so that they have no more classes than the host:
//! `sepbit` parts them in two, `custom` in at most h, and `handles` with initial isolation moves all to the first.
//!
//! With a cache of blocks in SLC mode (`slc`), which goes with neither a policy nor a shared block, stream 2 is that of host writes to the
//! cache. Its blocks are opened in SLC mode, those of the others in native mode.

use super::{Config, Frontier, Isolation, Mode, Placement};

/// Number of a stream in its pool.
pub type Stream = u8;

/// The most placement handles (`ftl.handles`).
pub const HANDLES_MAX: u8 = 8;

/// The most groups of an oracle (`ftl.groups`).
pub const GROUPS_MAX: usize = 8;

/// Lives that an oracle tells apart, in multiples of the logical pages: it must know the writes as far ahead.
pub const HORIZON: u64 = 4;

/// Writes beyond the horizon of an oracle that may be known since the drive has not taken them yet: at least this many.
const SLACK_MIN: u64 = 1 << 16;

/// Number of writes that an oracle has room for, on a drive of `pages` logical pages.
pub fn foretold_writes(pages: u64) -> u64 {
    HORIZON * pages + pages.max(SLACK_MIN)
}

/// Bytes that an oracle takes: three numbers for each page, and two for each write that it has room for.
pub fn oracle_bytes(pages: u64) -> u64 {
    4 * (3 * pages + 2 * foretold_writes(pages))
}

/// The most streams of a pool.
pub const STREAMS_MAX: usize = 16;

/// The fewest open blocks of a pool that saved states have an entry for.
const STREAMS_MIN: usize = 2;

/// The table of a drive that maps writers to streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    /// Number of streams of a pool: as many blocks are open at a time.
    pub count: u8,
    /// The first stream of host writes, while no job is active in the pool.
    pub host: Stream,
    /// The first stream of host writes while a job is active in the pool.
    pub host_during_job: Stream,
    /// The first stream of page moves.
    pub moves: Stream,
    /// Number of streams of host writes.
    pub host_classes: u8,
    /// Number of streams of page moves.
    pub move_classes: u8,
    /// The stream of host writes to blocks in SLC mode; `None` without such blocks.
    pub slc: Option<Stream>,
}

impl Streams {
    /// The table that a configuration asks for (`ftl.placement`, `ftl.frontier`, `gc.scope`).
    pub fn new(config: &Config) -> Self {
        let (host_classes, move_classes) = match config.ftl.placement {
            Placement::None => (1, 1),
            Placement::Handles if config.ftl.isolation == Isolation::Persistent => (config.ftl.handles, config.ftl.handles),
            Placement::Handles => (config.ftl.handles, 1),
            Placement::HotCold => (2, 2),
            Placement::Sepbit => (2, 4),
            Placement::Oracle => (config.ftl.groups, config.ftl.groups),
            Placement::Custom => (config.ftl.host_streams, config.ftl.move_streams),
        };
        let shared = config.ftl.frontier == Frontier::Shared;
        let move_classes = if shared { host_classes.min(move_classes) } else { move_classes };
        let (host, host_during_job, moves) = match config.ftl.frontier {
            Frontier::Separate => (0, 0, host_classes),
            Frontier::Shared if config.redirects_writes() => (0, host_classes, 0),
            Frontier::Shared => (0, 0, 0),
        };
        let count = (host.max(host_during_job) + host_classes).max(moves + move_classes);
        let slc = config.slc.is_on().then_some(count);
        Streams { count: count + u8::from(slc.is_some()), host, host_during_job, moves, host_classes, move_classes, slc }
    }

    /// The mode in which the blocks of a stream are opened. Blocks that no stream of this table has filled are in native mode.
    #[inline(always)]
    pub fn mode(&self, stream: Stream) -> Mode {
        if self.slc == Some(stream) { Mode::Slc } else { Mode::Native }
    }

    /// The streams that page moves fill.
    #[inline(always)]
    pub fn of_moves(&self) -> std::ops::Range<Stream> {
        self.moves..self.moves + self.move_classes
    }

    /// Page moves have streams of their own.
    pub fn parts_moves(&self) -> bool {
        self.moves > 0
    }

    /// Number of streams that blocks may have been filled by: also those for redirected writes of a run with another `gc.scope`.
    pub fn noted(&self) -> u8 {
        if self.parts_moves() { self.count } else { self.count.max(2 * self.host_classes) }
    }

    /// Entries for open blocks that a saved state has for each pool.
    pub fn saved(&self) -> usize {
        usize::from(self.count).max(STREAMS_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Scope;

    #[test]
    fn the_tables_are_those_of_the_documentation() {
        let row = |frontier, scope| {
            let mut config = Config::default();
            (config.ftl.frontier, config.gc.scope) = (frontier, scope);
            let Streams { count, host, host_during_job, moves, .. } = Streams::new(&config);
            [host, host_during_job, moves, count]
        };
        assert_eq!(row(Frontier::Separate, Scope::None), [0, 0, 1, 2]);
        assert_eq!(row(Frontier::Separate, Scope::Block), [0, 0, 1, 2]);
        assert_eq!(row(Frontier::Shared, Scope::Block), [0, 1, 0, 2]);
        assert_eq!(row(Frontier::Shared, Scope::Die), [0, 0, 0, 1]);
    }

    #[test]
    fn a_placement_has_the_streams_of_the_documentation() {
        let row = |placement, isolation| {
            let mut config = Config::default();
            (config.ftl.placement, config.ftl.isolation, config.ftl.handles) = (placement, isolation, 3);
            let Streams { count, host, moves, host_classes, move_classes, .. } = Streams::new(&config);
            [host, host_classes, moves, move_classes, count]
        };
        assert_eq!(row(Placement::None, Isolation::Persistent), [0, 1, 1, 1, 2]);
        assert_eq!(row(Placement::Handles, Isolation::Initial), [0, 3, 3, 1, 4]);
        assert_eq!(row(Placement::Handles, Isolation::Persistent), [0, 3, 3, 3, 6]);
        assert_eq!(row(Placement::HotCold, Isolation::Initial), [0, 2, 2, 2, 4]);
        assert_eq!(row(Placement::Sepbit, Isolation::Initial), [0, 2, 2, 4, 6]);
        assert_eq!(row(Placement::Oracle, Isolation::Initial), [0, 8, 8, 8, 16]);
        assert_eq!(row(Placement::Custom, Isolation::Initial), [0, 2, 2, 2, 4]);
    }

    #[test]
    fn with_a_shared_frontier_moves_fill_the_blocks_of_the_host() {
        let row = |placement, isolation, scope| {
            let mut config = Config::default();
            (config.ftl.placement, config.ftl.isolation, config.ftl.handles) = (placement, isolation, 3);
            (config.ftl.frontier, config.gc.scope, config.ftl.host_streams, config.ftl.move_streams) = (Frontier::Shared, scope, 2, 5);
            let Streams { count, host_during_job, moves, host_classes, move_classes, .. } = Streams::new(&config);
            [host_during_job, host_classes, moves, move_classes, count]
        };
        for (placement, isolation, classes, moves) in [
            (Placement::Handles, Isolation::Initial, 3, 1),
            (Placement::Handles, Isolation::Persistent, 3, 3),
            (Placement::HotCold, Isolation::Initial, 2, 2),
            (Placement::Sepbit, Isolation::Initial, 2, 2),
            (Placement::Oracle, Isolation::Initial, 8, 8),
            (Placement::Custom, Isolation::Initial, 2, 2),
        ] {
            assert_eq!(row(placement, isolation, Scope::Die), [0, classes, 0, moves, classes], "{placement:?}");
            assert_eq!(row(placement, isolation, Scope::Block), [classes, classes, 0, moves, 2 * classes], "{placement:?}");
        }
    }
}
