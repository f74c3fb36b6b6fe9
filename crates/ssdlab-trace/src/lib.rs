//! Workloads of ssdlab: readers of block traces, their conversion, and the generator. Use crate `ssdlab`, which exports all of this under the
//! same names.

#![deny(missing_docs, unsafe_code)]

pub mod workload;
