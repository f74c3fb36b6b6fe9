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
    /// Write behind what the zone that begins at the first byte holds. The drive finds the place, which the completion names.
    Append,
    /// Open the zone.
    ZoneOpen,
    /// Close the zone.
    ZoneClose,
    /// Make the zone full.
    ZoneFinish,
    /// Make the zone empty.
    ZoneReset,
    /// Write data that the drive reads itself. Only a log of the host (`zones.log`) sends it.
    Copy,
}

impl RequestKind {
    /// Number of kinds.
    pub const COUNT: usize = 10;
    /// All kinds, in order.
    pub const ALL: [RequestKind; RequestKind::COUNT] = [
        RequestKind::Read,
        RequestKind::Write,
        RequestKind::Trim,
        RequestKind::Flush,
        RequestKind::Append,
        RequestKind::ZoneOpen,
        RequestKind::ZoneClose,
        RequestKind::ZoneFinish,
        RequestKind::ZoneReset,
        RequestKind::Copy,
    ];
    /// Names of the kinds, in order.
    pub const NAMES: [&'static str; RequestKind::COUNT] =
        ["read", "write", "trim", "flush", "append", "zone-open", "zone-close", "zone-finish", "zone-reset", "copy"];

    /// Name of the kind.
    pub fn name(self) -> &'static str {
        RequestKind::NAMES[self as usize]
    }

    /// The request brings data from the host.
    #[inline(always)]
    pub fn brings_data(self) -> bool {
        matches!(self, RequestKind::Write | RequestKind::Append)
    }

    /// The request moves data between host and drive.
    #[inline(always)]
    pub fn moves_data(self) -> bool {
        self == RequestKind::Read || self.brings_data()
    }

    /// The request manages a zone (`zones`), and has no data.
    #[inline(always)]
    pub fn manages_zone(self) -> bool {
        matches!(self, RequestKind::ZoneOpen | RequestKind::ZoneClose | RequestKind::ZoneFinish | RequestKind::ZoneReset)
    }

    /// The order of the request and others of the same zone matters, whatever bytes they name.
    #[inline(always)]
    pub fn is_of_whole_zone(self) -> bool {
        self.manages_zone() || self == RequestKind::Copy
    }

    /// Only a drive with zones carries the request out: an append, or one that manages a zone. Others reject it.
    pub fn needs_zones(self) -> bool {
        self == RequestKind::Append || self.is_of_whole_zone()
    }
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
        if !matches!(request.kind, RequestKind::Read | RequestKind::Write) {
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
            (RequestKind::Append, 0, 4),
            (RequestKind::Read, 12, 4),
            (RequestKind::Read, 12, 4),
        ]
        .map(|(kind, offset, length)| {
            last.is_followed_by(&Request { arrival_ns: 0, kind, offset, length, high_priority: false, flow: 0, handle: None })
        });
        assert_eq!(sequential, [false, true, false, false, false, true, false]);
    }
}
