#![doc = include_str!("../README.md")]
//!
//! # Parts
//!
//! Each part is a crate, and uses only those below it. This crate has the run itself, and exports the modules of all parts.
//!
//! | crate | modules |
//! |---|---|
//! | `ssdlab` | [`simulation`], [`replay`], [`reference`] |
//! | `ssdlab-drive` | [`storage`], [`ssd`], [`precondition`], [`sched`], [`gc`], [`arbiter`], [`cache`], [`ftl`], [`flash`], and small ones |
//! | `ssdlab-result` | [`stats`], [`slowest`], [`timeline`], [`queueing`], [`distribution`], [`settled`] |
//! | `ssdlab-trace` | [`workload`] |
//! | `ssdlab-keys` | [`config`], [`memory`], [`scale`], [`geometry`], [`energy`], [`power_states`], [`thermal`], [`remark`] |
//! | `ssdlab-base` | [`units`], [`request`], [`error`], [`files`], and small ones |

#![deny(missing_docs, unsafe_code)]

pub use ssdlab_base::{blocked, caller, cause, error, files, inputs, request, rng, status, units, version};
pub use ssdlab_drive::{advice, arbiter, cache, custom, event, flash, ftl, gc, precondition, rules, sched, ssd, storage, views};
pub use ssdlab_keys::{config, energy, geometry, memory, power_states, remark, scale, thermal};
pub use ssdlab_result::{distribution, queueing, settled, slowest, stats, timeline};
pub use ssdlab_trace::workload;

pub mod reference;
pub mod replay;
pub mod simulation;
