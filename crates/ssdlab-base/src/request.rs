//! Requests of the host.

use crate::units::Ns;

/// Kind of a host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Read the bytes.
    Read,
    /// Write the bytes.
    Write,
    /// The bytes are no longer needed. Only mapping units that lie wholly inside are unmapped, as drives do.
    Trim,
    /// A volatile write buffer or cache brings to flash what came before; elsewhere the flush completes at once.
    Flush,
}

/// One host request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Arrival time, ns from the start of the run. Ignored in closed loop.
    pub arrival_ns: Ns,
    /// Kind of the request.
    pub kind: RequestKind,
    /// First byte.
    pub offset: u64,
    /// Length in bytes; 0 only for a flush.
    pub length: u64,
    /// A high-priority write (lee2013 III-D).
    pub high_priority: bool,
    /// Number of the flow that sends the request ([`crate::config::Workload::separate_flows`]), from 0.
    pub flow: u16,
    /// Placement handle of a write, from 0; `None`: it names none.
    pub handle: Option<u8>,
}

/// End of the last read or write in a stream of requests, by which sequential requests are recognised.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastEnd(Option<u64>);

impl LastEnd {
    /// Takes the next request. Returns whether it is a read or write that starts where the previous read or write ended.
    #[inline]
    pub fn is_followed_by(&mut self, request: &Request) -> bool {
        if matches!(request.kind, RequestKind::Trim | RequestKind::Flush) {
            return false;
        }
        self.0.replace(request.offset + request.length) == Some(request.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_sequential_whatever_trims_and_flushes_come_between() {
        let mut last = LastEnd::default();
        let sequential = [
            (RequestKind::Write, 0, 8),
            (RequestKind::Read, 8, 4),
            (RequestKind::Trim, 12, 4),
            (RequestKind::Flush, 0, 0),
            (RequestKind::Read, 12, 4),
            (RequestKind::Read, 12, 4),
        ]
        .map(|(kind, offset, length)| {
            last.is_followed_by(&Request { arrival_ns: 0, kind, offset, length, high_priority: false, flow: 0, handle: None })
        });
        assert_eq!(sequential, [false, true, false, false, true, false]);
    }
}
