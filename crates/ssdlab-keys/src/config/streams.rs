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
//! | `zones` (a active ones) | any | any | 0 to a - 1 | as before | a |
//! | any but `none` and `zones`, h classes of the host | `shared` | `block` | 0 to h - 1 | h to 2 h - 1 | 0 to h - 1, or the first |
//! | any but `none` and `zones`, h classes of the host | `shared` | others | 0 to h - 1 | as before | 0 to h - 1, or the first |
//!
//! With a shared frontier the page moves of a class fill the host's block of that class, so that they have no more classes than the host:
//! `sepbit` parts them in two, `custom` in at most h, and `handles` with initial isolation moves all to the first.
//!
//! With a cache of blocks in SLC mode (`slc`) each class of host writes has one stream more, behind those of the table: that of its writes to
//! the cache. Its blocks are opened in the mode of the part of the cache that they are taken from, those of other streams in native mode.
//!
//! If part of the mapping table is in flash (`ftl.map_cache_bytes`) beside such a cache, translation pages are a class of their own, behind
//! those of the host, with one stream in the mode of `slc.map_mode`. What does not fit into the cache goes where host writes go. Without a
//! cache translation pages are written as host writes are.

use super::{Config, Frontier, Isolation, Mode, Placement};
use serde::{Deserialize, Serialize};

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

/// The most streams of a pool: of host writes past the cache and to it, of page moves, and that of translation pages. A power of two.
pub const STREAMS_MAX: usize = (3 * HANDLES_MAX as usize + 1).next_power_of_two();

/// The most classes of writes: those of the host, and translation pages. A power of two.
pub const CLASSES_MAX: usize = 16;

/// The fewest open blocks of a pool that saved states have an entry for.
const STREAMS_MIN: usize = 2;

/// The table of a drive that maps writers to streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The first of the streams of the SLC cache, which come last: one for each class of host writes, and maybe that of translation pages. The
    /// number of streams if there are none.
    pub slc: Stream,
    /// The stream of translation pages; `None` if they are written as host writes are.
    pub map: Option<Stream>,
    /// The class of host writes that translation pages join when the cache has no block for them: that of data without a handle, or cold ones.
    pub map_class: u8,
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
            Placement::Zones => (config.zones.max_active, 1),
        };
        let shared = config.ftl.frontier == Frontier::Shared && !config.has_zones();
        let move_classes = if shared { host_classes.min(move_classes) } else { move_classes };
        let (host, host_during_job, moves) = match shared {
            false => (0, 0, host_classes),
            true if config.redirects_writes() => (0, host_classes, 0),
            true => (0, 0, 0),
        };
        let count = (host.max(host_during_job) + host_classes).max(moves + move_classes);
        let map_mode = (config.slc.is_on() && config.caches_map()).then_some(config.slc.map_mode);
        let map_in_cache = map_mode.map(|mode| mode != Mode::Native);
        let slc = count + u8::from(map_in_cache == Some(false));
        let behind = slc + if config.slc.is_on() { host_classes } else { 0 };
        let map = map_in_cache.map(|cached| if cached { behind } else { count });
        let count = behind + u8::from(map_in_cache == Some(true));
        let map_class = match config.ftl.placement {
            Placement::Handles => config.ftl.default_handle,
            Placement::HotCold | Placement::Sepbit => 1,
            Placement::None | Placement::Oracle | Placement::Custom | Placement::Zones => 0,
        };
        Streams { count, host, host_during_job, moves, host_classes, move_classes, slc, map, map_class }
    }

    /// A stream fills blocks of the cache.
    #[inline(always)]
    pub fn is_of_cache(&self, stream: Stream) -> bool {
        (self.slc..self.count).contains(&stream)
    }

    /// Number of classes of writes: those of the host, and translation pages if they have a stream of their own.
    pub fn write_classes(&self) -> u8 {
        self.host_classes + u8::from(self.map.is_some())
    }

    /// The stream that writes of a class fill in the cache, or translation pages always.
    pub fn in_cache(&self, class: u8) -> Stream {
        self.map.filter(|_| class == self.host_classes).unwrap_or(self.slc + class)
    }

    /// The stream that the writer of a stream fills outside of the cache; `None` for that of translation pages.
    #[inline(always)]
    pub fn outside_cache(&self, stream: Stream) -> Option<Stream> {
        match self.is_of_cache(stream) {
            _ if self.map == Some(stream) => None,
            false => Some(stream),
            true => Some(self.host + stream - self.slc),
        }
    }

    /// Number of streams of the host and of page moves outside of the cache.
    pub fn placed(&self) -> u8 {
        self.map.map_or(self.slc, |map| map.min(self.slc))
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

    /// By stream: it is of the cache, and the stream of the same writer outside of it.
    #[test]
    fn each_class_has_a_stream_in_the_cache() {
        let row = |placement, map_cache_bytes, map_mode| {
            let mut config = Config::default();
            (config.ftl.placement, config.ftl.map_cache_bytes) = (placement, map_cache_bytes);
            (config.slc.static_blocks, config.slc.map_mode) = (1, map_mode);
            let streams = Streams::new(&config);
            assert_eq!(usize::from(streams.count), streams.saved());
            (0..streams.count).map(|stream| (streams.is_of_cache(stream), streams.outside_cache(stream))).collect::<Vec<_>>()
        };
        let native = |streams: std::ops::Range<Stream>| streams.map(|stream| (false, Some(stream))).collect::<Vec<_>>();
        let (first, second) = ((true, Some(0)), (true, Some(1)));
        assert_eq!(row(Placement::None, 0, Mode::Slc), [native(0..2), vec![first]].concat());
        assert_eq!(row(Placement::Sepbit, 0, Mode::Slc), [native(0..6), vec![first, second]].concat());
        assert_eq!(row(Placement::None, 4096, Mode::Slc), [native(0..2), vec![first, (true, None)]].concat());
        assert_eq!(row(Placement::None, 4096, Mode::Native), [native(0..2), vec![(false, None), first]].concat());
    }

    #[test]
    fn no_configuration_has_more_streams_or_classes_than_there_is_room_for() {
        let mut config = Config::default();
        (config.ftl.placement, config.ftl.handles, config.ftl.isolation) = (Placement::Handles, HANDLES_MAX, Isolation::Persistent);
        (config.slc.static_blocks, config.ftl.map_cache_bytes) = (1, 4096);
        let streams = Streams::new(&config);
        assert!(usize::from(streams.count) > STREAMS_MAX / 2 && usize::from(streams.count) <= STREAMS_MAX);
        assert!(usize::from(streams.write_classes()) <= CLASSES_MAX);
    }
}
