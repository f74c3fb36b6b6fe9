//! The least that a simulator of a few configurations needs. It knows one kind of drive, greedy GC and two ways in which jobs share a die with the
//! host; it is written apart from the core, of which it takes only the prepared drive and the requests. So it serves twice: the core must give
//! each of its response times and counts, and its cost is a floor below which no simulator of all mechanisms comes.
//!
//! | file | has |
//! |---|---|
//! | `cases` | the configurations |
//! | `drive` | what all have in common: operations of the host, jobs, events, the closed loop |
//! | `exclusive`, `host_first` | how jobs share a die with the host, one way each |
//! | `operations`, `map`, `blocks`, `counts` | what `drive` keeps |

#![deny(missing_docs, unsafe_code)]

mod blocks;
mod cases;
mod counts;
mod drive;
mod exclusive;
mod host_first;
mod map;
mod operations;

pub use cases::{CASES, Case, LARGE};
pub use counts::Counts;

use drive::Drive;
use exclusive::Exclusive;
use host_first::HostFirst;
use ssdlab_base::units::Ns;
use ssdlab_drive::ftl::Ftl;
use ssdlab_keys::config::{Config, Priority};
use ssdlab_trace::workload::RequestSource;

/// A simulator of one configuration.
pub struct Floor(Kind);

enum Kind {
    Exclusive(Drive<Exclusive>),
    HostFirst(Drive<HostFirst>),
}

impl Floor {
    /// A simulator of a prepared drive.
    ///
    /// # Panics
    /// If the drive is not full, or has blocks, requests or addresses of another shape than the drives of [`CASES`].
    pub fn new(config: &Config, ftl: &Ftl) -> Self {
        Floor(match config.gc.priority {
            Priority::Host => Kind::HostFirst(Drive::new(config, ftl)),
            _ => Kind::Exclusive(Drive::new(config, ftl)),
        })
    }

    /// Sends `depth` requests and another for each that completes, until the source ends and all have completed. `each` gets the number of a
    /// request, from 0 in the order of their arrival, and its response time in ns.
    ///
    /// # Panics
    /// If the source fails, or a request has another length than a page.
    pub fn run(&mut self, source: &mut dyn RequestSource, depth: u32, each: impl FnMut(u32, Ns)) {
        match &mut self.0 {
            Kind::Exclusive(drive) => drive.run(source, depth, each),
            Kind::HostFirst(drive) => drive.run(source, depth, each),
        }
    }

    /// What has been counted.
    pub fn counts(&self) -> &Counts {
        match &self.0 {
            Kind::Exclusive(drive) => drive.counts(),
            Kind::HostFirst(drive) => drive.counts(),
        }
    }
}
