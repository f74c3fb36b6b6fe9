//! What runs of ssdlab report: statistics, timelines, why the slowest requests were late, and the single die as a queueing model. Use crate
//! `ssdlab`, which exports all of this under the same names.

#![deny(missing_docs, unsafe_code)]

pub mod distribution;
pub mod queueing;
pub mod settled;
pub mod slowest;
pub mod stats;
pub mod timeline;
