#![doc = include_str!("../README.md")]
//!
//! # Layers
//!
//! The modules form layers. A module uses only lower layers, and in layer 0 only modules listed before it
//! (`tests/floors.rs` reads this table and checks it):
//!
//! | layer | modules |
//! |---|---|
//! | 7 | [`simulation`] |
//! | 6 | [`storage`] |
//! | 5 | [`ssd`], [`precondition`] |
//! | 4 | [`sched`], [`gc`], [`arbiter`], [`cache`] |
//! | 3 | [`ftl`] |
//! | 2 | [`flash`], [`replay`], [`slowest`] |
//! | 1 | [`workload`], [`stats`], [`queueing`], [`event`], [`timeline`], [`views`] |
//! | 0 | [`units`], [`blocked`], [`error`], [`caller`], [`rng`], [`remark`], [`config`], [`geometry`], [`energy`], [`rules`], [`request`], [`files`], `table`, [`inputs`], [`memory`], [`distribution`], [`advice`], [`lists`], [`slab`], [`custom`], [`settled`], [`scale`] |

#![deny(missing_docs, unsafe_code)]

pub mod advice;
pub mod arbiter;
pub mod blocked;
pub mod cache;
pub mod caller;
pub mod config;
pub mod custom;
pub mod distribution;
pub mod energy;
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
pub mod remark;
pub mod replay;
pub mod request;
pub mod rng;
pub mod rules;
pub mod scale;
pub mod sched;
pub mod settled;
pub mod simulation;
pub mod slab;
pub mod slowest;
pub mod ssd;
pub mod stats;
pub mod storage;
mod table;
pub mod timeline;
pub mod units;
pub mod views;
pub mod workload;
