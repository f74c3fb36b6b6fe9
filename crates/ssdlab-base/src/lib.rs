//! What all parts of ssdlab share: integers with units, errors, files, random numbers, requests. Use crate `ssdlab`, which exports all of this
//! under the same names.

#![deny(missing_docs, unsafe_code)]

pub mod blocked;
pub mod caller;
pub mod cause;
pub mod error;
pub mod files;
pub mod inputs;
pub mod request;
pub mod rng;
pub mod status;
pub mod table;
pub mod units;
pub mod version;
