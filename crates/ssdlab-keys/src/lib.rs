//! The keys of ssdlab: configuration, presets, what a configuration means for sizes and energy, and remarks. Use crate `ssdlab`, which exports
//! all of this under the same names.

#![deny(missing_docs, unsafe_code)]

pub mod config;
pub mod energy;
pub mod geometry;
pub mod memory;
pub mod power_states;
pub mod remark;
pub mod scale;
pub mod thermal;
pub mod turns;
