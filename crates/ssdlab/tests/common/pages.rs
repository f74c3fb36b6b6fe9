//! Requests of one page, and how long the drive of [`super::one_die`] takes for them.

use ssdlab::request::{Request, RequestKind};

/// Bytes of a page.
pub const PAGE: u64 = 4096;
/// A page write alone: 102.4 us on the bus, 200 us in the array.
pub const WRITE: u64 = 302_400;
/// A page read alone: 25 us in the array, 102.4 us on the bus.
pub const READ: u64 = 127_400;
/// A page move by copyback: 25 us and 200 us in the array.
pub const MOVE: u64 = 225_000;
/// A block erase.
pub const ERASE: u64 = 1_500_000;

/// A request for one page.
pub fn request(kind: RequestKind, arrival_ns: u64, page: u64) -> Request {
    Request { arrival_ns, kind, offset: page * PAGE, length: PAGE, high_priority: false, flow: 0, handle: None }
}

/// A read of one page.
pub fn read(arrival_ns: u64, page: u64) -> Request {
    request(RequestKind::Read, arrival_ns, page)
}

/// A write of one page.
pub fn write(arrival_ns: u64, page: u64) -> Request {
    request(RequestKind::Write, arrival_ns, page)
}
