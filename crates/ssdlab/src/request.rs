//! What the host asks for.

use crate::units::Ns;

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Read the bytes.
    Read,
    /// Write the bytes.
    Write,
    /// The bytes are no longer needed. Only pages that lie wholly inside are unmapped, as drives do.
    Trim,
    /// Everything written before must be in flash.
    Flush,
}

/// One host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it arrives, ns from the start of the run. Ignored in closed loop.
    pub arrival_ns: Ns,
    /// What it asks for.
    pub kind: RequestKind,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; 0 only for a flush.
    pub length: u64,
    /// A high-priority write (lee2013 III-D).
    pub high_priority: bool,
    /// The flow that sends it ([`crate::config::Workload::separate_flows`]), from 0.
    pub flow: u16,
}
