//! A single flash die as a queueing model: W. Bux, System Performance Issues in Flash-Based Solid-State Drives, IBM Research Report RZ 3801,
//! 2011. Reads and writes arrive at one server, which also has to collect garbage; who goes first is the question.
//!
//! [`formulas`] has the report's equations; [`simulate`] what they are compared with: the same model in integer nanoseconds, and arrivals
//! other than Poisson ([`Arrivals`]).

mod arrivals;
pub mod formulas;
mod result;
mod simulation;

pub use arrivals::{Arrival, Arrivals, GapLists, LAST_ARRIVAL, LONGEST_GAP, Op, RatesPerMs, Stream, Traffic};
pub use result::{
    CollectionSeries, Collections, CopySeries, OpCounts, QueueLength, QueueingResult, RequestSeries, Series, Utilisation, Waits,
};
pub use simulation::{Model, Priority, ServiceTimes, Watch, simulate};
