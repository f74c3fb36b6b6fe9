//! ssdlab: a trace-driven SSD simulator.
//!
//! The modules form floors; a module uses only floors below its own, and on the ground floor only modules in front of it in the row
//! (`tests/floors.rs` reads this table and checks it):
//!
//! | floor | modules |
//! |---|---|
//! | 7 | [`simulation`] |
//! | 6 | [`storage`] |
//! | 5 | [`ssd`], [`precondition`] |
//! | 4 | [`sched`], [`gc`], [`arbiter`], [`cache`] |
//! | 3 | [`ftl`] |
//! | 2 | [`flash`], [`replay`] |
//! | 1 | [`workload`], [`stats`], [`queueing`], [`event`], [`timeline`], [`views`] |
//! | 0 | [`units`], [`error`], [`caller`], [`rng`], [`config`], [`geometry`], [`request`], [`files`], [`inputs`], [`memory`], [`distribution`], [`lists`], [`slab`], [`custom`] |

#![deny(missing_docs, unsafe_code)]

pub mod arbiter;
pub mod cache;
pub mod caller;
pub mod config;
pub mod custom;
pub mod distribution;
pub mod error;
pub mod event;
pub mod files;
pub mod flash;
pub mod ftl;
pub mod gc;
pub mod geometry;
pub mod inputs;
pub mod lists;
pub mod memory;
pub mod precondition;
pub mod queueing;
pub mod replay;
pub mod request;
pub mod rng;
pub mod sched;
pub mod simulation;
pub mod slab;
pub mod ssd;
pub mod stats;
pub mod storage;
pub mod timeline;
pub mod units;
pub mod views;
pub mod workload;
