//! The simulated drive of ssdlab, and the caches and arrays above it. Use crate `ssdlab`, which exports all of this under the same names.
//!
//! # Layers
//!
//! A module uses only lower layers, and in layer 0 only modules listed before it (`crates/ssdlab/tests/floors.rs` reads this table and checks it):
//!
//! | layer | modules |
//! |---|---|
//! | 4 | [`storage`] |
//! | 3 | [`ssd`], [`precondition`] |
//! | 2 | [`sched`], [`gc`], [`arbiter`], [`cache`] |
//! | 1 | [`ftl`], [`flash`] |
//! | 0 | [`advice`], `lists`, `slab`, [`custom`], [`event`], [`views`], [`rules`] |

#![deny(missing_docs, unsafe_code)]

pub mod advice;
pub mod arbiter;
pub mod cache;
pub mod custom;
pub mod event;
pub mod flash;
pub mod ftl;
pub mod gc;
mod lists;
pub mod precondition;
pub mod rules;
pub mod sched;
mod slab;
pub mod ssd;
pub mod storage;
pub mod views;
