//! Streams: which open block each writer of a pool fills.
//!
//! A pool has one or several streams, each with one open block (its write frontier). A table, [`Streams`], maps each writer to a stream: the
//! host, and the page moves of GC (also those that a host write has merged with), which fill one stream whatever block they come from. It may differ while a job is active in the pool:
//!
//! | `ftl.frontier` | `gc.scope` | host | host, during a job | page moves |
//! |---|---|---|---|---|
//! | `separate` | any | 0 | 0 | 1 |
//! | `shared` | `block` (ae2022 section 4.2) | 0 | 1 | 0 |
//! | `shared` | others | 0 | 0 | 0 |

use super::{Config, Frontier};

/// Number of a stream in its pool.
pub type Stream = u8;

/// The most streams of a pool.
pub const STREAMS_MAX: usize = 2;

/// The table of a drive that maps writers to streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    /// Number of streams of a pool: as many blocks are open at a time.
    pub count: u8,
    /// The stream of host writes, while no job is active in the pool.
    pub host: Stream,
    /// The stream of host writes while a job is active in the pool.
    pub host_during_job: Stream,
    /// The stream of page moves.
    pub moves: Stream,
}

impl Streams {
    /// The table that a configuration asks for (`ftl.frontier`, `gc.scope`).
    pub fn new(config: &Config) -> Self {
        let (host, host_during_job, moves) = match config.ftl.frontier {
            Frontier::Separate => (0, 0, 1),
            Frontier::Shared if config.redirects_writes() => (0, 1, 0),
            Frontier::Shared => (0, 0, 0),
        };
        Streams { count: 1 + host.max(host_during_job).max(moves), host, host_during_job, moves }
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
            let Streams { count, host, host_during_job, moves } = Streams::new(&config);
            [host, host_during_job, moves, count]
        };
        assert_eq!(row(Frontier::Separate, Scope::None), [0, 0, 1, 2]);
        assert_eq!(row(Frontier::Separate, Scope::Block), [0, 0, 1, 2]);
        assert_eq!(row(Frontier::Shared, Scope::Block), [0, 1, 0, 2]);
        assert_eq!(row(Frontier::Shared, Scope::Die), [0, 0, 0, 1]);
    }
}
