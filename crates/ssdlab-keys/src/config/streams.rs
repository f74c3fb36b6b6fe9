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
//! | `handles` (n of them) | `separate` | not `block` | 0 to n - 1 | as before | n, or n to 2 n - 1 (`ftl.isolation`) |
//! | `hot-cold` | `separate` | not `block` | 0, 1 | as before | 2, 3 |
//! | `sepbit` | `separate` | not `block` | 0, 1 | as before | 2 to 5 |
//! | `oracle` (n groups) | `separate` | not `block` | 0 to n - 1 | as before | n to 2 n - 1 |
//! | `custom` (h and m streams) | `separate` | not `block` | 0 to h - 1 | as before | h to h + m - 1 |
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
        let (host, host_during_job, moves) = match config.ftl.frontier {
            Frontier::Separate => (0, 0, host_classes),
            Frontier::Shared if config.redirects_writes() => (0, 1, 0),
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
}
