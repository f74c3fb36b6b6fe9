//! Streams: which open block each writer of a pool fills.
//!
//! A pool has one or several streams, each with one open block (its write frontier). A table, [`Streams`], maps each writer to its streams:
//! the host, and the page moves of GC (also those that a host write has merged with). A data placement policy (`ftl.placement`) chooses
//! between the streams of a writer by class, counted from 0 ([`crate::ftl::Placer`]); without one, each writer has one stream. It may differ
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

use super::{Config, Frontier, Isolation, Placement};

/// Number of a stream in its pool.
pub type Stream = u8;

/// The most placement handles (`ftl.handles`).
pub const HANDLES_MAX: u8 = 8;

/// The most streams of a pool.
pub const STREAMS_MAX: usize = 16;

/// The fewest open blocks of a pool that saved states have an entry for.
pub const STREAMS_MIN: usize = 2;

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
        };
        let (host, host_during_job, moves) = match config.ftl.frontier {
            Frontier::Separate => (0, 0, host_classes),
            Frontier::Shared if config.redirects_writes() => (0, 1, 0),
            Frontier::Shared => (0, 0, 0),
        };
        let count = (host.max(host_during_job) + host_classes).max(moves + move_classes);
        Streams { count, host, host_during_job, moves, host_classes, move_classes }
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
    }
}
