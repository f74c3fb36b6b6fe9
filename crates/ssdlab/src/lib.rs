//! ssdlab: a trace-driven SSD simulator.
//!
//! The modules form floors; a module uses only floors below its own (`tests/floors.rs` checks it):
//!
//! | floor | modules |
//! |---|---|
//! | 7 | [`simulation`] |
//! | 5 | [`ssd`], [`arbiter`], [`precondition`] |
//! | 4 | [`sched`], [`gc`] |
//! | 3 | [`ftl`] |
//! | 2 | [`flash`] |
//! | 1 | [`workload`], [`stats`], [`event`], [`views`] |
//! | 0 | [`units`], [`geometry`], [`config`], [`error`], [`files`], [`rng`], [`request`] |

pub mod arbiter;
pub mod config;
pub mod error;
pub mod event;
pub mod files;
pub mod flash;
pub mod ftl;
pub mod gc;
pub mod geometry;
pub mod precondition;
pub mod request;
pub mod rng;
pub mod sched;
pub mod simulation;
pub mod ssd;
pub mod stats;
pub mod units;
pub mod views;
pub mod workload;
