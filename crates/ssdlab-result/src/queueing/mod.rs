//! A single flash die as a queueing model: W. Bux, System Performance Issues in Flash-Based Solid-State Drives, IBM Research Report RZ
//! 3801, 2011. Reads and writes arrive at one server, which also executes the copies and erases of GC. The service discipline decides which
//! operation is next.
//!
//! [`formulas`] has the report's equations. [`simulate`] runs the same model in integer nanoseconds, also with arrivals other than Poisson
//! ([`Arrivals`]).

mod arrivals;
pub mod formulas;
mod model;
mod result;
mod simulation;

pub use arrivals::{Arrival, Arrivals, GapLists, LAST_ARRIVAL, LONGEST_GAP, RatesPerMs, Stream, Traffic, UserOp};
pub use model::{Model, Priority, ServiceTimes};
pub use result::{
    CollectionSeries, Collections, CopySeries, OpCounts, QueueLength, QueueingResult, RequestSeries, Series, Utilisation, Waits,
};
pub use simulation::{Watch, simulate};
